/// Several surfaces. (A `Set` would be hashed for each row whenever the table of commands is made, which each start does.)
public struct CommandSurfaces: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public init(_ surface: CommandSurface) {
        switch surface {
        case .console: self = .console
        case .socket: self = .socket
        case .publish: self = .publish
        case .page: self = .page
        }
    }

    static let console = CommandSurfaces(rawValue: 1)
    static let socket = CommandSurfaces(rawValue: 2)
    static let publish = CommandSurfaces(rawValue: 4)
    static let page = CommandSurfaces(rawValue: 8)
    /// The surfaces of `tallycam run`.
    static let appliance: CommandSurfaces = [.console, .socket, .page]
    static let everywhere: CommandSurfaces = [.appliance, .publish]
}

/// One way to write a command's arguments. People read its text, and typed words are matched against it: capitals stand
/// for any word, `a|b` for one of these, brackets for an optional part, and `...]` for an optional part that can be
/// repeated.
public struct CommandForm: Hashable, Sendable {
    /// Such as "NAME VALUE [NAME VALUE...]"; empty for a command without arguments.
    public let arguments: String
    public let summary: String
    public let surfaces: CommandSurfaces
    /// The rest of the line is one text with its own syntax: a filter.
    let isText: Bool

    init(_ arguments: String, _ summary: String, on surfaces: CommandSurfaces = .everywhere, isText: Bool = false) {
        self.arguments = arguments
        self.summary = summary
        self.surfaces = surfaces
        self.isText = isText
    }

    /// Ranges of whole numbers, by their placeholders in `arguments`.
    private static let numbers = [
        "N": 1...1000, "COUNT": 0...1000, "CODE": 10...99, "QUALITY": SnapshotRequest.qualities,
    ]

    /// The ranges of its numbers, for people.
    var ranges: [String] {
        arguments.split { " []".contains($0) }.map(String.init).compactMap { name in
            Self.numbers[name].map { "\(name) is \($0.lowerBound) to \($0.upperBound)" }
        }
    }

    /// All literal words.
    var choices: [String] {
        arguments.split { " []|".contains($0) }.map(String.init).filter { $0.lowercased() == $0 && $0 != "..." }
    }

    func takes(_ words: [String]) -> Bool { Self.match(Part.parts(of: arguments)[...], words[...]) }

    private enum Part {
        /// One of these words; any word if empty.
        case word([Substring])
        case number(ClosedRange<Int>)
        case optional([Part], isRepeated: Bool)

        static func parts(of text: String) -> [Part] {
            var parts: [Part] = []
            var optional: [Part]?
            for token in text.split(separator: " ") {
                if token.hasPrefix("[") { optional = [] }
                let name = token.drop { $0 == "[" }.prefix { $0 != "]" && $0 != "." }
                let part = CommandForm.numbers[String(name)].map(Part.number) ?? .word(choices(name))
                guard optional?.append(part) != nil else {
                    parts.append(part)
                    continue
                }
                guard token.hasSuffix("]") else { continue }
                parts.append(.optional(optional ?? [], isRepeated: token.hasSuffix("...]")))
                optional = nil
            }
            return parts
        }

        private static func choices(_ text: Substring) -> [Substring] {
            let choices = text.split(separator: "|")
            return choices.contains { $0.uppercased() == $0 } ? [] : choices
        }
    }

    private static func match(_ parts: ArraySlice<Part>, _ words: ArraySlice<String>) -> Bool {
        guard let part = parts.first else { return words.isEmpty }
        let rest = parts.dropFirst()
        switch part {
        case .word(let choices):
            guard let word = words.first, choices.isEmpty || choices.contains(Substring(word.lowercased())) else {
                return false
            }
            return match(rest, words.dropFirst())
        case .number(let range):
            guard let number = words.first.flatMap({ Int($0) }), range.contains(number) else { return false }
            return match(rest, words.dropFirst())
        case .optional(let group, let isRepeated):
            if match(rest, words) { return true }
            guard !words.isEmpty else { return false }
            var taken = group
            if isRepeated { taken.append(part) }
            taken += rest
            return match(taken[...], words)
        }
    }
}
