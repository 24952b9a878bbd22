import Media

/// A camera's report with its newest frame: what it really did, rather than what was requested. Unreported values are
/// `nil`.
public struct CameraReport: Hashable, Sendable {
    public enum FocusState: String, Sendable {
        case idle, scanning, focused, failed
    }

    /// The camera is missing; its controls are set when it returns.
    public var isAway = false
    public var focusState: FocusState?
    /// In diopters.
    public var lens: Double?
    public var exposureTime: Duration?
    /// The sensor's gain; 1 for no amplification.
    public var gain: Double?
    public var lux: Double?
    /// In kelvins.
    public var colorTemperature: Double?
    public var colorGains: (red: Double, blue: Double)? {
        get { gains.map { ($0.red, $0.blue) } }
        set { gains = newValue.map { Gains(red: $0.red, blue: $0.blue) } }
    }
    /// The controls whose present value the camera reports.
    public var values: [ControlName: ControlValue] = [:]

    private struct Gains: Hashable {
        let red, blue: Double
    }

    private var gains: Gains?

    public init() {}

    /// The reported values that concern a control, for people; `nil` if there are none.
    public func text(of name: ControlName) -> String? {
        switch name {
        case .focus, .focusPoint:
            let parts = [focusState?.rawValue, lens.map { "\(ControlValue.text($0)) dioptres" }]
            return Self.joined(parts)
        case .lens: return lens.map { "\(ControlValue.text($0)) dioptres" }
        case .exposure, .exposureTime, .gain, .exposureValue, .metering, .exposurePoint:
            let time = exposureTime.map { "\(ControlValue.text($0.inSeconds * 1000)) ms" }
            return Self.joined([values[name].map { "\($0)" }, time, gain.map { "gain \(ControlValue.text($0))" }])
        case .whiteBalance:
            let gains = colorGains.map { "\(ControlValue.gains(red: $0.red, blue: $0.blue))" }
            return Self.joined([
                values[name].map { "\($0)" }, colorTemperature.map { "\(ControlValue.temperature($0))" }, gains,
            ])
        default: return values[name].map { "\($0)" }
        }
    }

    private static func joined(_ parts: [String?]) -> String? {
        let known = parts.compactMap { $0 }
        return known.isEmpty ? nil : known.joined(separator: ", ")
    }
}

extension CameraReport {
    /// Whether the camera has applied a change; `nil` if its report cannot show that.
    func shows(_ change: ControlChange) -> Bool? {
        switch (change.name, change.value) {
        case (.focus, .word("auto")), (.focusPoint, .area): focusState.map { $0 == .focused || $0 == .failed }
        case (.lens, .number(let wanted)): lens.map { Self.near($0, wanted, within: 0.05) }
        case (.exposureTime, .number(let wanted)):
            exposureTime.map { Self.near($0.inSeconds * 1000, wanted, within: 0.1) }
        case (.gain, .number(let wanted)): gain.map { Self.near($0, wanted, within: 0.1) }
        case (.whiteBalance, .gains(let red, let blue)):
            colorGains.map { Self.near($0.red, red, within: 0.01) && Self.near($0.blue, blue, within: 0.01) }
        case (.whiteBalance, .temperature(let wanted)): colorTemperature.map { Self.near($0, wanted, within: 1) }
        case (.zoomCenter, .point(let wanted)):
            point(of: .zoomCenter).map {
                Self.near($0.x, wanted.x, within: 0.02) && Self.near($0.y, wanted.y, within: 0.02)
            }
        // Zoom is gradual: a value that is only close is still changing.
        case (.zoom, .number(let wanted)): number(of: .zoom).map { abs($0 - wanted) <= max(0.01, wanted / 200) }
        case (let name, .number(let wanted)):
            number(of: name).map { Self.near($0, wanted, within: 0.01) }
        case (let name, let wanted): values[name].map { $0 == wanted }
        }
    }

    private func number(of name: ControlName) -> Double? {
        guard case .number(let number) = values[name] else { return nil }
        return number
    }

    private func point(of name: ControlName) -> FramePoint? {
        guard case .point(let point) = values[name] else { return nil }
        return point
    }

    /// Sensors have discrete steps, so a difference of a fiftieth does not count.
    private static func near(_ value: Double, _ wanted: Double, within difference: Double) -> Bool {
        abs(value - wanted) <= max(difference, abs(wanted) / 50)
    }
}

/// A control's present state: its set value and the camera's report.
public struct ControlReading: Hashable, Sendable {
    public let name: ControlName
    public let value: ControlValue
    /// For people; `nil` if the camera does not report it.
    public let reported: String?

    public init(_ name: ControlName, _ value: ControlValue, reported: String?) {
        self.name = name
        self.value = value
        self.reported = reported
    }
}

extension ControlReading: CustomStringConvertible {
    public var description: String {
        guard let reported, reported != "\(value)" else { return "\(name) \(value)" }
        return "\(name) \(value) (\(reported))"
    }
}

/// One line of the list of a camera's controls, for people and programs.
public struct ControlStatus: Hashable, Sendable {
    public let offer: ControlOffer
    /// The set value, otherwise the reported one, otherwise the default. `nil` if the control is missing or its value
    /// is unknown.
    public let value: ControlValue?
    /// For people; `nil` if the camera does not report it.
    public let reported: String?

    public init(_ offer: ControlOffer, value: ControlValue?, reported: String?) {
        self.offer = offer
        self.value = value
        self.reported = reported
    }

    public init(_ offer: ControlOffer, wished: ControlValue?, report: CameraReport) {
        guard offer.absence == nil else {
            self.init(offer, value: nil, reported: nil)
            return
        }
        let row = ControlDescription.of(offer.name)
        // A word that this camera does not support cannot be its default.
        let usual = row.usual.flatMap { row.words.contains($0) && !offer.words.contains($0) ? nil : $0 }
            .flatMap { try? ControlValue($0, of: row) }
        self.init(
            offer, value: wished ?? report.values[offer.name] ?? usual, reported: report.text(of: offer.name))
    }
}

extension ControlStatus: CustomStringConvertible {
    /// "zoom 2 (1 to 2.4)", or why it is missing.
    public var description: String {
        if let absence = offer.absence { return "\(offer.name): unavailable, \(absence)" }
        let value = value.map { " \($0)" } ?? ""
        let reported = reported.flatMap { $0 == self.value.map { "\($0)" } ? nil : "; now \($0)" } ?? ""
        return "\(offer.name)\(value) (\(offer.rule)\(reported))"
    }
}
