#include "CLibcamera.h"

#include <libcamera/libcamera.h>

#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <ostream>
#include <string_view>
#include <vector>

using namespace libcamera;

struct clibcamera_manager {
    CameraManager manager;
};

struct clibcamera_camera {
    std::shared_ptr<Camera> camera;
    std::string model;
};

// Owned by whoever opened it. `mutex` guards what the caller's threads and libcamera's share: which requests are with
// the camera, and controls that wait for the next one.
struct clibcamera_session {
    std::shared_ptr<Camera> camera;
    std::unique_ptr<CameraConfiguration> configuration;
    std::unique_ptr<FrameBufferAllocator> allocator;
    std::vector<std::unique_ptr<Request>> requests;
    std::vector<bool> queued;
    clibcamera_listener listener{};
    std::mutex mutex;
    ControlList controls;
    bool running = false;
    bool acquired = false;

    Stream *stream() const { return configuration->at(0).stream(); }
    void completed(Request *request);
    void disconnected() { listener.disconnected(listener.context); }
};

namespace {

// libcamera aborts when a second manager is made while one is there. Neither of these needs a constructor to run.
std::mutex soleManagerMutex;
std::condition_variable soleManagerGone;
bool soleManagerExists = false;

void giveUpSoleManager() {
    std::lock_guard lock(soleManagerMutex);
    soleManagerExists = false;
    soleManagerGone.notify_one();
}

// Takes libcamera's log, a line at a time, and lets through what it says before it aborts.
struct LastWords : std::streambuf {
    std::streamsize xsputn(const char *text, std::streamsize count) override {
        if (std::string_view(text, count).find(" FATAL ") == std::string_view::npos) return count;
        return write(STDERR_FILENO, text, count);
    }
    int overflow(int character) override { return traits_type::not_eof(character); }
};

template <typename Body>
int guarded(Body body) {
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return -ENOMEM;
    } catch (...) {
        return -EPROTO;
    }
}

clibcamera_control_type typeOf(const ControlId *id) {
    switch (id->type()) {
    case ControlTypeBool: return CLIBCAMERA_BOOL;
    case ControlTypeByte:
    case ControlTypeUnsigned16:
    case ControlTypeUnsigned32:
    case ControlTypeInteger32:
    case ControlTypeInteger64: return CLIBCAMERA_INTEGER;
    case ControlTypeFloat: return CLIBCAMERA_FLOAT;
    default: return CLIBCAMERA_OTHER;
    }
}

double number(const ControlValue &value) {
    if (value.isNone() || value.isArray()) return 0;
    switch (value.type()) {
    case ControlTypeBool: return value.get<bool>();
    case ControlTypeByte: return value.get<uint8_t>();
    case ControlTypeUnsigned16: return value.get<uint16_t>();
    case ControlTypeUnsigned32: return value.get<uint32_t>();
    case ControlTypeInteger32: return value.get<int32_t>();
    case ControlTypeInteger64: return static_cast<double>(value.get<int64_t>());
    case ControlTypeFloat: return value.get<float>();
    default: return 0;
    }
}

ControlValue valueOf(const ControlId *id, double number) {
    switch (id->type()) {
    case ControlTypeBool: return ControlValue(number != 0);
    case ControlTypeByte: return ControlValue(static_cast<uint8_t>(number));
    case ControlTypeUnsigned16: return ControlValue(static_cast<uint16_t>(number));
    case ControlTypeUnsigned32: return ControlValue(static_cast<uint32_t>(number));
    case ControlTypeInteger32: return ControlValue(static_cast<int32_t>(number));
    case ControlTypeInteger64: return ControlValue(static_cast<int64_t>(number));
    case ControlTypeFloat: return ControlValue(static_cast<float>(number));
    default: return ControlValue();
    }
}

} // namespace

int clibcamera_manager_start(clibcamera_manager **manager) {
    {
        std::unique_lock lock(soleManagerMutex);
        soleManagerGone.wait(lock, [] { return !soleManagerExists; });
        soleManagerExists = true;
    }
    int status = guarded([&] {
        auto started = std::make_unique<clibcamera_manager>();
        if (int status = started->manager.start(); status < 0) return status;
        *manager = started.release();
        return 0;
    });
    if (status < 0) giveUpSoleManager();
    return status;
}

void clibcamera_manager_stop(clibcamera_manager *manager) {
    guarded([&] {
        manager->manager.stop();
        delete manager;
        return 0;
    });
    giveUpSoleManager();
}

void clibcamera_be_quiet(void) {
    guarded([] {
        // Neither is destroyed: libcamera's threads may write until the very end.
        static auto *words = new LastWords;
        static auto *stream = new std::ostream(words);
        return logSetStream(stream, false);
    });
}

size_t clibcamera_camera_count(clibcamera_manager *manager) {
    size_t count = 0;
    guarded([&] {
        count = manager->manager.cameras().size();
        return 0;
    });
    return count;
}

clibcamera_camera *clibcamera_camera_get(clibcamera_manager *manager, size_t index) {
    clibcamera_camera *result = nullptr;
    guarded([&] {
        auto cameras = manager->manager.cameras();
        if (index >= cameras.size()) return -ENODEV;
        auto model = cameras[index]->properties().get(properties::Model);
        result = new clibcamera_camera{cameras[index], model ? std::string(*model) : std::string()};
        return 0;
    });
    return result;
}

void clibcamera_camera_release(clibcamera_camera *camera) { delete camera; }
const char *clibcamera_camera_id(clibcamera_camera *camera) { return camera->camera->id().c_str(); }
const char *clibcamera_camera_model(clibcamera_camera *camera) { return camera->model.c_str(); }

int clibcamera_camera_location(clibcamera_camera *camera) {
    int location = -1;
    guarded([&] {
        if (auto value = camera->camera->properties().get(properties::Location)) location = *value;
        return 0;
    });
    return location;
}

int clibcamera_camera_frame_durations(clibcamera_camera *camera, int64_t *least, int64_t *most) {
    return guarded([&] {
        const ControlInfoMap &offered = camera->camera->controls();
        const auto found = offered.find(&controls::FrameDurationLimits);
        if (found == offered.end()) return -ENOENT;
        *least = static_cast<int64_t>(number(found->second.min()));
        *most = static_cast<int64_t>(number(found->second.max()));
        return 0;
    });
}

int clibcamera_camera_modes(
    clibcamera_camera *camera, void (*give)(void *, const struct clibcamera_mode *), void *context) {
    return guarded([&] {
        auto configuration = camera->camera->generateConfiguration({StreamRole::VideoRecording});
        if (!configuration || configuration->empty()) return -ENODEV;
        const StreamFormats &formats = configuration->at(0).formats();
        for (const PixelFormat &format : formats.pixelformats()) {
            auto tell = [&](const Size &least, const Size &most) {
                clibcamera_mode mode{format.fourcc(), format.modifier(), least.width, least.height, most.width,
                                     most.height};
                give(context, &mode);
            };
            auto sizes = formats.sizes(format);
            for (const Size &size : sizes) tell(size, size);
            SizeRange range = formats.range(format);
            if (sizes.size() != 1 && range.min != range.max) tell(range.min, range.max);
        }
        return 0;
    });
}

int clibcamera_camera_controls(
    clibcamera_camera *camera, void (*give)(void *, const struct clibcamera_control *), void *context) {
    return guarded([&] {
        for (const auto &[id, info] : camera->camera->controls()) {
            clibcamera_control control{id->name().c_str(), id->id(), typeOf(id), id->isArray(), number(info.min()),
                                       number(info.max())};
            give(context, &control);
        }
        return 0;
    });
}

void clibcamera_session::completed(Request *request) {
    clibcamera_completion completion{};
    completion.index = static_cast<uint32_t>(request->cookie());
    {
        std::lock_guard lock(mutex);
        queued[completion.index] = false;
    }
    FrameBuffer *buffer = request->findBuffer(stream());
    completion.status = 2;
    if (request->status() == Request::RequestComplete && buffer) {
        const FrameMetadata &metadata = buffer->metadata();
        completion.status = metadata.status == FrameMetadata::FrameSuccess ? 0 : 1;
        completion.sequence = metadata.sequence;
        auto sensor = request->metadata().get(controls::SensorTimestamp);
        completion.timestamp = sensor ? static_cast<uint64_t>(*sensor) : metadata.timestamp;
    }
    listener.completed(listener.context, &completion);
}

static int configure(clibcamera_session &session, clibcamera_format *format) {
    session.configuration = session.camera->generateConfiguration({StreamRole::VideoRecording});
    if (!session.configuration || session.configuration->empty()) return -ENODEV;
    StreamConfiguration &stream = session.configuration->at(0);
    stream.pixelFormat = PixelFormat(format->fourcc, format->modifier);
    stream.size = Size(format->width, format->height);
    stream.bufferCount = format->buffer_count;
    if (session.configuration->validate() == CameraConfiguration::Invalid) return -EINVAL;
    if (int status = session.camera->configure(session.configuration.get()); status < 0) return status;
    session.allocator = std::make_unique<FrameBufferAllocator>(session.camera);
    if (int count = session.allocator->allocate(stream.stream()); count < 0) return count;
    const auto &buffers = session.allocator->buffers(stream.stream());
    for (size_t index = 0; index < buffers.size(); index++) {
        auto request = session.camera->createRequest(index);
        if (!request) return -ENOMEM;
        if (int status = request->addBuffer(stream.stream(), buffers[index].get()); status < 0) return status;
        session.requests.push_back(std::move(request));
    }
    session.queued.assign(buffers.size(), false);
    *format = {stream.pixelFormat.fourcc(), stream.pixelFormat.modifier(), stream.size.width, stream.size.height,
               stream.stride, stream.frameSize, static_cast<uint32_t>(buffers.size())};
    return 0;
}

int clibcamera_session_open(
    clibcamera_camera *camera, struct clibcamera_format *format, struct clibcamera_listener listener,
    clibcamera_session **session) {
    clibcamera_session *opened = nullptr;
    int status = guarded([&] {
        opened = new clibcamera_session;
        opened->camera = camera->camera;
        opened->listener = listener;
        opened->controls = ControlList(controls::controls);
        if (int status = opened->camera->acquire(); status < 0) return status;
        opened->acquired = true;
        if (int status = configure(*opened, format); status < 0) return status;
        opened->camera->requestCompleted.connect(opened, &clibcamera_session::completed);
        opened->camera->disconnected.connect(opened, &clibcamera_session::disconnected);
        return 0;
    });
    if (status < 0) {
        if (opened) clibcamera_session_close(opened);
        return status;
    }
    *session = opened;
    return 0;
}

int clibcamera_session_plane_count(clibcamera_session *session, uint32_t index) {
    return guarded([&] {
        const auto &buffers = session->allocator->buffers(session->stream());
        return index < buffers.size() ? static_cast<int>(buffers[index]->planes().size()) : -EINVAL;
    });
}

int clibcamera_session_plane(
    clibcamera_session *session, uint32_t index, uint32_t plane, struct clibcamera_plane *result) {
    return guarded([&] {
        const auto &buffers = session->allocator->buffers(session->stream());
        if (index >= buffers.size() || plane >= buffers[index]->planes().size()) return -EINVAL;
        const FrameBuffer::Plane &found = buffers[index]->planes()[plane];
        *result = {found.fd.get(), found.offset, found.length};
        return 0;
    });
}

int clibcamera_session_start(clibcamera_session *session, int64_t frame_duration_microseconds) {
    return guarded([&] {
        ControlList first(controls::controls);
        {
            std::lock_guard lock(session->mutex);
            first.merge(session->controls);
            session->controls.clear();
        }
        const ControlInfoMap &offered = session->camera->controls();
        if (offered.find(&controls::FrameDurationLimits) != offered.end() && frame_duration_microseconds > 0) {
            const int64_t limits[2] = {frame_duration_microseconds, frame_duration_microseconds};
            first.set(controls::FrameDurationLimits, Span<const int64_t, 2>(limits));
        }
        if (int status = session->camera->start(&first); status < 0) return status;
        session->running = true;
        for (uint32_t index = 0; index < session->requests.size(); index++) {
            if (int status = clibcamera_session_requeue(session, index); status < 0) return status;
        }
        return 0;
    });
}

int clibcamera_session_requeue(clibcamera_session *session, uint32_t index) {
    return guarded([&] {
        std::lock_guard lock(session->mutex);
        if (index >= session->requests.size()) return -EINVAL;
        if (!session->running) return -ESHUTDOWN;
        if (session->queued[index]) return -EALREADY;
        Request *request = session->requests[index].get();
        if (request->status() != Request::RequestPending) request->reuse(Request::ReuseBuffers);
        request->controls().merge(session->controls, ControlList::MergePolicy::OverwriteExisting);
        session->controls.clear();
        int status = session->camera->queueRequest(request);
        if (status == 0) session->queued[index] = true;
        return status;
    });
}

int clibcamera_session_set_control(clibcamera_session *session, uint32_t id, double value) {
    return guarded([&] {
        const ControlInfoMap &offered = session->camera->controls();
        for (const auto &[control, info] : offered) {
            if (control->id() != id) continue;
            ControlValue converted = valueOf(control, value);
            if (converted.isNone()) return -EINVAL;
            std::lock_guard lock(session->mutex);
            session->controls.set(id, converted);
            return 0;
        }
        return -ENOENT;
    });
}

void clibcamera_session_close(clibcamera_session *session) {
    guarded([&] {
        {
            std::lock_guard lock(session->mutex);
            session->running = false;
        }
        // Requests that are with the camera complete as cancelled before this returns.
        session->camera->stop();
        session->camera->requestCompleted.disconnect(session);
        session->camera->disconnected.disconnect(session);
        session->requests.clear();
        session->allocator.reset();
        if (session->acquired) session->camera->release();
        return 0;
    });
    delete session;
}
