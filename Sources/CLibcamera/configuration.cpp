#include "bridge.h"

#include <algorithm>
#include <array>
#include <cctype>

using namespace libcamera;

namespace {

Orientation orientation(const clibcamera_format &format) {
    if (!format.flips_vertically) {
        return format.flips_horizontally ? Orientation::Rotate0Mirror : Orientation::Rotate0;
    }
    return format.flips_horizontally ? Orientation::Rotate180 : Orientation::Rotate180Mirror;
}

void describe(const clibcamera_format &format, StreamConfiguration &stream) {
    stream.pixelFormat = PixelFormat(format.fourcc, format.modifier);
    stream.size = Size(format.width, format.height);
    stream.bufferCount = format.buffer_count;
}

// Bit depth of a sensor's raw format. libcamera reveals it only in the name: SRGGB10_CSI2P, R8. 0 for other formats.
unsigned bitDepth(const PixelFormat &format) {
    static constexpr std::array<const char *, 4> orders = {"SRGGB", "SGRBG", "SGBRG", "SBGGR"};
    const std::string name = format.toString();
    size_t digits = name.compare(0, 1, "R") == 0 ? 1 : std::string::npos;
    for (const char *order : orders) {
        if (name.compare(0, 5, order) == 0) digits = 5;
    }
    if (digits >= name.size() || !isdigit(static_cast<unsigned char>(name[digits]))) return 0;
    return static_cast<unsigned>(std::stoul(name.substr(digits, 2)));
}

// Keeps a camera acquired during its own lifetime.
struct Acquired {
    Camera &camera;
    const int status;

    explicit Acquired(Camera &camera) : camera(camera), status(camera.acquire()) {}
    ~Acquired() {
        if (status == 0) camera.release();
    }
};

} // namespace

namespace clibcamera {

clibcamera_colors colorsOf(const std::optional<ColorSpace> &space) {
    constexpr uint8_t unspecified = 2;
    if (!space) return {};
    clibcamera_colors colors{unspecified, unspecified, unspecified, space->range == ColorSpace::Range::Full};
    switch (space->primaries) {
    case ColorSpace::Primaries::Rec709: colors.primaries = 1; break;
    case ColorSpace::Primaries::Smpte170m: colors.primaries = 6; break;
    case ColorSpace::Primaries::Rec2020: colors.primaries = 9; break;
    case ColorSpace::Primaries::Raw: return {};
    }
    switch (space->transferFunction) {
    case ColorSpace::TransferFunction::Linear: colors.transfer = 8; break;
    case ColorSpace::TransferFunction::Srgb: colors.transfer = 13; break;
    case ColorSpace::TransferFunction::Rec709: colors.transfer = colors.primaries == 6 ? 6 : 1; break;
    }
    switch (space->ycbcrEncoding) {
    // RGB: the code that converts it knows the matrix.
    case ColorSpace::YcbcrEncoding::None: break;
    case ColorSpace::YcbcrEncoding::Rec601: colors.matrix = 6; break;
    case ColorSpace::YcbcrEncoding::Rec709: colors.matrix = 1; break;
    case ColorSpace::YcbcrEncoding::Rec2020: colors.matrix = 9; break;
    }
    return colors;
}

int configure(
    Camera &camera, const clibcamera_format *formats, size_t count, std::unique_ptr<CameraConfiguration> &configuration) {
    static constexpr StreamRole roles[CLIBCAMERA_STREAMS] = {StreamRole::VideoRecording, StreamRole::Viewfinder};
    if (count == 0 || count > CLIBCAMERA_STREAMS) return -EINVAL;
    configuration = camera.generateConfiguration(Span<const StreamRole>(roles, count));
    if (!configuration || configuration->empty()) return count == 1 ? -ENODEV : -E2BIG;
    if (configuration->size() != count) return -E2BIG;
    for (size_t index = 0; index < count; index++) {
        describe(formats[index], configuration->at(index));
        // libcamera's roles differ in their colors, but the frames of one video must not.
        configuration->at(index).colorSpace = formats[0].height >= 720 ? ColorSpace::Rec709 : ColorSpace::Smpte170m;
    }
    if (const clibcamera_sensor_readout &sensor = formats[0].sensor; sensor.width > 0) {
        configuration->sensorConfig = SensorConfiguration();
        configuration->sensorConfig->outputSize = Size(sensor.width, sensor.height);
        configuration->sensorConfig->bitDepth = sensor.bit_depth;
    }
    const Orientation wanted = orientation(formats[0]);
    if (wanted != Orientation::Rotate0 && !canOrient(camera, wanted)) return -ENOTSUP;
    configuration->orientation = wanted;
    if (configuration->validate() == CameraConfiguration::Invalid) return -EINVAL;
    if (configuration->size() != count) return -E2BIG;
    return camera.configure(configuration.get());
}

} // namespace clibcamera

using namespace clibcamera;

int clibcamera_camera_configure(clibcamera_camera *camera, const struct clibcamera_format *format) {
    return guarded([&] {
        const Acquired acquired(*camera->camera);
        if (acquired.status < 0) return acquired.status;
        std::unique_ptr<CameraConfiguration> configuration;
        return configure(*camera->camera, format, 1, configuration);
    });
}

int clibcamera_camera_sensor_modes(
    clibcamera_camera *camera, const struct clibcamera_format *format,
    void (*give)(void *, const struct clibcamera_sensor_mode *), void *context) {
    return guarded([&] {
        auto raw = camera->camera->generateConfiguration({StreamRole::Raw});
        if (!raw || raw->empty()) return 0;
        const Acquired acquired(*camera->camera);
        if (acquired.status < 0) return acquired.status;
        const StreamFormats &formats = raw->at(0).formats();
        for (const PixelFormat &pixels : formats.pixelformats()) {
            const unsigned depth = bitDepth(pixels);
            if (depth == 0) continue;
            for (const Size &size : formats.sizes(pixels)) {
                clibcamera_format wanted = *format;
                wanted.sensor = {size.width, size.height, depth};
                std::unique_ptr<CameraConfiguration> configuration;
                if (configure(*camera->camera, &wanted, 1, configuration) < 0) continue;
                // The field of view is known only after the mode is set. Without it, there is no choice.
                auto seen = camera->camera->properties().get(properties::ScalerCropMaximum);
                if (!seen || seen->isNull()) return 0;
                int64_t shortest = 0, longest = 0;
                if (clibcamera_camera_frame_durations(camera, &shortest, &longest) < 0) return 0;
                clibcamera_sensor_mode mode{wanted.sensor, seen->width, seen->height, shortest};
                give(context, &mode);
            }
        }
        return 0;
    });
}
