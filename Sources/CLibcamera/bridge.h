// Declarations that the bridge's files share.
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

// No exception may leave the bridge: C and Swift cannot catch it.
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

// Whether the camera can orient its frames this way. A camera that also accepts 90 degrees ignores the request, because sensors
// can mirror but not transpose.
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

// Code points of H.273.
clibcamera_colors colorsOf(const std::optional<libcamera::ColorSpace> &space);

// Configures an acquired camera as `clibcamera_session_open` says.
int configure(
    libcamera::Camera &camera, const clibcamera_format *formats, size_t count,
    std::unique_ptr<libcamera::CameraConfiguration> &configuration);

// Controls as numbers; 0 for a value that is not a number.
double firstNumber(const libcamera::ControlValue &value);
void tellControls(const libcamera::ControlInfoMap &controls, clibcamera_control_taker give, void *context);
// An empty value if the control takes a different count of numbers.
libcamera::ControlValue controlValue(const libcamera::ControlId &id, const double *numbers, size_t count);

} // namespace clibcamera
