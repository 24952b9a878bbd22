import CLinux
import Controls
import DevicePorts
import Media

/// Maps the table's controls to V4L2's: which ones a camera has, their ranges, and what to set for a change.
struct V4L2ControlMapping {
    typealias Setting = (id: UInt32, value: Int64)

    private let offered: [V4L2Control]
    /// The value behind each number of a menu.
    private let menus: [UInt32: [Int64: Int64]]
    /// `nil` if the driver cannot choose a part of the sensor.
    private let crop: V4L2Crop?
    /// The flips that the camera always applies.
    private let flips: FrameFlips
    private(set) var wished = WishedControls()
    private var view = ZoomedView()

    /// A webcam's focus has no unit; this stands for its nearest point.
    private static let nearestFocus = 10.0

    init(
        offered: [V4L2Control], menus: [UInt32: [Int64: Int64]] = [:], crop: V4L2Crop? = nil,
        flips: FrameFlips = FrameFlips()
    ) {
        self.offered = offered
        self.menus = menus
        self.crop = crop
        self.flips = flips
    }

    private func control(_ id: UInt32) -> V4L2Control? { offered.first { $0.id == id } }

    // MARK: Available controls

    var offers: [ControlOffer] {
        ControlName.allCases.compactMap(offer).completed { name in
            switch name {
            case .focusPoint, .exposurePoint: "the camera's driver does not support a point"
            case .focus where control(clinux_v4l2_cid_focus_absolute) != nil:
                "the camera has no autofocus; set lens instead"
            case .lens, .focus: "the camera has a fixed focus"
            case .denoise: "V4L2 has no control for it"
            default: "the camera does not have it"
            }
        }
    }

    private var focus: ControlOffer? {
        let words = control(clinux_v4l2_cid_focus_auto) == nil ? [] : ["continuous", "manual"]
        let once = control(clinux_v4l2_cid_auto_focus_start) == nil ? [] : ["auto"]
        return words.isEmpty && once.isEmpty ? nil : ControlOffer(.focus, words: once + words)
    }

    private func offer(_ name: ControlName) -> ControlOffer? {
        switch name {
        case .focus: return focus
        case .lens:
            return control(clinux_v4l2_cid_focus_absolute).map { _ in
                ControlOffer(.lens, range: 0...Self.nearestFocus)
            }
        case .exposure: return exposureSettings("auto").isEmpty ? nil : ControlOffer(.exposure)
        case .exposureTime:
            return range(clinux_v4l2_cid_exposure_absolute).map { range in
                let hasAutomatic = exposureMenu.contains { $0 != Self.manualExposure }
                return ControlOffer(
                    .exposureTime, words: hasAutomatic ? nil : [], range: range.lowerBound / 10...range.upperBound / 10,
                    usual: usual(clinux_v4l2_cid_exposure_absolute).map { $0 / 10 })
            }
        case .gain:
            let words: [String]? = control(clinux_v4l2_cid_autogain) == nil ? [] : nil
            return range(clinux_v4l2_cid_gain).map {
                ControlOffer(.gain, words: words, range: $0, usual: usual(clinux_v4l2_cid_gain))
            }
        case .exposureValue:
            let values = menus[clinux_v4l2_cid_auto_exposure_bias].map { Array($0.values) } ?? []
            guard let least = values.min(), let most = values.max() else { return nil }
            return ControlOffer(.exposureValue, range: Double(least) / 1000...Double(most) / 1000)
        case .metering:
            return words(of: clinux_v4l2_cid_exposure_metering, Self.meterings).map {
                ControlOffer(.metering, words: $0)
            }
        case .whiteBalance: return whiteBalance
        case .brightness, .contrast, .saturation, .sharpness:
            return Self.plain[name].flatMap { id in
                range(id).map { ControlOffer(name, range: $0, usual: usual(id)) }
            }
        case .zoom: return largestZoom.map { ControlOffer(.zoom, range: 1...$0) }
        case .zoomCenter: return zoomRange == nil && crop != nil ? ControlOffer(.zoomCenter) : nil
        case .mirror: return control(clinux_v4l2_cid_hflip).map { _ in ControlOffer(.mirror) }
        case .flip: return control(clinux_v4l2_cid_vflip).map { _ in ControlOffer(.flip) }
        case .focusPoint, .exposurePoint, .denoise, .torch, .webcam, .microphoneGain, .mute: return nil
        }
    }

    private func range(_ id: UInt32) -> ClosedRange<Double>? {
        control(id).flatMap { $0.minimum <= $0.maximum ? Double($0.minimum)...Double($0.maximum) : nil }
    }

    private func usual(_ id: UInt32) -> Double? { control(id).map { Double($0.defaultValue) } }

    /// In the driver's unit, of which only the ratio is meaningful.
    private var zoomRange: ClosedRange<Double>? {
        range(clinux_v4l2_cid_zoom_absolute).flatMap { $0.lowerBound > 0 ? $0 : nil }
    }

    private var largestZoom: Double? { zoomRange.map { $0.upperBound / $0.lowerBound } ?? crop?.largestZoom }

    /// The area to show, in sensor pixels; `nil` if the lens zooms, or nothing does.
    var croppedArea: FrameArea? { zoomRange == nil ? crop?.area(view) : nil }

    private var whiteBalance: ControlOffer? {
        guard control(clinux_v4l2_cid_auto_white_balance) != nil || !lights.isEmpty else { return nil }
        let locked = control(clinux_v4l2_cid_auto_white_balance) == nil ? [] : ["locked"]
        return ControlOffer(
            .whiteBalance, words: ["auto"] + locked + lights, range: range(clinux_v4l2_cid_white_balance_temperature),
            usual: usual(clinux_v4l2_cid_white_balance_temperature))
    }

    private var lights: [String] { words(of: clinux_v4l2_cid_auto_n_preset_white_balance, Self.lights) ?? [] }

    private func words(of id: UInt32, _ names: [Int64: String]) -> [String]? {
        guard let menu = menus[id] else { return nil }
        let words = menu.keys.sorted().compactMap { names[$0] }
        return words.isEmpty ? nil : words
    }

    private static let plain: [ControlName: UInt32] = [
        .brightness: clinux_v4l2_cid_brightness, .contrast: clinux_v4l2_cid_contrast,
        .saturation: clinux_v4l2_cid_saturation, .sharpness: clinux_v4l2_cid_sharpness,
    ]
    /// enum v4l2_exposure_metering.
    private static let meterings: [Int64: String] = [1: "center", 2: "spot", 3: "matrix"]
    /// enum v4l2_auto_n_preset_white_balance.
    private static let lights: [Int64: String] = [
        2: "incandescent", 3: "fluorescent", 5: "horizon", 6: "daylight", 8: "cloudy", 9: "shade",
    ]
    private static let automaticLight: Int64 = 1

    // MARK: Changes

    /// - Returns: the controls to set together.
    mutating func settings(for changes: [ControlChange]) -> [Setting] {
        wished.take(changes)
        for change in changes {
            switch (change.name, change.value) {
            case (.zoom, .number(let zoom)): view.zoom = zoom
            case (.zoomCenter, .point(let center)): view.center = center
            default: break
            }
        }
        return changes.flatMap(settings)
    }

    private func settings(for change: ControlChange) -> [Setting] {
        switch (change.name, change.value) {
        case (.focus, .word("auto")):
            return set(clinux_v4l2_cid_focus_auto, 0) + set(clinux_v4l2_cid_auto_focus_start, 1)
        case (.focus, .word(let word)): return set(clinux_v4l2_cid_focus_auto, word == "continuous" ? 1 : 0)
        case (.lens, .number(let dioptres)):
            guard let range = range(clinux_v4l2_cid_focus_absolute) else { return [] }
            let position = range.lowerBound + dioptres / Self.nearestFocus * (range.upperBound - range.lowerBound)
            return set(clinux_v4l2_cid_focus_auto, 0) + set(clinux_v4l2_cid_focus_absolute, position)
        case (.exposure, .word(let word)): return exposureSettings(word)
        case (.exposureTime, .number(let milliseconds)):
            return set(clinux_v4l2_cid_exposure_auto, Double(Self.manualExposure))
                + set(clinux_v4l2_cid_exposure_absolute, milliseconds * 10)
        case (.exposureTime, _): return exposureSettings("auto").filter { $0.id == clinux_v4l2_cid_exposure_auto }
        case (.gain, .number(let gain)):
            return set(clinux_v4l2_cid_autogain, 0) + set(clinux_v4l2_cid_gain, gain)
        case (.gain, _): return set(clinux_v4l2_cid_autogain, 1)
        case (.exposureValue, .number(let value)):
            let menu = menus[clinux_v4l2_cid_auto_exposure_bias] ?? [:]
            let nearest = menu.min { abs(Double($0.value) / 1000 - value) < abs(Double($1.value) / 1000 - value) }
            return nearest.map { set(clinux_v4l2_cid_auto_exposure_bias, Double($0.key)) } ?? []
        case (.metering, .word(let word)): return choose(clinux_v4l2_cid_exposure_metering, word, Self.meterings)
        case (.whiteBalance, let value): return whiteBalance(value)
        case (.zoom, .number(let zoom)):
            return zoomRange.map { set(clinux_v4l2_cid_zoom_absolute, $0.lowerBound * zoom) } ?? []
        case (.mirror, .flag(let isOn)): return set(clinux_v4l2_cid_hflip, isOn != flips.isHorizontal ? 1 : 0)
        case (.flip, .flag(let isOn)): return set(clinux_v4l2_cid_vflip, isOn != flips.isVertical ? 1 : 0)
        case (let name, .number(let number)): return Self.plain[name].map { set($0, number) } ?? []
        default: return []
        }
    }

    /// enum v4l2_exposure_auto_type.
    private static let manualExposure: Int64 = 1
    /// Both automatic, or only the time.
    private static let automaticExposures: [Int64] = [0, 3]

    private var exposureMenu: [Int64] { menus[clinux_v4l2_cid_exposure_auto].map { $0.keys.sorted() } ?? [] }

    private func exposureSettings(_ word: String) -> [Setting] {
        let isAutomatic = word == "auto"
        let modes = isAutomatic ? Self.automaticExposures : [Self.manualExposure]
        let mode = modes.first(where: exposureMenu.contains)
        return (mode.map { set(clinux_v4l2_cid_exposure_auto, Double($0)) } ?? [])
            + set(clinux_v4l2_cid_autogain, isAutomatic ? 1 : 0)
    }

    private func whiteBalance(_ value: ControlValue) -> [Setting] {
        switch value {
        case .word("auto"):
            set(clinux_v4l2_cid_auto_n_preset_white_balance, Double(Self.automaticLight))
                + set(clinux_v4l2_cid_auto_white_balance, 1)
        case .word("locked"): set(clinux_v4l2_cid_auto_white_balance, 0)
        case .word(let light): choose(clinux_v4l2_cid_auto_n_preset_white_balance, light, Self.lights)
        case .temperature(let kelvins):
            set(clinux_v4l2_cid_auto_white_balance, 0) + set(clinux_v4l2_cid_white_balance_temperature, kelvins)
        default: []
        }
    }

    private func choose(_ id: UInt32, _ word: String, _ names: [Int64: String]) -> [Setting] {
        names.first { $0.value == word }.map { set(id, Double($0.key)) } ?? []
    }

    /// The nearest value that the driver accepts.
    private func set(_ id: UInt32, _ number: Double) -> [Setting] {
        guard let control = control(id) else { return [] }
        let wanted = Int64(exactly: number.rounded()) ?? control.defaultValue
        let clamped = min(max(wanted, control.minimum), control.maximum)
        let (distance, overflows) = clamped.subtractingReportingOverflow(control.minimum)
        return [
            (
                id,
                overflows || control.kind == .menu ? clamped : control.minimum + distance / control.step * control.step
            )
        ]
    }

    // MARK: Values from the driver

    /// - Parameters:
    ///   - shown: the area shown, in sensor pixels; `nil` if the driver does not report it.
    ///   - read: reads a control's value; `nil` if the driver does not report it.
    func report(crop shown: FrameArea? = nil, _ read: (UInt32) -> Int64?) -> CameraReport {
        func number(_ id: UInt32) -> Double? { control(id).flatMap { _ in read(id) }.map(Double.init) }
        func word(_ id: UInt32, _ names: [Int64: String]) -> ControlValue? {
            control(id).flatMap { _ in read(id) }.flatMap { names[$0] }.map { .word($0) }
        }
        var report = CameraReport()
        report.gain = number(clinux_v4l2_cid_gain)
        report.exposureTime = number(clinux_v4l2_cid_exposure_absolute).map { .microseconds(Int64($0) * 100) }
        if let position = number(clinux_v4l2_cid_focus_absolute), let range = range(clinux_v4l2_cid_focus_absolute),
            range.upperBound > range.lowerBound
        {
            let part = (position - range.lowerBound) / (range.upperBound - range.lowerBound)
            report.lens = part * Self.nearestFocus
        }
        report.colorTemperature = number(clinux_v4l2_cid_white_balance_temperature)
        for (name, id) in Self.plain { report.values[name] = number(id).map { .number($0) } }
        report.values[.focus] = word(clinux_v4l2_cid_focus_auto, [0: "manual", 1: "continuous"])
        report.values[.exposure] = exposure(read)
        report.values[.exposureValue] = control(clinux_v4l2_cid_auto_exposure_bias).flatMap { read($0.id) }
            .flatMap { menus[clinux_v4l2_cid_auto_exposure_bias]?[$0] }.map { .number(Double($0) / 1000) }
        report.values[.metering] = word(clinux_v4l2_cid_exposure_metering, Self.meterings)
        report.values[.mirror] = number(clinux_v4l2_cid_hflip).map { .flag(($0 != 0) != flips.isHorizontal) }
        report.values[.flip] = number(clinux_v4l2_cid_vflip).map { .flag(($0 != 0) != flips.isVertical) }
        report.values[.whiteBalance] =
            word(clinux_v4l2_cid_auto_n_preset_white_balance, Self.lights)
            ?? word(clinux_v4l2_cid_auto_white_balance, [0: "locked", 1: "auto"])
            ?? word(clinux_v4l2_cid_auto_n_preset_white_balance, [Self.automaticLight: "auto"])
        if let zoomRange, let zoom = number(clinux_v4l2_cid_zoom_absolute) {
            report.values[.zoom] = .number(zoom / zoomRange.lowerBound)
        } else if let view = shown.flatMap({ crop?.view($0) }) {
            report.values[.zoom] = .number(view.zoom)
            report.values[.zoomCenter] = .point(view.center)
        }
        return report
    }

    /// Locked only if the camera adjusts neither time nor gain.
    private func exposure(_ read: (UInt32) -> Int64?) -> ControlValue? {
        let mode = control(clinux_v4l2_cid_exposure_auto).flatMap { read($0.id) }
        let gain = control(clinux_v4l2_cid_autogain).flatMap { read($0.id) }
        guard mode != nil || gain != nil else { return nil }
        let isAutomatic = mode.map(Self.automaticExposures.contains) ?? false || gain ?? 0 != 0
        return .word(isAutomatic ? "auto" : "locked")
    }
}
