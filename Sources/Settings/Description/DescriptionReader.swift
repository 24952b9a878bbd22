import Media

/// A value together with where it stands.
struct Located<Value> {
    let value: Value
    let position: TextPosition
}

/// Reads one JSON object key by key and collects everything that is wrong with it, instead of
/// stopping at the first fault. `null` counts as absent.
struct DescriptionReader {
    /// Dotted path of this object; empty for the root.
    let path: String
    let position: TextPosition
    private(set) var faults: [DescriptionFault] = []
    private let members: [JSONValue.Member]
    private(set) var keys = DescriptionKeys()
    /// Of how many elements the keys are kept; garbage may hold very many.
    static let longestList = 64
    private var knownNames: [String] = []
    /// Names that are known in the objects below, or elsewhere.
    private var namesBelow: [String] = []
    private var acceptsAnyName = false
    /// Whether the file holds secrets, one of which may have slipped into a name's place.
    private let isConfidential: Bool

    /// - Returns: `nil` and a fault when `value` is no object.
    init?(
        _ value: JSONValue, path: String, isConfidential: Bool, example: String, faults: inout [DescriptionFault]
    ) {
        guard let members = value.members else {
            faults.append(
                DescriptionFault(
                    kind: .wrongType, keyPath: path, position: value.position,
                    problem: "must be an object in curly brackets, is \(value.kind)", example: example))
            return nil
        }
        self.path = path
        self.isConfidential = isConfidential
        self.members = members
        position = value.position
        keys.found(path, at: value.position)
    }

    /// Every name that is known in the file, as far as it has been read.
    var allNames: [String] { knownNames + namesBelow }

    /// Those of the object, each once, in its order, for an object whose keys are a person's own. Nothing of it is unknown then.
    var names: [String] {
        mutating get {
            acceptsAnyName = true
            // Garbage may hold thousands.
            return members.prefix(Self.longestList).reduce(into: []) { if !$0.contains($1.name) { $0.append($1.name) } }
        }
    }

    /// Adds a fault about this object as a whole.
    mutating func reportSelf(_ problem: String, example: String) {
        faults.append(
            DescriptionFault(
                kind: .invalidValue, keyPath: path, position: position, problem: problem, example: example))
    }

    /// Whether the key is there with a value other than `null`.
    func has(_ name: String) -> Bool { member(name) != nil }

    /// Where the key's value stands, be it `null`; `nil` when the key is not there.
    func mention(of name: String) -> TextPosition? { members.first { $0.name == name }?.value.position }

    /// Whether any key is there twice, so that nobody knows which one is meant.
    var isAmbiguous: Bool { Set(members.map(\.name)).count < members.count }

    /// Where the first key stands that has not been read so far.
    var firstUnknownPosition: TextPosition? { members.first { !knownNames.contains($0.name) }?.namePosition }

    /// What the key's value is, in the words of messages; `nil` when it is absent.
    func kind(of name: String) -> String? { member(name)?.kind }

    /// Marks keys as known although nothing here reads them.
    mutating func accept(_ names: String...) { accept(names: names) }
    mutating func accept(names: [String]) { knownNames += names }

    /// Names that mean something, though not here: they are reported when they are found.
    mutating func recognize(names: [String]) { namesBelow += names }

    /// Reports a key that means something in another place, and is ignored in this one.
    /// - Parameter place: where it belongs.
    mutating func redirect(_ name: String, to place: String, example: String) {
        guard let member = members.first(where: { $0.name == name }) else { return }
        accept(name)
        report(
            .unknownKey, name, at: member.namePosition, "is not known here and ignored; it belongs \(place)",
            example: example)
    }

    /// An object that nothing here needs, with texts under whatever names.
    mutating func objectOfTexts(_ name: String, example: String) {
        _ = object(name, example: example) { $0.checkTexts(example: example) }
    }

    /// All values are texts. Their names are not shown; one of them may be a secret.
    private mutating func checkTexts(example: String) {
        acceptsAnyName = true
        let others = members.lazy.map(\.value).filter { value in
            switch value.content {
            case .string, .null: false
            default: true
            }
        }
        // Garbage may hold thousands.
        for value in others.prefix(Self.longestList) {
            faults.append(
                DescriptionFault(
                    kind: .wrongType, keyPath: path, position: value.position,
                    problem: "must hold text in double quotes only, here is \(value.kind)", example: example))
        }
    }

    /// An object below this one; its faults join this one's.
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

    /// The objects of a list; each one's faults join this one's.
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

    /// A value that is out of its range, unless it may be a secret.
    func shown(_ number: String) -> String { isConfidential ? "" : ", is \(number)" }

    mutating func elements(_ name: String, example: String) -> [JSONValue]? {
        guard let value = value(name, required: false, example: example) else { return nil }
        guard case .array(let elements) = value.content else {
            report(.wrongType, name, at: value, "must be a list in square brackets, is \(value.kind)", example: example)
            return nil
        }
        return elements
    }

    /// Adds a fault about a key of this object, at its value or, for an absent one, at the object.
    mutating func report(
        _ kind: DescriptionFault.Kind, _ name: String, at position: TextPosition? = nil, _ problem: String,
        example: String? = nil
    ) {
        faults.append(
            DescriptionFault(
                kind: kind, keyPath: keyPath(name), position: position ?? member(name)?.position ?? self.position,
                problem: problem, example: example))
    }

    /// Every fault, the unknown keys included. Call once, when all keys have been read.
    func finished() -> [DescriptionFault] {
        // Each costs a search; garbage may hold thousands.
        let namedUnknownKeys = 20
        let unknown = acceptsAnyName ? [] : members.filter { !knownNames.contains($0.name) }
        var all = faults + unknown.prefix(namedUnknownKeys).map(unknownKey)
        if unknown.count > namedUnknownKeys {
            all.append(
                DescriptionFault(
                    kind: .unknownKey, keyPath: path, position: unknown[namedUnknownKeys].namePosition,
                    problem: "\(unknown.count - namedUnknownKeys) more unknown keys from here on are ignored"))
        }
        return all
    }

    private func unknownKey(_ member: JSONValue.Member) -> DescriptionFault {
        let meant = NameSuggestion.nearest(to: member.name, among: knownNames)
        let isKnownElsewhere = namesBelow.contains(member.name)
        guard meant != nil || !isConfidential || isKnownElsewhere else {
            return DescriptionFault(
                kind: .unknownKey, keyPath: path, position: member.namePosition,
                problem: "unknown key; it is ignored")
        }
        return DescriptionFault(
            kind: .unknownKey, keyPath: keyPath(isKnownElsewhere ? member.name : JSONValue.shownName(member.name)),
            position: member.namePosition,
            problem: "is not known and ignored" + (meant.map { "; did you mean \"\($0)\"?" } ?? ""),
            example: meant.flatMap { keys.example(of: keyPath($0)) })
    }

    mutating func report(
        _ kind: DescriptionFault.Kind, _ name: String, at value: JSONValue, _ problem: String, example: String
    ) {
        report(kind, name, at: value.position, problem, example: example)
    }

    /// What the key has, which is known from now on; `nil`, and a fault where it is required, when that is nothing.
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
