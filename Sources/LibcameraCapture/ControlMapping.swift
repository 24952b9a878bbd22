import Controls
import DevicePorts
import Media

/// Maps the table's controls to libcamera's: which ones a configured camera has, their ranges, and what to set for a change.
/// Enumeration values are looked up by libcamera's names.
struct ControlMapping {
    typealias Setting = (control: CameraControl, values: [Double])

    private let offered: [CameraControl]
    private let crop: CropRange?
    private(set) var view = ZoomedView()
    private(set) var wished = WishedControls()
    /// Whether the lens focuses continuously.
    private var isFocusing: Bool

    /// - Parameters:
    ///   - offered: with the ranges of the configuration.
    ///   - size: the stream's.
    ///   - mode: `nil` if the camera chose the mode itself.
    ///   - isFocusing: whether continuous focus was set at the start.
    init(offered: [CameraControl], size: FrameSize, mode: SensorMode?, isFocusing: Bool) {
        self.offered = offered
        self.isFocusing = isFocusing
        crop = offered.first { $0.name == "ScalerCrop" }.flatMap { CropRange($0, size: size, mode: mode) }
    }

    private func control(_ name: String) -> CameraControl? { offered.first { $0.name == name } }

    // MARK: Available controls

    var offers: [ControlOffer] {
        ControlName.allCases.compactMap(offer).completed { name in
            switch name {
            case .focus, .focusPoint, .lens: "the camera has a fixed focus"
            case .exposurePoint: "libcamera sets this only through metering"
            case .mirror, .flip: "the camera can flip its frames only when it is opened"
            default: "the camera does not have it"
            }
        }
    }

    private func offer(_ name: ControlName) -> ControlOffer? {
        switch name {
        case .focus: return choices("AfMode").map { ControlOffer(.focus, words: $0) }
        case .focusPoint:
            let isThere = crop != nil && control("AfWindows") != nil && control("AfMetering") != nil
            return isThere ? ControlOffer(.focusPoint) : nil
        case .lens: return range("LensPosition").map { ControlOffer(.lens, range: $0) }
        case .exposure: return control("ExposureTimeMode").map { _ in ControlOffer(.exposure) }
        case .exposureTime:
            let milliseconds = range("ExposureTime").map { $0.lowerBound / 1000...$0.upperBound / 1000 }
            return milliseconds.map { ControlOffer(.exposureTime, range: $0) }
        case .gain: return range("AnalogueGain").map { ControlOffer(.gain, range: $0) }
        case .exposureValue: return range("ExposureValue").map { ControlOffer(.exposureValue, range: $0) }
        case .metering: return choices("AeMeteringMode").map { ControlOffer(.metering, words: $0) }
        case .whiteBalance: return whiteBalance
        case .brightness: return range("Brightness").map { ControlOffer(.brightness, range: $0) }
        case .contrast: return range("Contrast").map { ControlOffer(.contrast, range: $0) }
        case .saturation: return range("Saturation").map { ControlOffer(.saturation, range: $0) }
        case .sharpness: return range("Sharpness").map { ControlOffer(.sharpness, range: $0) }
        case .denoise: return choices("NoiseReductionMode").map { ControlOffer(.denoise, words: $0) }
        case .zoom: return crop.map { ControlOffer(.zoom, range: 1...$0.largestZoom) }
        case .zoomCenter: return crop.map { _ in ControlOffer(.zoomCenter) }
        case .exposurePoint, .mirror, .flip, .torch, .webcam, .microphoneGain, .mute: return nil
        }
    }

    private func range(_ name: String) -> ClosedRange<Double>? {
        guard let control = control(name), control.minimum <= control.maximum else { return nil }
        return control.minimum...control.maximum
    }

    private func choices(_ name: String) -> [String]? {
        let words = control(name)?.choices.compactMap { Self.word(for: $0.name, of: name) } ?? []
        return words.isEmpty ? nil : words
    }

    private var whiteBalance: ControlOffer? {
        guard control("AwbEnable") != nil else { return nil }
        let lights = choices("AwbMode")?.filter { $0 != "auto" } ?? []
        let gains = control("ColourGains") == nil ? [] : [ControlOffer.gainsMark]
        return ControlOffer(
            .whiteBalance, words: ["auto", "locked"] + lights + gains, range: range("ColourTemperature"))
    }

    /// Our words for libcamera's enumeration values. Values that are not listed are not offered.
    private static let words: [String: [(libcamera: String, word: String)]] = [
        "AfMode": [("AfModeAuto", "auto"), ("AfModeContinuous", "continuous"), ("AfModeManual", "manual")],
        "AeMeteringMode": [
            ("MeteringCentreWeighted", "center"), ("MeteringSpot", "spot"), ("MeteringMatrix", "matrix"),
        ],
        "AwbMode": [
            ("AwbAuto", "auto"), ("AwbIncandescent", "incandescent"), ("AwbTungsten", "tungsten"),
            ("AwbFluorescent", "fluorescent"), ("AwbIndoor", "indoor"), ("AwbDaylight", "daylight"),
            ("AwbCloudy", "cloudy"),
        ],
        "NoiseReductionMode": [
            ("NoiseReductionModeOff", "off"), ("NoiseReductionModeFast", "fast"),
            ("NoiseReductionModeHighQuality", "high-quality"), ("NoiseReductionModeMinimal", "minimal"),
        ],
    ]

    private static func word(for name: String, of control: String) -> String? {
        words[control]?.first { $0.libcamera == name }?.word
    }

    /// - Parameter number: a value of libcamera's enumeration.
    func word(for number: Int32, of control: String) -> String? {
        let choice = self.control(control)?.choices.first { $0.value == Double(number) }
        return choice.flatMap { Self.word(for: $0.name, of: control) }
    }

    /// The zoom that corresponds to the crop the camera reports.
    func zoom(_ reported: (left: Double, top: Double, width: Double, height: Double)) -> ZoomedView? {
        crop?.view(reported)
    }

    // MARK: Changes

    /// - Returns: the controls to set together.
    mutating func settings(for changes: [ControlChange]) -> [Setting] {
        let isViewChanged = changes.contains { $0.name == .zoom || $0.name == .zoomCenter }
        var settings: [Setting] = []
        // Points refer to the view after the zoom, so apply zoom first.
        let views = changes.filter { $0.name == .zoom || $0.name == .zoomCenter }
        for change in views + changes.filter({ !views.contains($0) }) {
            settings += self.settings(for: change, among: changes)
        }
        if isViewChanged, let crop, let control = control("ScalerCrop") {
            settings.append((control, crop.rectangle(view)))
        }
        wished.take(changes)
        return settings
    }

    private mutating func settings(for change: ControlChange, among changes: [ControlChange]) -> [Setting] {
        switch (change.name, change.value) {
        case (.focus, .word(let word)):
            isFocusing = word == "continuous"
            return choose("AfMode", word) + (word == "auto" ? number("AfTrigger", 0) : [])
        case (.focusPoint, let value): return focus(at: value, isModeGiven: changes.contains { $0.name == .focus })
        case (.lens, .number(let dioptres)):
            isFocusing = false
            return choose("AfMode", "manual") + number("LensPosition", dioptres)
        case (.exposure, .word(let word)):
            let isManual = word == "locked" ? 1.0 : 0
            return number("ExposureTimeMode", isManual) + number("AnalogueGainMode", isManual)
        case (.exposureTime, .number(let milliseconds)):
            return number("ExposureTimeMode", 1) + number("ExposureTime", (milliseconds * 1000).rounded())
        case (.exposureTime, _): return number("ExposureTimeMode", 0)
        case (.gain, .number(let gain)): return number("AnalogueGainMode", 1) + number("AnalogueGain", gain)
        case (.gain, _): return number("AnalogueGainMode", 0)
        case (.whiteBalance, let value): return whiteBalance(value)
        case (.metering, .word(let word)): return choose("AeMeteringMode", word)
        case (.denoise, .word(let word)): return choose("NoiseReductionMode", word)
        case (.zoom, .number(let zoom)): view.zoom = zoom
        case (.zoomCenter, .point(let point)): view.center = point
        case (let name, .number(let number)): return self.number(Self.names[name] ?? "", number)
        default: break
        }
        return []
    }

    private static let names: [ControlName: String] = [
        .exposureValue: "ExposureValue", .brightness: "Brightness", .contrast: "Contrast", .saturation: "Saturation",
        .sharpness: "Sharpness",
    ]

    private func focus(at value: ControlValue, isModeGiven: Bool) -> [Setting] {
        guard case .area(let area) = value, let crop, let windows = control("AfWindows") else {
            return choose("AfMetering", named: "AfMeteringAuto")
        }
        let set: [Setting] = [(windows, crop.rectangle(view.area.part(area)))]
        // Without continuous focus, focus once on the new point.
        let search = isFocusing || isModeGiven ? [] : choose("AfMode", "auto") + number("AfTrigger", 0)
        return choose("AfMetering", named: "AfMeteringWindows") + set + search
    }

    private func whiteBalance(_ value: ControlValue) -> [Setting] {
        switch value {
        case .word("locked"): number("AwbEnable", 0)
        case .word(let light): number("AwbEnable", 1) + choose("AwbMode", light)
        case .gains(let red, let blue):
            number("AwbEnable", 0) + (control("ColourGains").map { [($0, [red, blue])] } ?? [])
        case .temperature(let kelvins): number("AwbEnable", 0) + number("ColourTemperature", kelvins)
        default: []
        }
    }

    private func number(_ name: String, _ number: Double) -> [Setting] {
        control(name).map { [($0, [number])] } ?? []
    }

    private func choose(_ name: String, _ word: String) -> [Setting] {
        let named = Self.words[name]?.first { $0.word == word }?.libcamera
        return named.map { choose(name, named: $0) } ?? []
    }

    private func choose(_ name: String, named value: String) -> [Setting] {
        guard let control = control(name), let choice = control.choices.first(where: { $0.name == value }) else {
            return []
        }
        return [(control, [choice.value])]
    }
}
