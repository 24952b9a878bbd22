import CLibcamera
import Controls
import DevicePorts
import Media

extension LibcameraCamera: ControllableSource {
    public var controlOffers: [ControlOffer] { mapping.offers }
    public var wishedControls: WishedControls { mapping.wished }

    public func apply(_ changes: [ControlChange]) throws(ControlError) {
        var changed = mapping
        let status = session.set(changed.settings(for: changes))
        guard status >= 0 else {
            let error = CameraError(name, "Request::controls", status)
            throw .refused(changes.first?.name ?? .focus, reason: "\(error)")
        }
        mapping = changed
    }

    public var reportsLight: Bool { true }
    public var lux: Double? { session.report?.lux.ifKnown }

    public var cameraReport: CameraReport {
        guard let said = session.report else { return CameraReport() }
        var report = CameraReport()
        report.focusState =
            switch said.af_state {
            case 0: .idle
            case 1: .scanning
            case 2: .focused
            case 3: .failed
            default: nil
            }
        report.lens = said.lens_position.ifKnown
        report.exposureTime = said.exposure_time < 0 ? nil : .microseconds(said.exposure_time)
        report.gain = said.analogue_gain.ifKnown
        report.lux = said.lux.ifKnown
        report.colorTemperature = said.color_temperature.ifKnown
        if let red = said.red_gain.ifKnown, let blue = said.blue_gain.ifKnown { report.colorGains = (red, blue) }
        report.values = values(said)
        return report
    }

    private func values(_ said: clibcamera_report) -> [ControlName: ControlValue] {
        var values: [ControlName: ControlValue] = [:]
        values[.exposureValue] = said.exposure_value.ifKnown.map { .number($0) }
        values[.brightness] = said.brightness.ifKnown.map { .number($0) }
        values[.contrast] = said.contrast.ifKnown.map { .number($0) }
        values[.saturation] = said.saturation.ifKnown.map { .number($0) }
        values[.sharpness] = said.sharpness.ifKnown.map { .number($0) }
        values[.metering] = mapping.word(for: said.ae_metering_mode, of: "AeMeteringMode").map { .word($0) }
        values[.denoise] = mapping.word(for: said.noise_reduction_mode, of: "NoiseReductionMode").map { .word($0) }
        if said.exposure_is_manual >= 0 {
            values[.exposure] = .word(said.exposure_is_manual > 0 && said.gain_is_manual != 0 ? "locked" : "auto")
        }
        values[.whiteBalance] = whiteBalance(said)
        let crop = said.crop
        if let view = mapping.zoom((left: crop.0, top: crop.1, width: crop.2, height: crop.3)) {
            values[.zoom] = .number(view.zoom)
            values[.zoomCenter] = .point(view.center)
        }
        return values
    }

    private func whiteBalance(_ said: clibcamera_report) -> ControlValue? {
        if said.awb_is_manual == 1 { return .word("locked") }
        return mapping.word(for: said.awb_mode, of: "AwbMode").map { .word($0) }
    }
}

extension Double {
    /// `nil` for NaN, which the bridge uses for unreported values.
    fileprivate var ifKnown: Double? { isNaN ? nil : self }
}
