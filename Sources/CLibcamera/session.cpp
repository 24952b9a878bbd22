#include "bridge.h"

#include <mutex>
#include <vector>

using namespace libcamera;
using namespace clibcamera;

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

static Orientation orientation(const clibcamera_format &format) {
    if (!format.flips_vertically) {
        return format.flips_horizontally ? Orientation::Rotate0Mirror : Orientation::Rotate0;
    }
    return format.flips_horizontally ? Orientation::Rotate180 : Orientation::Rotate180Mirror;
}

static int configure(clibcamera_session &session, clibcamera_format *format) {
    session.configuration = session.camera->generateConfiguration({StreamRole::VideoRecording});
    if (!session.configuration || session.configuration->empty()) return -ENODEV;
    StreamConfiguration &stream = session.configuration->at(0);
    stream.pixelFormat = PixelFormat(format->fourcc, format->modifier);
    stream.size = Size(format->width, format->height);
    stream.bufferCount = format->buffer_count;
    const Orientation wanted = orientation(*format);
    if (wanted != Orientation::Rotate0 && !canOrient(*session.camera, wanted)) return -ENOTSUP;
    session.configuration->orientation = wanted;
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
               stream.stride, stream.frameSize, static_cast<uint32_t>(buffers.size()),
               format->flips_horizontally, format->flips_vertically};
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
        if (offered.find(&controls::FrameDurationLimits) != offered.end() && frame_duration_microseconds > 0 &&
            !first.contains(controls::FrameDurationLimits.id())) {
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

int clibcamera_session_controls(clibcamera_session *session, clibcamera_control_taker give, void *context) {
    return guarded([&] {
        tellControls(session->camera->controls(), give, context);
        return 0;
    });
}

int clibcamera_session_set_control(clibcamera_session *session, uint32_t id, const double *numbers, size_t count) {
    return guarded([&] {
        for (const auto &[control, info] : session->camera->controls()) {
            if (control->id() != id) continue;
            ControlValue value = controlValue(*control, numbers, count);
            if (value.isNone()) return -EINVAL;
            std::lock_guard lock(session->mutex);
            session->controls.set(id, value);
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
