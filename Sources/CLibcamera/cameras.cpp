#include "bridge.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <ostream>
#include <string_view>

using namespace libcamera;
using namespace clibcamera;

struct clibcamera_manager {
    CameraManager manager;
};

namespace {

// libcamera aborts if a second manager is created while one exists. Neither of these needs a constructor to run.
std::mutex soleManagerMutex;
std::condition_variable soleManagerGone;
bool soleManagerExists = false;

void giveUpSoleManager() {
    std::lock_guard lock(soleManagerMutex);
    soleManagerExists = false;
    soleManagerGone.notify_one();
}

// Swallows libcamera's log line by line, except for the message before it aborts.
struct LastWords : std::streambuf {
    std::streamsize xsputn(const char *text, std::streamsize count) override {
        if (std::string_view(text, count).find(" FATAL ") == std::string_view::npos) return count;
        return write(STDERR_FILENO, text, count);
    }
    int overflow(int character) override { return traits_type::not_eof(character); }
};

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
        // Never destroyed, because libcamera's threads may write until the very end.
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
        *least = static_cast<int64_t>(firstNumber(found->second.min()));
        *most = static_cast<int64_t>(firstNumber(found->second.max()));
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

int clibcamera_camera_controls(clibcamera_camera *camera, clibcamera_control_taker give, void *context) {
    return guarded([&] {
        tellControls(camera->camera->controls(), give, context);
        return 0;
    });
}

int clibcamera_camera_flips(clibcamera_camera *camera, bool *horizontal, bool *vertical) {
    return guarded([&] {
        *horizontal = canOrient(*camera->camera, Orientation::Rotate0Mirror);
        *vertical = canOrient(*camera->camera, Orientation::Rotate180Mirror);
        return 0;
    });
}
