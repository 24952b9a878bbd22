import Media

/// What a camera says of itself with its newest frame: not what was asked for, but what it did. What it does not say is `nil`.
public struct CameraReport: Hashable, Sendable {
    public enum FocusState: String, Sendable {
        case idle, scanning, focused, failed
    }

    /// It is not there, and is set when it is back.
    public var isAway = false
    public var focusState: FocusState?
    /// In dioptres.
    public var lens: Double?
    public var exposureTime: Duration?
    /// Of the sensor, 1 for none.
    public var gain: Double?
    public var lux: Double?
    /// In kelvins.
    public var colorTemperature: Double?
    public var colorGains: (red: Double, blue: Double)? {
        get { gains.map { ($0.red, $0.blue) } }
        set { gains = newValue.map { Gains(red: $0.red, blue: $0.blue) } }
    }
    /// The controls whose value the camera reports as it was set.
    public var values: [ControlName: ControlValue] = [:]

    private struct Gains: Hashable {
        let red, blue: Double
    }

    private var gains: Gains?

    public init() {}

    /// What the camera says that bears on a control, for people; `nil` for nothing.
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
    /// Whether the camera does what a change asked for; `nil` where it says nothing that would show it.
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
        case (.zoomCentre, .point(let wanted)):
            point(of: .zoomCentre).map {
                Self.near($0.x, wanted.x, within: 0.02) && Self.near($0.y, wanted.y, within: 0.02)
            }
        // It glides: what is nearly there is still on its way.
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

    /// Sensors know steps: a fiftieth of the value is none of a person's.
    private static func near(_ value: Double, _ wanted: Double, within difference: Double) -> Bool {
        abs(value - wanted) <= max(difference, abs(wanted) / 50)
    }
}

/// A control as it is: what it was set to, and what the camera says.
public struct ControlReading: Hashable, Sendable {
    public let name: ControlName
    public let value: ControlValue
    /// For people; `nil` where the camera says nothing of it.
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

/// A row of what people and programs are shown of a camera's controls.
public struct ControlStatus: Hashable, Sendable {
    public let offer: ControlOffer
    /// As it was set; else what the camera says, or what holds where nobody says otherwise. `nil` for what is missing or
    /// not known.
    public let value: ControlValue?
    /// For people; `nil` where the camera says nothing of it.
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
        // A word that this camera does not have holds nowhere.
        let usual = row.usual.flatMap { row.words.contains($0) && !offer.words.contains($0) ? nil : $0 }
            .flatMap { try? ControlValue($0, of: row) }
        self.init(
            offer, value: wished ?? report.values[offer.name] ?? usual, reported: report.text(of: offer.name))
    }
}

extension ControlStatus: CustomStringConvertible {
    /// "zoom 2 (1 to 2.4)", or why it is missing.
    public var description: String {
        if let absence = offer.absence { return "\(offer.name): missing, \(absence)" }
        let value = value.map { " \($0)" } ?? ""
        let reported = reported.flatMap { $0 == self.value.map { "\($0)" } ? nil : "; now \($0)" } ?? ""
        return "\(offer.name)\(value) (\(offer.rule)\(reported))"
    }
}
