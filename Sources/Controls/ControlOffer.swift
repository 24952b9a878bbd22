/// The values that one camera accepts for a control, or why it lacks the control.
public struct ControlOffer: Hashable, Sendable {
    public let name: ControlName
    /// Empty for a control without words.
    public let words: [String]
    /// Range of the number, of each gain, or of the temperature; `nil` if the control does not accept numbers here.
    public let range: ClosedRange<Double>?
    /// The default of the camera's driver; `nil` to use the description's, or if unknown.
    public let usual: Double?
    /// For people; `nil` if the control exists.
    public let absence: String?
    /// Number of microphones that have this control individually.
    public let microphoneCount: Int
    private var microphones: Range<Int> { 1..<microphoneCount + 1 }

    public init(
        _ name: ControlName, words: [String]? = nil, range: ClosedRange<Double>? = nil, usual: Double? = nil,
        microphoneCount: Int = 0
    ) {
        self.microphoneCount = max(0, microphoneCount)
        self.name = name
        self.words = words ?? ControlDescription.of(name).words
        self.range = range
        self.usual = usual
        absence = nil
    }

    public init(_ name: ControlName, isMissing reason: String) {
        self.name = name
        microphoneCount = 0
        words = []
        range = nil
        usual = nil
        absence = reason
    }

    /// - Throws: `missing` without the other controls' names, or `unusableValue`.
    func check(_ value: ControlValue) throws(ControlError) {
        if let absence { throw .missing(name, reason: absence, offered: []) }
        let fits =
            switch value {
            case .flag, .point, .area: true
            case .microphoneGain(let number, let decibels):
                microphones.contains(number) && range?.contains(decibels) ?? false
            case .microphoneMute(let number, _): microphones.contains(number)
            case .word(let word): words.contains(word)
            case .number(let number), .temperature(let number): range.map { Self.holds($0, number) } ?? false
            // The range of gains that every sensor's image processor supports.
            case .gains(let red, let blue): takesGains && (0.1...32).contains(red) && (0.1...32).contains(blue)
            }
        guard fits else { throw .unusableValue(name, value: "\(value)", rule: rule) }
    }

    /// Bounds are printed with three decimals.
    private static func holds(_ range: ClosedRange<Double>, _ number: Double) -> Bool {
        number >= range.lowerBound - 0.0005 && number <= range.upperBound + 0.0005
    }

    /// Whether white balance accepts gains.
    public var takesGains: Bool { words.contains(Self.gainsMark) }
    /// Listed among the words if gains of any value are accepted.
    public static let gainsMark = "RED/BLUE"

    /// The valid values on this camera, for people.
    public var rule: String {
        let row = ControlDescription.of(name)
        var parts: [String] = []
        if let range {
            let unit = row.kind == .whiteBalance ? "K" : row.unit.isEmpty ? "" : " \(row.unit)"
            parts.append(
                "\(ControlValue.text(range.lowerBound)) to \(ControlValue.text(range.upperBound))\(unit)")
        }
        parts += words
        if microphoneCount > 0 { parts.append("N: before it for microphone N of \(microphoneCount)") }
        return parts.isEmpty ? row.form : parts.joined(separator: ", ")
    }
}

extension [ControlOffer] {
    /// Checks changes against the values that a camera accepts.
    public func check(_ changes: [ControlChange]) throws(ControlError) {
        for change in changes {
            guard let offer = first(where: { $0.name == change.name }), offer.absence == nil else {
                let reason = first { $0.name == change.name }?.absence ?? "no camera is open"
                throw .missing(change.name, reason: reason, offered: filter { $0.absence == nil }.map(\.name))
            }
            try offer.check(change.value)
        }
    }

    /// All controls in the table's order, missing for this reason.
    public static func allMissing(_ reason: String) -> [ControlOffer] {
        ControlName.allCases.map { ControlOffer($0, isMissing: reason) }
    }

    /// All controls in the table's order; those not offered are missing for this reason.
    public func completed(_ reason: (ControlName) -> String) -> [ControlOffer] {
        ControlName.allCases.map { name in
            first { $0.name == name } ?? ControlOffer(name, isMissing: reason(name))
        }
    }
}
