import Media

// Keys with a few possible values: faults list all of them, whatever their type.
enum FlagOrWord {
    case flag(Bool)
    case word(String)
}

enum IntegerOrWord {
    case integer(Int)
    case word(String)
}

extension DescriptionReader {
    /// One of a few words.
    /// - Parameter allowed: all possible values, if there are others besides these words.
    mutating func choice(
        _ name: String, of words: [String], allowed: String? = nil, required: Bool = false, example: String
    ) -> String? {
        guard let value = value(name, required: required, example: example) else { return nil }
        let list = "one of \(words.map { "\"\($0)\"" }.joined(separator: ", "))"
        return word(in: value, of: words, allowed ?? list, name, example: example)
    }

    /// True, false, or one of a few words.
    mutating func flagOrChoice(_ name: String, of words: [String], example: String) -> FlagOrWord? {
        guard let value = value(name, required: false, example: example) else { return nil }
        if case .bool(let flag) = value.content { return .flag(flag) }
        let allowed = "true or false without quotes, or \(words.map { "\"\($0)\"" }.joined(separator: " or "))"
        return word(in: value, of: words, allowed, name, example: example).map { .word($0) }
    }

    /// The short form of an object: one of a few words in its place.
    /// - Parameter take: gets the word if it is one of these.
    /// - Returns: false if the key is absent or has an object, which is to be read then.
    mutating func shortForm(_ name: String, of words: [String], example: String, _ take: (String) -> Void) -> Bool {
        guard let kind = kind(of: name), kind != "an object" else { return false }
        let list = words.map { "\"\($0)\"" }.joined(separator: " or ")
        let allowed = "\(list), or an object in curly brackets"
        if let word = choice(name, of: words, allowed: allowed, example: example) { take(word) }
        return true
    }

    /// A whole number within `range`, or one of a few words.
    mutating func integerOrChoice(
        _ name: String, in range: ClosedRange<Int>, of words: [String], example: String
    ) -> IntegerOrWord? {
        guard let value = value(name, required: false, example: example) else { return nil }
        let allowed =
            "a whole number from \(range.lowerBound) to \(range.upperBound), or "
            + words.map { "\"\($0)\"" }.joined(separator: " or ")
        switch value.content {
        case .integer(let number):
            if let exact = Int(exactly: number), range.contains(exact) { return .integer(exact) }
            report(.invalidValue, name, at: value, "must be \(allowed)\(shown("\(number)"))", example: example)
        case .number: report(.invalidValue, name, at: value, "must be \(allowed)", example: example)
        default: return word(in: value, of: words, allowed, name, example: example).map { .word($0) }
        }
        return nil
    }

    /// One of a few whole numbers.
    mutating func integer(_ name: String, of numbers: [Int], example: String) -> Int? {
        guard let value = value(name, required: false, example: example) else { return nil }
        let allowed = "one of \(numbers.map { "\($0)" }.joined(separator: ", "))"
        switch value.content {
        case .integer(let number):
            if let exact = Int(exactly: number), numbers.contains(exact) { return exact }
            report(.invalidValue, name, at: value, "must be \(allowed)\(shown("\(number)"))", example: example)
        case .number: report(.invalidValue, name, at: value, "must be \(allowed)", example: example)
        default: report(.wrongType, name, at: value, "must be \(allowed), not \(value.kind)", example: example)
        }
        return nil
    }

    /// - Parameter allowed: all possible values of the key.
    private mutating func word(
        in value: JSONValue, of words: [String], _ allowed: String, _ name: String, example: String
    ) -> String? {
        guard case .string(let text) = value.content else {
            report(.wrongType, name, at: value, "must be \(allowed), not \(value.kind)", example: example)
            return nil
        }
        if words.contains(text) { return text }
        let meant = NameSuggestion.nearest(to: text, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
        report(.invalidValue, name, at: value, "must be \(allowed)\(meant)", example: example)
        return nil
    }
}
