// Reads back what a program shows: through the writeback connector of its card, with the program's own right to show something,
// which it keeps. The program is stopped while the card writes, as vkms would lose framebuffers otherwise, but no longer: a silent
// program would be considered hanging, by itself and by others. Writes a PPM to standard output.
//
//     screen PID
#include <dirent.h>
#include <drm/drm.h>
#include <drm/drm_fourcc.h>
#include <drm/drm_mode.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int card;

static void fail(const char *what) {
    fprintf(stderr, "screen: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void ask(unsigned long request, void *argument, const char *what) {
    while (ioctl(card, request, argument) != 0) {
        if (errno != EINTR && errno != EAGAIN) fail(what);
    }
}

// The file descriptor through which the program has a card open, duplicated here.
static int card_of(const char *process) {
    for (int number = 0; number < 256; number++) {
        char path[64], target[64] = "";
        snprintf(path, sizeof path, "/proc/%s/fd/%d", process, number);
        if (readlink(path, target, sizeof target - 1) < 0 || strncmp(target, "/dev/dri/card", 13) != 0) continue;
        int pidfd = syscall(SYS_pidfd_open, atoi(process), 0);
        int copy = pidfd < 0 ? -1 : syscall(SYS_pidfd_getfd, pidfd, number, 0);
        if (copy < 0) fail("pidfd_getfd");
        return copy;
    }
    errno = ENOENT;
    fail("the program has no card open");
    return -1;
}

// Whether all threads of a process are stopped; one that is inside the kernel stops later.
static int is_stopped(const char *process) {
    char path[320];
    snprintf(path, sizeof path, "/proc/%s/task", process);
    DIR *threads = opendir(path);
    if (threads == NULL) fail(path);
    int is_stopped = 1;
    for (struct dirent *thread; (thread = readdir(threads)) != NULL;) {
        if (thread->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/%s/task/%s/stat", process, thread->d_name);
        FILE *file = fopen(path, "r");
        char state = 'T';
        if (file == NULL) continue;
        if (fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && state != 'T') is_stopped = 0;
        fclose(file);
    }
    closedir(threads);
    return is_stopped;
}

static void stop(const char *process) {
    if (kill(atoi(process), SIGSTOP) != 0) fail("SIGSTOP");
    while (!is_stopped(process)) usleep(1000);
}

static uint32_t property(uint32_t object, uint32_t type, const char *name) {
    uint32_t ids[64];
    uint64_t values[64];
    struct drm_mode_obj_get_properties all = {
        .props_ptr = (uintptr_t)ids, .prop_values_ptr = (uintptr_t)values, .count_props = 64, .obj_id = object, .obj_type = type};
    ask(DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &all, "properties");
    for (uint32_t index = 0; index < all.count_props && index < 64; index++) {
        struct drm_mode_get_property one = {.prop_id = ids[index]};
        ask(DRM_IOCTL_MODE_GETPROPERTY, &one, "property");
        if (strcmp(one.name, name) == 0) return one.prop_id;
    }
    errno = ENOENT;
    fail(name);
    return 0;
}

static void commit(uint32_t object, uint32_t *ids, uint64_t *values, uint32_t count) {
    struct drm_mode_atomic request = {
        .flags = DRM_MODE_ATOMIC_ALLOW_MODESET, .count_objs = 1, .objs_ptr = (uintptr_t)&object,
        .count_props_ptr = (uintptr_t)&count, .props_ptr = (uintptr_t)ids, .prop_values_ptr = (uintptr_t)values};
    ask(DRM_IOCTL_MODE_ATOMIC, &request, "commit");
}

int main(int count, char **words) {
    if (count != 2) return 2;
    card = card_of(words[1]);
    struct drm_set_client_cap wish = {.capability = DRM_CLIENT_CAP_WRITEBACK_CONNECTORS, .value = 1};
    ask(DRM_IOCTL_SET_CLIENT_CAP, &wish, "writeback connectors");

    uint32_t connectors[16], crtcs[8];
    struct drm_mode_card_res all = {
        .connector_id_ptr = (uintptr_t)connectors, .count_connectors = 16, .crtc_id_ptr = (uintptr_t)crtcs, .count_crtcs = 8};
    ask(DRM_IOCTL_MODE_GETRESOURCES, &all, "resources");
    struct drm_mode_crtc crtc = {.crtc_id = crtcs[0]};
    ask(DRM_IOCTL_MODE_GETCRTC, &crtc, "CRTC");
    uint32_t writeback = 0;
    for (uint32_t index = 0; index < all.count_connectors; index++) {
        struct drm_mode_get_connector one = {.connector_id = connectors[index], .count_modes = 0};
        ask(DRM_IOCTL_MODE_GETCONNECTOR, &one, "connector");
        if (one.connector_type == DRM_MODE_CONNECTOR_WRITEBACK) writeback = one.connector_id;
    }
    if (!crtc.mode_valid || writeback == 0) {
        errno = ENODEV;
        fail("nothing is lit, or there is no writeback connector");
    }

    uint32_t width = crtc.mode.hdisplay, height = crtc.mode.vdisplay;
    struct drm_mode_create_dumb memory = {.width = width, .height = height, .bpp = 32};
    ask(DRM_IOCTL_MODE_CREATE_DUMB, &memory, "memory");
    struct drm_mode_fb_cmd2 buffer = {.width = width, .height = height, .pixel_format = DRM_FORMAT_XRGB8888,
                                      .handles = {memory.handle}, .pitches = {memory.pitch}};
    ask(DRM_IOCTL_MODE_ADDFB2, &buffer, "framebuffer");
    struct drm_mode_map_dumb map = {.handle = memory.handle};
    ask(DRM_IOCTL_MODE_MAP_DUMB, &map, "map");
    const uint8_t *pixels = mmap(NULL, memory.size, PROT_READ, MAP_SHARED, card, map.offset);
    if (pixels == MAP_FAILED) fail("mmap");

    int32_t fence = -1;
    uint32_t ids[] = {property(writeback, DRM_MODE_OBJECT_CONNECTOR, "CRTC_ID"),
                      property(writeback, DRM_MODE_OBJECT_CONNECTOR, "WRITEBACK_FB_ID"),
                      property(writeback, DRM_MODE_OBJECT_CONNECTOR, "WRITEBACK_OUT_FENCE_PTR")};
    uint64_t values[] = {crtcs[0], buffer.fb_id, (uintptr_t)&fence};
    stop(words[1]);
    commit(writeback, ids, values, 3);
    struct pollfd waited = {.fd = fence, .events = POLLIN};
    if (poll(&waited, 1, 20000) != 1) {
        errno = ETIMEDOUT;
        fail("writeback");
    }
    values[0] = 0;
    commit(writeback, ids, values, 1);
    if (kill(atoi(words[1]), SIGCONT) != 0) fail("SIGCONT");

    printf("P6\n%u %u\n255\n", width, height);
    for (uint32_t row = 0; row < height; row++) {
        for (uint32_t column = 0; column < width; column++) {
            const uint8_t *pixel = pixels + row * memory.pitch + 4 * column;
            putchar(pixel[2]);
            putchar(pixel[1]);
            putchar(pixel[0]);
        }
    }
    fflush(stdout);
    ask(DRM_IOCTL_MODE_RMFB, &buffer.fb_id, "RMFB");
    struct drm_mode_destroy_dumb end = {.handle = memory.handle};
    ask(DRM_IOCTL_MODE_DESTROY_DUMB, &end, "memory");
    return 0;
}
