import Media

/// A value with its position.
struct Located<Value> {
    let value: Value
    let position: TextPosition
}

/// Reads one JSON object key by key and collects all faults instead of stopping at the first. `null` counts as absent.
struct DescriptionReader {
    /// Dotted path of this object; empty for the root.
    let path: String
    let position: TextPosition
    private(set) var faults: [DescriptionFault] = []
    private let members: [JSONValue.Member]
    private(set) var keys = DescriptionKeys()
    /// The most list elements whose keys are kept: garbage may contain very many.
    static let longestList = 64
    private var knownNames: [String] = []
    /// Names known in the objects below, or elsewhere.
    private var namesBelow: [String] = []
    private var acceptsAnyName = false
    /// Whether the file holds secrets, one of which may have been written in place of a name.
    private let isConfidential: Bool

    /// - Returns: `nil`, with a fault, if `value` is not an object.
    init?(
        _ value: JSONValue, path: String, isConfidential: Bool, example: String, faults: inout [DescriptionFault]
    ) {
        guard let members = value.members else {
            faults.append(
                DescriptionFault(
                    kind: .wrongType, keyPath: path, position: value.position,
                    problem: "must be an object in curly brackets, not \(value.kind)", example: example))
            return nil
        }
        self.path = path
        self.isConfidential = isConfidential
        self.members = members
        position = value.position
        keys.found(path, at: value.position)
    }

    /// All names known so far in the file.
    var allNames: [String] { knownNames + namesBelow }

    /// The object's own names, without duplicates and in order, for an object whose keys are free. None of them is
    /// reported as unknown.
    var names: [String] {
        mutating get {
            acceptsAnyName = true
            // Garbage may contain thousands.
            return members.prefix(Self.longestList).reduce(into: []) { if !$0.contains($1.name) { $0.append($1.name) } }
        }
    }

    mutating func reportSelf(_ problem: String, example: String) {
        faults.append(
            DescriptionFault(
                kind: .invalidValue, keyPath: path, position: position, problem: problem, example: example))
    }

    /// Whether the key is present with a value other than `null`.
    func has(_ name: String) -> Bool { member(name) != nil }

    /// Position of the key's value, even if it is `null`; `nil` if the key is absent.
    func mention(of name: String) -> TextPosition? { members.first { $0.name == name }?.value.position }

    /// Whether any key occurs twice, so that its meaning is unclear.
    var isAmbiguous: Bool { Set(members.map(\.name)).count < members.count }

    /// Position of the first key that has not been read so far.
    var firstUnknownPosition: TextPosition? { members.first { !knownNames.contains($0.name) }?.namePosition }

    /// The kind of the key's value, as named in messages; `nil` if absent.
    func kind(of name: String) -> String? { member(name)?.kind }

    /// Marks keys as known although nothing here reads them.
    mutating func accept(_ names: String...) { accept(names: names) }
    mutating func accept(names: [String]) { knownNames += names }

    /// Names that are known, but not here: they are reported if found.
    mutating func recognize(names: [String]) { namesBelow += names }

    /// Reports a key that belongs elsewhere and is ignored here.
    /// - Parameter place: where it belongs.
    mutating func redirect(_ name: String, to place: String, example: String) {
        guard let member = members.first(where: { $0.name == name }) else { return }
        accept(name)
        report(
            .unknownKey, name, at: member.namePosition, "is unknown here and ignored; it belongs \(place)",
            example: example)
    }

    /// An object that is not used, with texts under arbitrary names.
    mutating func objectOfTexts(_ name: String, example: String) {
        _ = object(name, example: example) { $0.checkTexts(example: example) }
    }

    /// Checks that all values are texts. Their names are not shown, since one of them may be a secret.
    private mutating func checkTexts(example: String) {
        acceptsAnyName = true
        let others = members.lazy.map(\.value).filter { value in
            switch value.content {
            case .string, .null: false
            default: true
            }
        }
        // Garbage may contain thousands.
        for value in others.prefix(Self.longestList) {
            faults.append(
                DescriptionFault(
                    kind: .wrongType, keyPath: path, position: value.position,
                    problem: "must contain only text in double quotes, contains \(value.kind)", example: example))
        }
    }

    /// Reads an object below this one; its faults are added to this one's.
    mutating func object<Result>(
        _ name: String, required: Bool = false, example: String, _ read: (inout DescriptionReader) -> Result?
    ) -> Result? {
        guard let value = value(name, required: required, example: example),
            var reader = DescriptionReader(
                value, path: keyPath(name), isConfidential: isConfidential, example: example, faults: &faults)
        else { return nil }
        let result = read(&reader)
        take(reader)
        return result
    }

    /// Reads the objects of a list; their faults are added to this one's.
    mutating func objects<Result>(
        _ name: String, example: String, _ read: (inout DescriptionReader) -> Result?
    ) -> [Result]? {
        elements(name, example: example)?.enumerated().compactMap { index, element in
            let path = keyPath("\(name)[\(index)]")
            guard
                var reader = DescriptionReader(
                    element, path: path, isConfidential: isConfidential, example: example, faults: &faults)
            else { return nil }
            let result = read(&reader)
            take(reader, withKeys: index < Self.longestList)
            return result
        }
    }

    private mutating func take(_ below: DescriptionReader, withKeys: Bool = true) {
        faults += below.finished()
        if withKeys { keys.take(below.keys) }
        for name in below.allNames where !namesBelow.contains(name) { namesBelow.append(name) }
    }

    /// The text for a value out of range; empty if it may be a secret.
    func shown(_ number: String) -> String { isConfidential ? "" : ", not \(number)" }

    mutating func elements(_ name: String, example: String) -> [JSONValue]? {
        guard let value = value(name, required: false, example: example) else { return nil }
        guard case .array(let elements) = value.content else {
            report(
                .wrongType, name, at: value, "must be a list in square brackets, not \(value.kind)", example: example)
            return nil
        }
        return elements
    }

    /// Adds a fault about a key of this object, at its value, or at the object if the key is absent.
    mutating func report(
        _ kind: DescriptionFault.Kind, _ name: String, at position: TextPosition? = nil, _ problem: String,
        example: String? = nil
    ) {
        faults.append(
            DescriptionFault(
                kind: kind, keyPath: keyPath(name), position: position ?? member(name)?.position ?? self.position,
                problem: problem, example: example))
    }

    /// All faults, including unknown keys. Call this once, after all keys have been read.
    func finished() -> [DescriptionFault] {
        // Each name costs a search, and garbage may contain thousands.
        let namedUnknownKeys = 20
        let unknown = acceptsAnyName ? [] : members.filter { !knownNames.contains($0.name) }
        var all = faults + unknown.prefix(namedUnknownKeys).map(unknownKey)
        if unknown.count > namedUnknownKeys {
            all.append(
                DescriptionFault(
                    kind: .unknownKey, keyPath: path, position: unknown[namedUnknownKeys].namePosition,
                    problem: "\(unknown.count - namedUnknownKeys) more unknown keys from here on, ignored"))
        }
        return all
    }

    private func unknownKey(_ member: JSONValue.Member) -> DescriptionFault {
        let meant = NameSuggestion.nearest(to: member.name, among: knownNames)
        let isKnownElsewhere = namesBelow.contains(member.name)
        guard meant != nil || !isConfidential || isKnownElsewhere else {
            return DescriptionFault(
                kind: .unknownKey, keyPath: path, position: member.namePosition,
                problem: "unknown key, ignored")
        }
        return DescriptionFault(
            kind: .unknownKey, keyPath: keyPath(isKnownElsewhere ? member.name : JSONValue.shownName(member.name)),
            position: member.namePosition,
            problem: "unknown key, ignored" + (meant.map { "; did you mean \"\($0)\"?" } ?? ""),
            example: meant.flatMap { keys.example(of: keyPath($0)) })
    }

    mutating func report(
        _ kind: DescriptionFault.Kind, _ name: String, at value: JSONValue, _ problem: String, example: String
    ) {
        report(kind, name, at: value.position, problem, example: example)
    }

    /// The value of a key, which counts as known from now on. If it is absent: `nil`, with a fault if it is required.
    mutating func value(_ name: String, required: Bool, example: String) -> JSONValue? {
        knownNames.append(name)
        keys.looked(for: keyPath(name), example: example)
        if let value = member(name) {
            keys.found(keyPath(name), at: value.position)
            return value
        }
        if required {
            let null = members.first { $0.name == name }
            report(.missing, name, at: null?.value.position, "is missing", example: example)
        }
        return nil
    }

    private func member(_ name: String) -> JSONValue? {
        guard let value = members.first(where: { $0.name == name })?.value else { return nil }
        if case .null = value.content { return nil }
        return value
    }

    private func keyPath(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
}
