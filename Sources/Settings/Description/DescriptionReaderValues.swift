import Media

// Keys with a single value: text, a number, true or false.
extension DescriptionReader {
    mutating func text(_ name: String, required: Bool = false, example: String) -> Located<String>? {
        guard let value = value(name, required: required, example: example) else { return nil }
        guard case .string(let text) = value.content else {
            report(.wrongType, name, at: value, "must be text in double quotes, not \(value.kind)", example: example)
            return nil
        }
        return Located(value: text, position: value.position)
    }

    /// A name of a device or camera: 1...255 bytes without control characters.
    mutating func name(_ name: String, required: Bool = false, example: String) -> String? {
        guard let text = text(name, required: required, example: example) else { return nil }
        let bytes = text.value.utf8
        guard (1...255).contains(bytes.count), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            report(
                .invalidValue, name, at: text.position, "must have 1 to 255 bytes and no control characters",
                example: example)
            return nil
        }
        return text.value
    }

    mutating func flag(_ name: String, example: String) -> Located<Bool>? {
        guard let value = value(name, required: false, example: example) else { return nil }
        guard case .bool(let flag) = value.content else {
            report(
                .wrongType, name, at: value, "must be true or false without quotes, not \(value.kind)",
                example: example)
            return nil
        }
        return Located(value: flag, position: value.position)
    }

    /// A whole number within `range`. `unit` is used in messages; "" for a plain count.
    mutating func integer(
        _ name: String, in range: ClosedRange<Int>, unit: String = "", required: Bool = false, example: String
    ) -> Located<Int>? {
        guard let value = value(name, required: required, example: example) else { return nil }
        let span = "a whole number from \(range.lowerBound) to \(range.upperBound)\(unit.isEmpty ? "" : " \(unit)")"
        switch value.content {
        case .integer(let number):
            guard let exact = Int(exactly: number), range.contains(exact) else {
                report(.invalidValue, name, at: value, "must be \(span)\(shown("\(number)"))", example: example)
                return nil
            }
            return Located(value: exact, position: value.position)
        case .number:
            report(.invalidValue, name, at: value, "must be \(span)", example: example)
        default:
            report(.wrongType, name, at: value, "must be \(span), not \(value.kind)", example: example)
        }
        return nil
    }

    /// A number within `range`, integer or fraction.
    mutating func number(
        _ name: String, in range: ClosedRange<Double>, unit: String = "", example: String
    ) -> Located<Double>? {
        guard let value = value(name, required: false, example: example) else { return nil }
        let span = "a number from \(range.lowerBound) to \(range.upperBound)\(unit.isEmpty ? "" : " \(unit)")"
        let number: Double
        switch value.content {
        case .integer(let whole): number = Double(whole)
        case .number(let fraction): number = fraction
        default:
            report(.wrongType, name, at: value, "must be \(span), not \(value.kind)", example: example)
            return nil
        }
        guard range.contains(number) else {
            report(.invalidValue, name, at: value, "must be \(span)\(shown("\(number)"))", example: example)
            return nil
        }
        return Located(value: number, position: value.position)
    }

    /// One word as in commands: text, a number, or true for on and false for off.
    mutating func word(_ name: String, example: String) -> Located<String>? {
        guard let value = value(name, required: false, example: example) else { return nil }
        let text: String
        switch value.content {
        case .string(let string): text = string
        case .integer(let number): text = "\(number)"
        // Swift would write an exponent, which is not valid in such a value.
        case .number(let number) where abs(number) < 1e-4: text = fixed(number, decimals: 6)
        case .number(let number): text = "\(number)"
        case .bool(let flag): text = flag ? "on" : "off"
        default:
            report(
                .wrongType, name, at: value, "must be text, a number, true or false, not \(value.kind)",
                example: example
            )
            return nil
        }
        return Located(value: text, position: value.position)
    }

    /// The texts of a list, each with its key for messages: `names[2]`.
    mutating func texts(_ name: String, example: String) -> [(key: String, text: Located<String>)]? {
        elements(name, example: example)?.enumerated().compactMap { index, element in
            let key = "\(name)[\(index)]"
            guard case .string(let text) = element.content else {
                // Garbage may contain thousands.
                guard faults.count < Self.longestList else { return nil }
                report(
                    .wrongType, key, at: element, "must be text in double quotes, not \(element.kind)",
                    example: example)
                return nil
            }
            return (key, Located(value: text, position: element.position))
        }
    }

    /// A date that is not used: text, or seconds since 1970.
    mutating func moment(_ name: String, example: String) {
        guard let value = value(name, required: false, example: example) else { return }
        switch value.content {
        case .string, .integer: break
        default:
            report(
                .wrongType, name, at: value, "must be text in double quotes or a whole number, not \(value.kind)",
                example: example)
        }
    }
}
