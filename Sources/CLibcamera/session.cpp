#include "bridge.h"
#include "report.h"

#include <mutex>
#include <vector>

using namespace libcamera;
using namespace clibcamera;

// A request, whose cookie is its index, with the buffer that it carries.
struct Capture {
    enum class Place { here, camera, caller };

    uint32_t stream;
    FrameBuffer *buffer;
    std::unique_ptr<Request> request;
    Place place = Place::here;
};

// Owned by the code that opened it. `mutex` guards what the caller's threads and libcamera's share: where each request is, the
// selected stream, controls waiting for the next request, and the camera's report.
struct clibcamera_session {
    std::shared_ptr<Camera> camera;
    std::unique_ptr<CameraConfiguration> configuration;
    std::unique_ptr<FrameBufferAllocator> allocator;
    std::vector<Capture> captures;
    clibcamera_listener listener{};
    std::mutex mutex;
    uint32_t selected = 0;
    ControlList controls;
    MetadataReport reported;
    bool running = false;
    bool acquired = false;

    const FrameBuffer *buffer(uint32_t index) const {
        return index < captures.size() ? captures[index].buffer : nullptr;
    }
    int queue(Capture &capture);
    int queueSelected();
    void completed(Request *request);
    void disconnected() { listener.disconnected(listener.context); }
};

static clibcamera_status statusOf(const FrameMetadata &metadata) {
    switch (metadata.status) {
    case FrameMetadata::FrameSuccess: return CLIBCAMERA_WHOLE;
    case FrameMetadata::FrameStartup: return CLIBCAMERA_SETTLING;
    default: return CLIBCAMERA_BROKEN;
    }
}

void clibcamera_session::completed(Request *request) {
    clibcamera_completion completion{};
    completion.index = static_cast<uint32_t>(request->cookie());
    {
        std::lock_guard lock(mutex);
        captures[completion.index].place = Capture::Place::caller;
    }
    completion.status = CLIBCAMERA_CANCELED;
    if (request->status() == Request::RequestComplete) {
        const FrameMetadata &metadata = buffer(completion.index)->metadata();
        completion.status = statusOf(metadata);
        completion.sequence = metadata.sequence;
        auto sensor = request->metadata().get(controls::SensorTimestamp);
        if (auto duration = request->metadata().get(controls::FrameDuration)) completion.frame_duration = *duration;
        {
            std::lock_guard lock(mutex);
            reported.take(request->metadata());
        }
        completion.timestamp = sensor ? static_cast<uint64_t>(*sensor) : metadata.timestamp;
    }
    listener.completed(listener.context, &completion);
}

// Call with `mutex` held, for a request that is here.
int clibcamera_session::queue(Capture &capture) {
    Request &request = *capture.request;
    if (request.status() != Request::RequestPending) request.reuse(Request::ReuseBuffers);
    request.controls().merge(controls, ControlList::MergePolicy::OverwriteExisting);
    controls.clear();
    int status = camera->queueRequest(&request);
    if (status == 0) capture.place = Capture::Place::camera;
    return status;
}

// Call with `mutex` held, while the camera runs.
int clibcamera_session::queueSelected() {
    for (Capture &capture : captures) {
        if (capture.stream != selected || capture.place != Capture::Place::here) continue;
        if (int status = queue(capture); status < 0) return status;
    }
    return 0;
}

// Allocates a stream's buffers, and a request for each.
static int allocate(clibcamera_session &session, uint32_t stream, clibcamera_format &format) {
    const StreamConfiguration &configuration = session.configuration->at(stream);
    if (int count = session.allocator->allocate(configuration.stream()); count < 0) return count;
    const auto &buffers = session.allocator->buffers(configuration.stream());
    for (const auto &buffer : buffers) {
        Capture capture{stream, buffer.get(), session.camera->createRequest(session.captures.size())};
        if (!capture.request) return -ENOMEM;
        if (int status = capture.request->addBuffer(configuration.stream(), buffer.get()); status < 0) return status;
        session.captures.push_back(std::move(capture));
    }
    format.fourcc = configuration.pixelFormat.fourcc();
    format.modifier = configuration.pixelFormat.modifier();
    format.width = configuration.size.width;
    format.height = configuration.size.height;
    format.stride = configuration.stride;
    format.frame_size = configuration.frameSize;
    format.buffer_count = static_cast<uint32_t>(buffers.size());
    format.colors = colorsOf(configuration.colorSpace);
    return 0;
}

int clibcamera_session_open(
    clibcamera_camera *camera, struct clibcamera_format *formats, size_t count, struct clibcamera_listener listener,
    clibcamera_session **session) {
    clibcamera_session *opened = nullptr;
    int status = guarded([&] {
        opened = new clibcamera_session;
        opened->camera = camera->camera;
        opened->listener = listener;
        opened->controls = ControlList(controls::controls);
        if (int status = opened->camera->acquire(); status < 0) return status;
        opened->acquired = true;
        if (int status = configure(*opened->camera, formats, count, opened->configuration); status < 0) return status;
        opened->allocator = std::make_unique<FrameBufferAllocator>(opened->camera);
        for (size_t stream = 0; stream < count; stream++) {
            if (int status = allocate(*opened, stream, formats[stream]); status < 0) return status;
        }
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
        const FrameBuffer *buffer = session->buffer(index);
        return buffer ? static_cast<int>(buffer->planes().size()) : -EINVAL;
    });
}

int clibcamera_session_plane(
    clibcamera_session *session, uint32_t index, uint32_t plane, struct clibcamera_plane *result) {
    return guarded([&] {
        const FrameBuffer *buffer = session->buffer(index);
        if (!buffer || plane >= buffer->planes().size()) return -EINVAL;
        const FrameBuffer::Plane &found = buffer->planes()[plane];
        *result = {found.fd.get(), found.offset, found.length};
        return 0;
    });
}

int clibcamera_session_start(clibcamera_session *session, int64_t shortest_frame, int64_t longest_frame) {
    return guarded([&] {
        ControlList first(controls::controls);
        {
            std::lock_guard lock(session->mutex);
            first.merge(session->controls);
            session->controls.clear();
        }
        const ControlInfoMap &offered = session->camera->controls();
        if (offered.find(&controls::FrameDurationLimits) != offered.end() && shortest_frame > 0 &&
            !first.contains(controls::FrameDurationLimits.id())) {
            const int64_t limits[2] = {shortest_frame, longest_frame};
            first.set(controls::FrameDurationLimits, Span<const int64_t, 2>(limits));
        }
        if (int status = session->camera->start(&first); status < 0) return status;
        std::lock_guard lock(session->mutex);
        session->running = true;
        return session->queueSelected();
    });
}

int clibcamera_session_requeue(clibcamera_session *session, uint32_t index) {
    return guarded([&] {
        std::lock_guard lock(session->mutex);
        if (index >= session->captures.size()) return -EINVAL;
        Capture &capture = session->captures[index];
        if (!session->running) return -ESHUTDOWN;
        if (capture.place != Capture::Place::caller) return -EALREADY;
        capture.place = Capture::Place::here;
        return capture.stream == session->selected ? session->queue(capture) : 0;
    });
}

int clibcamera_session_select(clibcamera_session *session, uint32_t stream) {
    return guarded([&] {
        std::lock_guard lock(session->mutex);
        if (stream >= session->configuration->size()) return -EINVAL;
        session->selected = stream;
        return session->running ? session->queueSelected() : 0;
    });
}

int clibcamera_session_controls(clibcamera_session *session, clibcamera_control_taker give, void *context) {
    return guarded([&] {
        tellControls(session->camera->controls(), give, context);
        return 0;
    });
}

int clibcamera_session_set_controls(
    clibcamera_session *session, const struct clibcamera_setting *settings, size_t count) {
    return guarded([&] {
        const ControlInfoMap &offered = session->camera->controls();
        ControlList wanted(controls::controls);
        for (size_t index = 0; index < count; index++) {
            const clibcamera_setting &setting = settings[index];
            auto found = offered.find(setting.id);
            if (found == offered.end()) return -ENOENT;
            ControlValue value = controlValue(*found->first, setting.numbers, setting.count);
            if (value.isNone()) return -EINVAL;
            wanted.set(setting.id, value);
        }
        std::lock_guard lock(session->mutex);
        session->controls.merge(wanted, ControlList::MergePolicy::OverwriteExisting);
        return 0;
    });
}

int clibcamera_session_report(clibcamera_session *session, struct clibcamera_report *report) {
    return guarded([&] {
        std::lock_guard lock(session->mutex);
        *report = session->reported.report;
        return 0;
    });
}

void clibcamera_session_close(clibcamera_session *session) {
    guarded([&] {
        {
            std::lock_guard lock(session->mutex);
            session->running = false;
        }
        // Requests that are with the camera complete as canceled before this returns.
        session->camera->stop();
        session->camera->requestCompleted.disconnect(session);
        session->camera->disconnected.disconnect(session);
        session->captures.clear();
        session->allocator.reset();
        if (session->acquired) session->camera->release();
        return 0;
    });
    delete session;
}
