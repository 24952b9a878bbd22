// Drives the bridge to libcamera with its virtual camera, as Swift does. The program ends with status 0 if every request was
// made and released correctly. It runs under valgrind, and needs no device: the buffers, which /dev/udmabuf would provide, are
// plain memory files here, and the kernel's list of media devices is empty.
#include "CLibcamera.h"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dirent.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

// The linker redirects libcamera's calls to these functions (--wrap).
extern "C" {
int __real_open64(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long request, ...);
DIR *__real_opendir(const char *path);

DIR *__wrap_opendir(const char *path) {
    return __real_opendir(strcmp(path, "/sys/bus/media/devices") == 0 ? "/sys" : path);
}

int __wrap_open64(const char *path, int flags, ...) {
    if (strcmp(path, "/dev/udmabuf") == 0) return __real_open64("/dev/null", flags);
    va_list list;
    va_start(list, flags);
    int mode = va_arg(list, int);
    va_end(list);
    return __real_open64(path, flags, mode);
}

int __wrap_ioctl(int fd, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (request == UDMABUF_CREATE) {
        return fcntl(static_cast<udmabuf_create *>(argument)->memfd, F_DUPFD_CLOEXEC, 0);
    }
    if (request == DMA_BUF_IOCTL_SYNC) return 0;
    return __real_ioctl(fd, request, argument);
}
}

#define EXPECT(condition)                                                                                            \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                  \
            _exit(1);                                                                                                \
        }                                                                                                            \
    } while (0)

static int openFiles() {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

// The frames and failures that libcamera's thread has delivered.
struct Arrivals {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<clibcamera_completion> completions;
    bool closed = false;

    clibcamera_listener listener() {
        return {this,
                [](void *context, const clibcamera_completion *completion) {
                    auto self = static_cast<Arrivals *>(context);
                    std::lock_guard lock(self->mutex);
                    EXPECT(!self->closed);
                    self->completions.push_back(*completion);
                    self->changed.notify_one();
                },
                [](void *) { EXPECT(!"the virtual camera is never unplugged"); }};
    }

    bool next(clibcamera_completion &completion, std::chrono::milliseconds limit) {
        std::unique_lock lock(mutex);
        if (!changed.wait_for(lock, limit, [this] { return !completions.empty(); })) return false;
        completion = completions.front();
        completions.pop_front();
        return true;
    }
};

static clibcamera_format nv12(uint32_t width, uint32_t height) {
    clibcamera_format format{};
    format.fourcc = 'N' | 'V' << 8 | '1' << 16 | '2' << 24;
    format.width = width;
    format.height = height;
    format.buffer_count = 6;
    return format;
}

// A session that checks each frame: in order, later than the last, from a buffer that the camera owns.
struct Watched {
    Arrivals arrivals;
    clibcamera_session *session = nullptr;
    clibcamera_format format;
    std::vector<bool> leased;
    int64_t sequence = -1;
    uint64_t timestamp = 0;

    Watched(clibcamera_camera *camera, uint32_t width, uint32_t height) : format(nv12(width, height)) {
        EXPECT(clibcamera_session_open(camera, &format, 1, arrivals.listener(), &session) == 0);
        EXPECT(clibcamera_session_select(session, 1) == -EINVAL);
        EXPECT(format.width == width && format.height == height && format.stride >= width);
        EXPECT(format.buffer_count >= 4);
        leased.assign(format.buffer_count, false);
        for (uint32_t index = 0; index < format.buffer_count; index++) {
            EXPECT(clibcamera_session_plane_count(session, index) == 2);
            clibcamera_plane plane{};
            EXPECT(clibcamera_session_plane(session, index, 1, &plane) == 0);
            EXPECT(plane.fd >= 0 && plane.offset + plane.length >= width * height * 3 / 2);
            EXPECT(clibcamera_session_plane(session, index, 2, &plane) == -EINVAL);
        }
        EXPECT(clibcamera_session_plane_count(session, format.buffer_count) == -EINVAL);
        EXPECT(clibcamera_session_requeue(session, 0) == -ESHUTDOWN);
    }

    void start() { EXPECT(clibcamera_session_start(session, 16'667, 16'667) == 0); }

    uint32_t take() {
        clibcamera_completion completion{};
        EXPECT(arrivals.next(completion, std::chrono::seconds(20)));
        EXPECT(completion.status == CLIBCAMERA_WHOLE && completion.index < leased.size());
        EXPECT(!leased[completion.index]);
        EXPECT(completion.sequence > sequence && completion.timestamp > timestamp);
        leased[completion.index] = true;
        sequence = completion.sequence;
        timestamp = completion.timestamp;
        return completion.index;
    }

    void release(uint32_t index) {
        leased[index] = false;
        EXPECT(clibcamera_session_requeue(session, index) == 0);
    }

    // Returning a frame once more is refused as long as the camera has it. On a busy machine, the camera may have filled it again
    // in between: that frame was then returned before it is taken here.
    bool refusesAnotherRelease(uint32_t index) {
        int result = clibcamera_session_requeue(session, index);
        if (result == -EALREADY) return true;
        EXPECT(result == 0);
        for (uint32_t taken = take(); taken != index; taken = take()) release(taken);
        leased[index] = false;
        return false;
    }

    void close() {
        clibcamera_session_close(session);
        std::lock_guard lock(arrivals.mutex);
        arrivals.closed = true;
    }
};

struct Control {
    std::string name;
    uint32_t id;
    clibcamera_control_type type;
    size_t count;
    double minimum, maximum;
    std::vector<std::string> values;

    template <typename Tell>
    static std::vector<Control> all(Tell tell) {
        std::vector<Control> controls;
        EXPECT(tell(
                   [](void *context, const clibcamera_control *reported) {
                       Control control{reported->name, reported->id, reported->type, reported->count, reported->minimum[0],
                                       reported->maximum[0], {}};
                       for (size_t index = 0; index < reported->value_count; index++) {
                           control.values.push_back(reported->values[index].name);
                       }
                       static_cast<std::vector<Control> *>(context)->push_back(control);
                   },
                   &controls) == 0);
        return controls;
    }

    static const Control &named(const std::string &name, const std::vector<Control> &controls) {
        for (const Control &control : controls) {
            if (control.name == name) return control;
        }
        EXPECT(!"the camera has this control");
        abort();
    }
};

static void lists(clibcamera_manager *manager) {
    EXPECT(clibcamera_camera_count(manager) == 1);
    EXPECT(clibcamera_camera_get(manager, 1) == nullptr);
    clibcamera_camera *camera = clibcamera_camera_get(manager, 0);
    EXPECT(clibcamera_camera_id(camera) == std::string("Virtual0"));
    EXPECT(clibcamera_camera_model(camera) == std::string("A model"));
    EXPECT(clibcamera_camera_location(camera) == 1);
    int64_t least = 0, most = 0;
    EXPECT(clibcamera_camera_frame_durations(camera, &least, &most) == 0);
    EXPECT(least == 16'666 && most == 33'333);
    std::vector<clibcamera_mode> modes;
    EXPECT(clibcamera_camera_modes(
               camera,
               [](void *context, const clibcamera_mode *mode) {
                   static_cast<std::vector<clibcamera_mode> *>(context)->push_back(*mode);
               },
               &modes) == 0);
    EXPECT(!modes.empty());
    std::vector<Control> controls = Control::all([&](auto give, auto context) {
        return clibcamera_camera_controls(camera, give, context);
    });
    EXPECT(controls.size() == 2);
    const Control &limits = Control::named("FrameDurationLimits", controls);
    EXPECT(limits.type == CLIBCAMERA_INTEGER && limits.count == 2 && limits.values.empty());
    EXPECT(limits.minimum == 16'666 && limits.maximum == 33'333);
    const Control &faces = Control::named("FaceDetectMode", controls);
    EXPECT(faces.type == CLIBCAMERA_INTEGER && faces.count == 1);
    EXPECT(faces.values == std::vector<std::string>{"FaceDetectModeOff"});
    bool horizontal = true, vertical = true;
    EXPECT(clibcamera_camera_flips(camera, &horizontal, &vertical) == 0 && !horizontal && !vertical);
    clibcamera_camera_release(camera);
}

// Lists of numbers and single ones, before the start and while frames arrive.
// A single control.
static int setOne(clibcamera_session *session, uint32_t id, const double *numbers, size_t count) {
    const clibcamera_setting setting{id, numbers, count};
    return clibcamera_session_set_controls(session, &setting, 1);
}

static void setsControls(clibcamera_session *session) {
    std::vector<Control> controls = Control::all([&](auto give, auto context) {
        return clibcamera_session_controls(session, give, context);
    });
    const double numbers[] = {16'666, 16'666, 16'666};
    const double off = 0;
    uint32_t limits = Control::named("FrameDurationLimits", controls).id;
    uint32_t faces = Control::named("FaceDetectMode", controls).id;
    EXPECT(setOne(session, 0xFFFF'FFF0, &off, 1) == -ENOENT);
    for (size_t count : {0, 1, 3}) EXPECT(setOne(session, limits, numbers, count) == -EINVAL);
    EXPECT(setOne(session, limits, numbers, 2) == 0);
    EXPECT(setOne(session, faces, numbers, 2) == -EINVAL);
    EXPECT(setOne(session, faces, &off, 1) == 0);
    // All or nothing.
    const clibcamera_setting both[] = {{faces, &off, 1}, {limits, numbers, 1}};
    EXPECT(clibcamera_session_set_controls(session, both, 2) == -EINVAL);
    EXPECT(clibcamera_session_set_controls(session, both, 1) == 0);
    clibcamera_report report;
    EXPECT(clibcamera_session_report(session, &report) == 0);
}

// An unused camera is configured and released; the virtual one reports no sensor modes.
static void configuresWithoutASession(clibcamera_camera *camera, int expected) {
    const clibcamera_format format = nv12(160, 120);
    EXPECT(clibcamera_camera_configure(camera, &format) == expected);
    int modes = 0;
    EXPECT(clibcamera_camera_sensor_modes(
               camera, &format, [](void *context, const clibcamera_sensor_mode *) { ++*static_cast<int *>(context); },
               &modes) == 0);
    EXPECT(modes == 0);
}

static void refusesFlips(clibcamera_camera *camera) {
    Arrivals arrivals;
    clibcamera_session *session = nullptr;
    clibcamera_format format = nv12(320, 240);
    format.flips_horizontally = true;
    EXPECT(clibcamera_session_open(camera, &format, 1, arrivals.listener(), &session) == -ENOTSUP && !session);
}

static void captures(clibcamera_manager *manager) {
    clibcamera_camera *camera = clibcamera_camera_get(manager, 0);
    configuresWithoutASession(camera, 0);
    Watched watched(camera, 320, 240);
    configuresWithoutASession(camera, -EBUSY);
    Arrivals other;
    clibcamera_format format = nv12(320, 240);
    clibcamera_session *second = nullptr;
    EXPECT(clibcamera_session_open(camera, &format, 1, other.listener(), &second) == -EBUSY && !second);
    setsControls(watched.session);
    watched.start();
    for (int count = 0; count < 60; count++) {
        if (count % 10 == 5) setsControls(watched.session);
        watched.release(watched.take());
    }
    // Returned twice: refused, and nothing is queued twice.
    uint32_t index;
    do {
        index = watched.take();
        watched.release(index);
    } while (!watched.refusesAnotherRelease(index));
    EXPECT(clibcamera_session_requeue(watched.session, 1000) == -EINVAL);
    // With every frame on lease the camera waits, and continues when they are back.
    std::vector<uint32_t> held;
    while (held.size() < watched.leased.size()) held.push_back(watched.take());
    clibcamera_completion none{};
    EXPECT(!watched.arrivals.next(none, std::chrono::milliseconds(300)));
    for (uint32_t returned : held) watched.release(returned);
    // From several threads, in any order.
    for (int round = 0; round < 10; round++) {
        uint32_t first = watched.take(), last = watched.take();
        std::thread other_thread([&] { EXPECT(clibcamera_session_requeue(watched.session, last) == 0); });
        watched.leased[last] = false;
        watched.release(first);
        other_thread.join();
    }
    watched.take();
    watched.close();
    clibcamera_camera_release(camera);
}

// A camera's two streams, and to which of them a completed request belongs.
struct TwoStreams {
    Arrivals arrivals;
    clibcamera_session *session = nullptr;
    clibcamera_format formats[2] = {nv12(320, 240), nv12(160, 120)};

    explicit TwoStreams(clibcamera_camera *camera) {
        EXPECT(clibcamera_session_open(camera, formats, 2, arrivals.listener(), &session) == 0);
        EXPECT(formats[0].width == 320 && formats[1].width == 160 && formats[1].height == 120);
        const uint32_t all = formats[0].buffer_count + formats[1].buffer_count;
        for (uint32_t index = 0; index < all; index++) {
            clibcamera_plane plane{};
            EXPECT(clibcamera_session_plane(session, index, 1, &plane) == 0);
            EXPECT(plane.offset == (index < formats[0].buffer_count ? 320u * 240 : 160u * 120));
        }
        EXPECT(clibcamera_session_plane_count(session, all) == -EINVAL);
    }

    uint32_t take() {
        clibcamera_completion completion{};
        EXPECT(arrivals.next(completion, std::chrono::seconds(20)) && completion.status == CLIBCAMERA_WHOLE);
        return completion.index;
    }

    uint32_t streamOf(uint32_t index) const { return index < formats[0].buffer_count ? 0 : 1; }

    // Frames of the previous stream come first, at most as many as there are buffers; all later ones belong to the new stream.
    void crossTo(uint32_t stream) {
        EXPECT(clibcamera_session_select(session, stream) == 0);
        uint32_t earlier = 0;
        for (int count = 0; count < 30;) {
            uint32_t index = take();
            if (streamOf(index) == stream) {
                count++;
            } else {
                EXPECT(count == 0 && ++earlier <= formats[1 - stream].buffer_count);
            }
            EXPECT(clibcamera_session_requeue(session, index) == 0);
        }
    }

    void close() {
        clibcamera_session_close(session);
        std::lock_guard lock(arrivals.mutex);
        arrivals.closed = true;
    }
};

// Requests carry the buffers of one stream or the other, before the start and while frames arrive.
static void givesTwoSizes(clibcamera_manager *manager) {
    clibcamera_camera *camera = clibcamera_camera_get(manager, 0);
    TwoStreams streams(camera);
    EXPECT(clibcamera_session_select(streams.session, 2) == -EINVAL);
    EXPECT(clibcamera_session_start(streams.session, 16'667, 16'667) == 0);
    EXPECT(streams.streamOf(streams.take()) == 0);
    for (uint32_t stream : {1, 0, 1}) streams.crossTo(stream);
    // A frame on lease since the other stream was selected waits, once returned, until that stream is selected again.
    uint32_t held = streams.take();
    EXPECT(streams.streamOf(held) == 1);
    streams.crossTo(0);
    EXPECT(clibcamera_session_requeue(streams.session, held) == 0);
    EXPECT(clibcamera_session_requeue(streams.session, held) == -EALREADY);
    for (int count = 0; count < 10; count++) EXPECT(clibcamera_session_requeue(streams.session, streams.take()) == 0);
    streams.crossTo(1);
    // Repeated selections still leave one request for each buffer.
    for (uint32_t stream : {0, 1, 0, 1, 0}) EXPECT(clibcamera_session_select(streams.session, stream) == 0);
    streams.crossTo(0);
    streams.close();
    // Selected before the start.
    TwoStreams second(camera);
    EXPECT(clibcamera_session_select(second.session, 1) == 0);
    EXPECT(clibcamera_session_start(second.session, 16'667, 16'667) == 0);
    for (int count = 0; count < 10; count++) {
        uint32_t index = second.take();
        EXPECT(second.streamOf(index) == 1);
        EXPECT(clibcamera_session_requeue(second.session, index) == 0);
    }
    second.close();
    // More streams than the bridge has roles for, and no stream.
    Arrivals arrivals;
    clibcamera_session *session = nullptr;
    clibcamera_format formats[3] = {nv12(320, 240), nv12(160, 120), nv12(160, 120)};
    EXPECT(clibcamera_session_open(camera, formats, 3, arrivals.listener(), &session) == -EINVAL && !session);
    EXPECT(clibcamera_session_open(camera, formats, 0, arrivals.listener(), &session) == -EINVAL && !session);
    clibcamera_camera_release(camera);
}

// Opened and never started, refused, stopped with frames on lease, started and closed at once: repeated many times, without
// leaking a descriptor.
static void reconfigures(clibcamera_manager *manager) {
    clibcamera_camera *camera = clibcamera_camera_get(manager, 0);
    const int before = openFiles();
    for (int round = 0; round < 25; round++) {
        Watched(camera, 320, 240).close();
        refusesFlips(camera);
        for (uint32_t width : {320, 160}) {
            Watched watched(camera, width, width * 3 / 4);
            watched.start();
            for (int count = 0; count < 3; count++) watched.release(watched.take());
            watched.take();
            watched.close();
        }
        TwoStreams streams(camera);
        EXPECT(clibcamera_session_start(streams.session, 16'667, 16'667) == 0);
        EXPECT(clibcamera_session_select(streams.session, 1) == 0);
        streams.take();
        streams.close();
        Watched quick(camera, 160, 120);
        quick.start();
        quick.close();
        EXPECT(openFiles() == before);
    }
    clibcamera_camera_release(camera);
}

// A request for a second manager waits for the end of the first; libcamera would abort.
static void managersFollowEachOther(clibcamera_manager *manager) {
    clibcamera_manager *next = nullptr;
    std::thread waiting([&] { EXPECT(clibcamera_manager_start(&next) == 0); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    clibcamera_manager_stop(manager);
    waiting.join();
    EXPECT(clibcamera_camera_count(next) == 1);
    clibcamera_manager_stop(next);
}

int main() {
    clibcamera_be_quiet();
    int before = openFiles();
    clibcamera_manager *manager = nullptr;
    EXPECT(clibcamera_manager_start(&manager) == 0);
    lists(manager);
    // The camera's own thread keeps what it opened for the first session.
    captures(manager);
    int started = openFiles();
    captures(manager);
    givesTwoSizes(manager);
    EXPECT(openFiles() == started);
    reconfigures(manager);
    EXPECT(openFiles() == started);
    managersFollowEachOther(manager);
    EXPECT(openFiles() == before);
    puts("every request came and went");
}
