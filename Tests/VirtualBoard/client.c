// Makes a program's calls to an encoder's node, one per word, and reports in a line of JSON how each call ended:
//   client open /dev/video11 format frames NV12 640 360 format coded H264 640 360 buffers frames 4 own ... run 500
// "frames" is the queue of raw frames (V4L2's OUTPUT), "coded" the other one. Several nodes can be open: "use 1".
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES, CODED, SIDES, NODES = 4, BUFFERS = 32 };

struct queue {
    int count;
    bool is_imported, has[BUFFERS];
    void *memory[BUFFERS];
    unsigned size;
};

struct node {
    int descriptor;
    struct queue queues[SIDES];
    // Frames that were queued, and those that came back.
    int fed, read;
};

static struct node nodes[NODES], *node = nodes;
static int imported[BUFFERS];
static FILE *file;
static char **words;
// When the first frame was fed, and the last buffer came back.
static long long started, returned;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static const char *next(void) {
    if (!*words) exit(2);
    return *words++;
}
static int number(void) { return atoi(next()); }
static int side(void) { return strcmp(next(), "frames") ? CODED : FRAMES; }
static unsigned type(int side) {
    return side == FRAMES ? V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE;
}
static unsigned code(const char *name) { return v4l2_fourcc(name[0], name[1], name[2], name[3]); }

// A call, with its result, its duration in milliseconds, and anything else to report.
static int call(const char *name, unsigned long request, void *argument) {
    long long start = now();
    int result = ioctl(node->descriptor, request, argument);
    int error = result < 0 ? errno : 0;
    printf("{\"call\":\"%s\",\"errno\":%d,\"ms\":%lld}\n", name, error, (now() - start) / 1000);
    return error;
}

static void open_node(void) {
    const char *path = next();
    long long start = now();
    node = nodes;
    while (node->descriptor) node++;
    node->descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    printf("{\"call\":\"open\",\"errno\":%d,\"ms\":%lld}\n", node->descriptor < 0 ? errno : 0, (now() - start) / 1000);
}

static void close_node(void) {
    long long start = now();
    for (int one = 0; one < SIDES; one++)
        for (int index = 0; index < node->queues[one].count; index++)
            if (node->queues[one].memory[index]) munmap(node->queues[one].memory[index], node->queues[one].size);
    close(node->descriptor);
    memset(node, 0, sizeof(*node));
    printf("{\"call\":\"close\",\"errno\":0,\"ms\":%lld}\n", (now() - start) / 1000);
}

static void tell_format(const char *name, int error, const struct v4l2_format *format) {
    const struct v4l2_pix_format_mplane *pixels = &format->fmt.pix_mp;
    unsigned fourcc = pixels->pixelformat;
    printf("{\"format\":\"%s\",\"errno\":%d,\"fourcc\":\"%.4s\",\"width\":%u,\"height\":%u,\"stride\":%u,\"size\":%u,"
           "\"colorspace\":%u}\n", name, error, (char *)&fourcc, pixels->width, pixels->height,
           pixels->plane_fmt[0].bytesperline, pixels->plane_fmt[0].sizeimage, pixels->colorspace);
}

static void set_format(void) {
    int one = side();
    struct v4l2_format format = {.type = type(one)};
    format.fmt.pix_mp.pixelformat = code(next());
    format.fmt.pix_mp.width = number();
    format.fmt.pix_mp.height = number();
    int error = ioctl(node->descriptor, VIDIOC_S_FMT, &format) < 0 ? errno : 0;
    node->queues[one].size = format.fmt.pix_mp.plane_fmt[0].sizeimage;
    tell_format(one == FRAMES ? "frame" : "coded", error, &format);
}

static void get_format(void) {
    int one = side();
    struct v4l2_format format = {.type = type(one)};
    int error = ioctl(node->descriptor, VIDIOC_G_FMT, &format) < 0 ? errno : 0;
    tell_format(one == FRAMES ? "frame" : "coded", error, &format);
}

static void list_formats(void) {
    struct v4l2_fmtdesc format = {.type = type(side())};
    printf("{\"formats\":[");
    for (; ioctl(node->descriptor, VIDIOC_ENUM_FMT, &format) == 0; format.index++)
        printf("%s\"%.4s\"", format.index ? "," : "", (char *)&format.pixelformat);
    printf("]}\n");
}

static void select_crop(void) {
    struct v4l2_selection crop = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT, .target = V4L2_SEL_TGT_CROP_BOUNDS};
    ioctl(node->descriptor, VIDIOC_G_SELECTION, &crop);
    printf("{\"bounds\":[%u,%u]}\n", crop.r.width, crop.r.height);
}

// A camera's buffers as descriptors: PATH COUNT, in its current format.
static void borrow(void) {
    int camera = open(next(), O_RDWR | O_CLOEXEC), count = number();
    struct v4l2_requestbuffers request = {
        .count = count, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    if (camera < 0 || ioctl(camera, VIDIOC_REQBUFS, &request) < 0) exit(3);
    for (int index = 0; index < count; index++) {
        struct v4l2_exportbuffer export = {.type = request.type, .index = index, .flags = O_RDWR | O_CLOEXEC};
        if (ioctl(camera, VIDIOC_EXPBUF, &export) < 0) exit(3);
        imported[index] = export.fd;
    }
}

static void make_buffers(void) {
    int one = side();
    struct queue *queue = &node->queues[one];
    struct v4l2_requestbuffers request = {.count = number(), .type = type(one)};
    queue->is_imported = !strcmp(next(), "imported");
    request.memory = queue->is_imported ? V4L2_MEMORY_DMABUF : V4L2_MEMORY_MMAP;
    if (call("REQBUFS", VIDIOC_REQBUFS, &request)) return;
    queue->count = request.count;
    for (int index = 0; index < queue->count && !queue->is_imported; index++) {
        struct v4l2_plane plane = {0};
        struct v4l2_buffer buffer = {.type = request.type, .memory = request.memory, .index = index, .length = 1,
                                     .m.planes = &plane};
        if (ioctl(node->descriptor, VIDIOC_QUERYBUF, &buffer) < 0) exit(3);
        queue->size = plane.length;
        queue->memory[index] = mmap(NULL, plane.length, PROT_READ | PROT_WRITE, MAP_SHARED, node->descriptor,
                                    plane.m.mem_offset);
        if (queue->memory[index] == MAP_FAILED) exit(3);
        if (one == FRAMES) memset(queue->memory[index], 16 + 40 * index, plane.length);
    }
}

static int enqueue(int one, int index) {
    struct queue *queue = &node->queues[one];
    struct v4l2_plane plane = {.length = queue->size, .bytesused = one == FRAMES ? queue->size : 0};
    struct v4l2_buffer buffer = {.type = type(one), .index = index, .length = 1, .m.planes = &plane};
    buffer.memory = queue->is_imported ? V4L2_MEMORY_DMABUF : V4L2_MEMORY_MMAP;
    if (queue->is_imported) plane.m.fd = imported[index];
    if (one == FRAMES) buffer.timestamp.tv_usec = ++node->fed;
    if (ioctl(node->descriptor, VIDIOC_QBUF, &buffer) < 0) {
        printf("{\"call\":\"QBUF\",\"errno\":%d,\"ms\":0}\n", errno);
        return -1;
    }
    queue->has[index] = true;
    return 0;
}

static void stream(bool on) {
    int one = side(), kind = type(one);
    struct queue *queue = &node->queues[one];
    if (on && one == CODED)
        for (int index = 0; index < queue->count; index++) enqueue(CODED, index);
    if (!call(on ? "STREAMON" : "STREAMOFF", on ? VIDIOC_STREAMON : VIDIOC_STREAMOFF, &kind) && !on)
        memset(queue->has, 0, sizeof(queue->has));
}

// Takes a buffer back. Outputs return to the driver, except after the last one.
static bool dequeue(int one) {
    struct queue *queue = &node->queues[one];
    struct v4l2_plane plane = {0};
    struct v4l2_buffer buffer = {.type = type(one), .length = 1, .m.planes = &plane};
    buffer.memory = queue->is_imported ? V4L2_MEMORY_DMABUF : V4L2_MEMORY_MMAP;
    if (!queue->count || ioctl(node->descriptor, VIDIOC_DQBUF, &buffer) < 0) return false;
    queue->has[buffer.index] = false;
    returned = now();
    printf("{\"back\":\"%s\",\"at\":%.1f,\"frame\":%ld,\"bytes\":%u,\"sequence\":%u,\"key\":%d,\"p\":%d,\"last\":%d,"
           "\"error\":%d}\n", one == FRAMES ? "frame" : "coded", (now() - started) / 1000.0, (long)buffer.timestamp.tv_usec,
           plane.bytesused, buffer.sequence, !!(buffer.flags & V4L2_BUF_FLAG_KEYFRAME),
           !!(buffer.flags & V4L2_BUF_FLAG_PFRAME), !!(buffer.flags & V4L2_BUF_FLAG_LAST),
           !!(buffer.flags & V4L2_BUF_FLAG_ERROR));
    if (one == FRAMES) node->read++;
    if (one == CODED) {
        if (file) fwrite(queue->memory[buffer.index], 1, plane.bytesused, file);
        if (!(buffer.flags & V4L2_BUF_FLAG_LAST)) enqueue(CODED, buffer.index);
    }
    return true;
}

// Takes one buffer back. An encoder returns a frame before its output: if both are ready, the frame is taken first, however
// long this program had to wait for the processor between two calls.
static bool dequeue_any(void) {
    struct pollfd entry = {node->descriptor, POLLIN, 0};
    poll(&entry, 1, 0);
    return dequeue(FRAMES) || (entry.revents && dequeue(CODED));
}

static void wait_until(long long time) {
    for (long long left; (left = time - now()) > 0;) {
        struct pollfd entry = {node->descriptor, POLLIN | POLLOUT | POLLPRI, 0};
        poll(&entry, 1, left / 1000 > 5 ? 5 : left / 1000 + 1);
        while (dequeue_any()) {}
        // A queue that is not ready is reported as an error at once.
        if (entry.revents & POLLERR) usleep(1000);
    }
}

// Waits until no buffer has been returned for the given time.
static void wait_for_quiet(void) {
    long long pause = number() * 1000LL;
    for (returned = now(); now() < returned + pause;) wait_until(returned + pause);
}

// Feeds frames at the given interval in milliseconds, whenever an input is free.
static void feed(void) {
    int count = number(), every = number();
    struct queue *queue = &node->queues[FRAMES];
    if (!started) started = now();
    long long due = now();
    for (int index = 0; count > 0; count--, due += every * 1000) {
        wait_until(due);
        long long limit = now() + 3000000;
        for (index = 0; index < queue->count && queue->has[index]; index++) {}
        while (index == queue->count && now() < limit) {
            wait_until(now() + 1000);
            for (index = 0; index < queue->count && queue->has[index]; index++) {}
        }
        if (index == queue->count || enqueue(FRAMES, index)) break;
    }
    printf("{\"fed\":%d,\"inside\":%d,\"ms\":%lld}\n", node->fed, node->fed - node->read, (now() - started) / 1000);
}

static void set_control(void) {
    unsigned id = strtoul(next(), NULL, 0);
    struct v4l2_ext_control control = {.id = id, .value = number()};
    struct v4l2_ext_controls controls = {.which = V4L2_CTRL_WHICH_CUR_VAL, .count = 1, .controls = &control};
    call("S_EXT_CTRLS", VIDIOC_S_EXT_CTRLS, &controls);
}

static void get_control(void) {
    struct v4l2_control control = {.id = strtoul(next(), NULL, 0)};
    int error = ioctl(node->descriptor, VIDIOC_G_CTRL, &control) < 0 ? errno : 0;
    printf("{\"control\":%d,\"errno\":%d}\n", control.value, error);
}

static void set_parameter(void) {
    const char *name = next();
    char path[200];
    snprintf(path, sizeof(path), "/sys/module/virtual_h264/parameters/%s", name);
    FILE *parameter = fopen(path, "w");
    if (!parameter || fprintf(parameter, "%s\n", next()) < 0 || fclose(parameter)) exit(3);
}

static void finish(void) {
    struct v4l2_encoder_cmd command = {.cmd = V4L2_ENC_CMD_STOP};
    call("STOP", VIDIOC_ENCODER_CMD, &command);
}

int main(int count, char **arguments) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    words = arguments + 1;
    while (*words) {
        const char *word = next();
        if (!strcmp(word, "open")) open_node();
        else if (!strcmp(word, "use")) node = &nodes[number()];
        else if (!strcmp(word, "close")) close_node();
        else if (!strcmp(word, "format")) set_format();
        else if (!strcmp(word, "get")) get_format();
        else if (!strcmp(word, "list")) list_formats();
        else if (!strcmp(word, "bounds")) select_crop();
        else if (!strcmp(word, "borrow")) borrow();
        else if (!strcmp(word, "buffers")) make_buffers();
        else if (!strcmp(word, "on")) stream(true);
        else if (!strcmp(word, "off")) stream(false);
        else if (!strcmp(word, "feed")) feed();
        else if (!strcmp(word, "run")) wait_until(now() + number() * 1000LL);
        else if (!strcmp(word, "quiet")) wait_for_quiet();
        else if (!strcmp(word, "sleep")) usleep(number() * 1000);
        else if (!strcmp(word, "set")) set_control();
        else if (!strcmp(word, "value")) get_control();
        else if (!strcmp(word, "parameter")) set_parameter();
        else if (!strcmp(word, "stop")) finish();
        else if (!strcmp(word, "write")) file = fopen(next(), "w");
        else return fprintf(stderr, "unknown: %s\n", word), 2;
    }
    if (file) fclose(file);
    return 0;
}
