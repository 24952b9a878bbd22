#include "report.h"

#include <cmath>

using namespace libcamera;

MetadataReport::MetadataReport() {
    const double unknown = std::nan("");
    report = {
        -1, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown,
        {unknown, unknown, unknown, unknown}, -1, -1, -1, -1, -1, -1, -1};
}

namespace {

template <typename Value, typename Number>
void keep(const ControlList &metadata, const Control<Value> &control, Number &number) {
    if (auto value = metadata.get(control)) number = static_cast<Number>(*value);
}

} // namespace

void MetadataReport::take(const ControlList &metadata) {
    keep(metadata, controls::ExposureTime, report.exposure_time);
    keep(metadata, controls::AnalogueGain, report.analogue_gain);
    keep(metadata, controls::Lux, report.lux);
    keep(metadata, controls::ColourTemperature, report.color_temperature);
    keep(metadata, controls::LensPosition, report.lens_position);
    keep(metadata, controls::ExposureValue, report.exposure_value);
    keep(metadata, controls::Brightness, report.brightness);
    keep(metadata, controls::Contrast, report.contrast);
    keep(metadata, controls::Saturation, report.saturation);
    keep(metadata, controls::Sharpness, report.sharpness);
    keep(metadata, controls::AfState, report.af_state);
    keep(metadata, controls::AeMeteringMode, report.ae_metering_mode);
    keep(metadata, controls::AwbMode, report.awb_mode);
    keep(metadata, controls::draft::NoiseReductionMode, report.noise_reduction_mode);
    keep(metadata, controls::ExposureTimeMode, report.exposure_is_manual);
    keep(metadata, controls::AnalogueGainMode, report.gain_is_manual);
    if (auto enabled = metadata.get(controls::AwbEnable)) report.awb_is_manual = !*enabled;
    if (auto gains = metadata.get(controls::ColourGains)) {
        report.red_gain = (*gains)[0];
        report.blue_gain = (*gains)[1];
    }
    if (auto crop = metadata.get(controls::ScalerCrop)) {
        report.crop[0] = crop->x;
        report.crop[1] = crop->y;
        report.crop[2] = crop->width;
        report.crop[3] = crop->height;
    }
}
