// What the files of the bridge share.
#pragma once
#include "CLibcamera.h"

#include <libcamera/libcamera.h>

#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <string>

struct clibcamera_camera {
    std::shared_ptr<libcamera::Camera> camera;
    std::string model;
};

namespace clibcamera {

// No exception leaves the bridge: C and Swift cannot catch it.
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

// Whether the camera orients its frames so. One that takes 90 degrees, too, does not look at what is wanted: sensors
// mirror, and do not transpose.
inline bool canOrient(libcamera::Camera &camera, libcamera::Orientation wanted) {
    auto takes = [&](libcamera::Orientation orientation) {
        auto configuration = camera.generateConfiguration({libcamera::StreamRole::VideoRecording});
        if (!configuration || configuration->empty()) return false;
        configuration->orientation = orientation;
        return configuration->validate() != libcamera::CameraConfiguration::Invalid &&
               configuration->orientation == orientation;
    };
    return takes(wanted) && !takes(libcamera::Orientation::Rotate90);
}

// As H.273 numbers them.
clibcamera_colors colorsOf(const std::optional<libcamera::ColorSpace> &space);

// Configures an acquired camera as `clibcamera_session_open` says.
int configure(
    libcamera::Camera &camera, const clibcamera_format *formats, size_t count,
    std::unique_ptr<libcamera::CameraConfiguration> &configuration);

// Controls as numbers; 0 for what is none.
double firstNumber(const libcamera::ControlValue &value);
void tellControls(const libcamera::ControlInfoMap &controls, clibcamera_control_taker give, void *context);
// None when the control takes another number of numbers.
libcamera::ControlValue controlValue(const libcamera::ControlId &id, const double *numbers, size_t count);

} // namespace clibcamera
