import Media

/// The value of a control.
public enum ControlValue: Hashable, Sendable {
    case flag(Bool)
    case word(String)
    /// In the control's unit.
    case number(Double)
    case point(FramePoint)
    case area(FrameArea)
    case gains(red: Double, blue: Double)
    /// In kelvins.
    case temperature(Double)
    /// Gain of one microphone, numbered from 1, in dB.
    case microphoneGain(number: Int, Double)
    /// Whether one microphone, numbered from 1, is muted.
    case microphoneMute(number: Int, Bool)
}

/// In the form that `set` takes.
extension ControlValue: CustomStringConvertible {
    public var description: String {
        switch self {
        case .flag(let isOn): isOn ? "on" : "off"
        case .word(let word): word
        case .number(let number): Self.text(number)
        case .point(let point): "\(Self.text(point.x)),\(Self.text(point.y))"
        case .area(let area):
            [area.left, area.top, area.width, area.height].map(Self.text).joined(separator: ",")
        case .gains(let red, let blue): "\(Self.text(red))/\(Self.text(blue))"
        case .temperature(let kelvins): "\(Self.text(kelvins.rounded()))K"
        case .microphoneGain(let number, let decibels): "\(number):\(Self.text(decibels))"
        case .microphoneMute(let number, let isOn): "\(number):\(isOn ? "on" : "off")"
        }
    }

    /// With at most three decimals.
    static func text(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e12 else { return "\(number)" }
        let text = fixed(number, decimals: 3)
        guard text.utf8.contains(UInt8(ascii: ".")) else { return text }
        var digits = Substring(text)
        while digits.hasSuffix("0") { digits.removeLast() }
        if digits.hasSuffix(".") { digits.removeLast() }
        return digits == "-0" ? "0" : String(digits)
    }
}

extension ControlValue {
    /// The value of a text, regardless of the camera's range.
    /// - Throws: `unusableValue`.
    init(_ text: String, of row: ControlDescription) throws(ControlError) {
        guard let value = Self.read(text.lowercased(), row) else {
            throw .unusableValue(row.name, value: text, rule: row.form)
        }
        self = value
    }

    private static func read(_ text: String, _ row: ControlDescription) -> ControlValue? {
        switch row.kind {
        case .flag: return ["on": .flag(true), "off": .flag(false)][text]
        case .word: return isWord(text) ? .word(text) : nil
        case .number: return row.words.contains(text) ? .word(text) : decimal(text).map { .number($0) }
        case .time: return row.words.contains(text) ? .word(text) : milliseconds(text).map { .number($0) }
        case .point: return numbers(text, ",", count: 2).flatMap { point($0) }.map { .point($0) }
        case .area: return row.words.contains(text) ? .word(text) : area(text).map { .area($0) }
        case .whiteBalance: return whiteBalance(text)
        case .microphoneNumber:
            guard let (microphone, rest) = microphone(text) else { return decimal(text).map { .number($0) } }
            return decimal(rest).map { .microphoneGain(number: microphone, $0) }
        case .microphoneFlag:
            let flags = ["on": true, "off": false]
            guard let (microphone, rest) = microphone(text) else { return flags[text].map { .flag($0) } }
            return flags[rest].map { .microphoneMute(number: microphone, $0) }
        }
    }

    /// `2:REST`.
    private static func microphone(_ text: String) -> (number: Int, rest: String)? {
        guard let colon = text.firstIndex(of: ":"), let number = Int(text[..<colon]), (1...64).contains(number) else {
            return nil
        }
        return (number, String(text[text.index(after: colon)...]))
    }

    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 32
            && text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-") }
    }

    private static func numbers(_ text: String, _ separator: Character, count: Int) -> [Double]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { decimal($0) }
        return parts.count == count && numbers.count == count ? numbers : nil
    }

    private static func milliseconds(_ text: String) -> Double? {
        if let parts = numbers(text, "/", count: 2) {
            return parts[0] > 0 && parts[1] > 0 ? parts[0] / parts[1] * 1000 : nil
        }
        return decimal(text.hasSuffix("ms") ? text.dropLast(2) : text[...]).flatMap { $0 > 0 ? $0 : nil }
    }

    private static func point(_ numbers: [Double]) -> FramePoint? {
        numbers.allSatisfy((0...1).contains) ? FramePoint(x: numbers[0], y: numbers[1]) : nil
    }

    private static func area(_ text: String) -> FrameArea? {
        if let two = numbers(text, ",", count: 2) { return point(two).map { FrameArea(around: $0) } }
        guard let four = numbers(text, ",", count: 4), four.allSatisfy((0...1).contains), four[2] > 0, four[3] > 0,
            four[0] + four[2] <= 1 + 1e-9, four[1] + four[3] <= 1 + 1e-9
        else { return nil }
        return FrameArea(left: four[0], top: four[1], width: four[2], height: four[3])
    }

    private static func whiteBalance(_ text: String) -> ControlValue? {
        if let gains = numbers(text, "/", count: 2) {
            return gains.allSatisfy { $0 > 0 } ? .gains(red: gains[0], blue: gains[1]) : nil
        }
        if text.hasSuffix("k"), let kelvins = decimal(text.dropLast()) {
            return kelvins > 0 ? .temperature(kelvins) : nil
        }
        return decimal(text) == nil && isWord(text) ? .word(text) : nil
    }
}

extension ControlDescription {
    /// The form of a value, for people.
    public var form: String {
        let others = words.map { " or \($0)" }.joined()
        return switch kind {
        case .flag: "on or off"
        case .word: words.isEmpty ? "one of the camera's words" : words.joined(separator: ", ")
        case .number: "a number" + (unit.isEmpty ? "" : " of \(unit)") + others
        case .time: "milliseconds, a fraction of a second such as 1/50," + others
        case .point: "X,Y, each from 0 to 1"
        case .area: "X,Y or LEFT,TOP,WIDTH,HEIGHT within 0 to 1" + others
        case .microphoneNumber: "a number of dB, or N:NUMBER for microphone N"
        case .microphoneFlag: "on or off, or N:on, N:off for microphone N"
        case .whiteBalance: "auto, locked, one of the camera's lights, RED/BLUE gains or a temperature such as 5600K"
        }
    }
}
