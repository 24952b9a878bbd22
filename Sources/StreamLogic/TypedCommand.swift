import Media

/// A line that somebody typed, taken apart by the table of commands.
public struct TypedCommand: Hashable, Sendable {
    public let name: CommandName
    /// The words behind the name; quotes group words and are removed. Empty for a command whose arguments are one text.
    public let arguments: [String]
    /// All that stands behind the name, as it was typed, without blanks at either end.
    public let text: String

    /// - Returns: `nil` for a line without words.
    /// - Throws: what to answer, when the surface does not have the command or the arguments are wrong.
    public init?(_ line: String, on surface: CommandSurface) throws(CommandError) {
        let line = Substring(line).unicodeScalars.trimmingBlanks
        guard !line.isEmpty else { return nil }
        let typed = line.prefix { !$0.isBlank }
        guard let name = CommandName(rawValue: String(typed).lowercased()) else {
            throw .unknown(String(typed), on: surface)
        }
        let forms = CommandDescription.of(name).forms(on: surface)
        guard !forms.isEmpty else { throw .unavailable(name) }
        let rest = line[typed.endIndex...].trimmingBlanks
        self.name = name
        text = String(rest)
        if forms.contains(where: \.isText) {
            guard !rest.isEmpty else { throw .usage(name, on: surface) }
            arguments = []
        } else {
            guard let words = Self.words(of: rest), forms.contains(where: { $0.takes(words) }) else {
                throw .usage(name, on: surface)
            }
            arguments = words
        }
    }

    /// The words as a line that `init` takes apart again.
    public static func line(_ words: [String]) -> String {
        words.map { word in
            let isPlain = !word.isEmpty && !word.unicodeScalars.contains(where: \.isBlank)
            let isOpen = word.unicodeScalars.first.map(QuotedText.isQuote) ?? false
            return isPlain && !isOpen ? word : QuotedText.quoting(word)
        }.joined(separator: " ")
    }

    /// Words with blanks between them. A word that starts with a quote ends with the next one like it.
    /// - Returns: `nil` when a quote is not closed, or something follows it.
    private static func words(of text: Substring.UnicodeScalarView) -> [String]? {
        var words: [String] = []
        var rest = text
        while let first = rest.first {
            if QuotedText.isQuote(first) {
                guard let (word, behind) = QuotedText.content(of: rest), behind.first?.isBlank ?? true else {
                    return nil
                }
                words.append(word)
                rest = behind.trimmingBlanks
            } else {
                let word = rest.prefix { !$0.isBlank }
                words.append(String(word))
                rest = rest[word.endIndex...].trimmingBlanks
            }
        }
        return words
    }
}

/// Why a line is not a command of this surface.
public enum CommandError: Error, Hashable, Sendable {
    case unknown(String, on: CommandSurface)
    /// The surface does not have it.
    case unavailable(CommandName)
    /// The arguments are wrong.
    case usage(CommandName, on: CommandSurface)
}

extension CommandError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknown(let typed, let surface):
            if let hint = CommandDescription.formerNames[typed.lowercased()] { return hint }
            let names = CommandDescription.all(on: surface).map(\.name.rawValue)
            let meant = NameSuggestion.question(for: typed, among: names) ?? ";"
            return "there is no command \(quoted(typed.prefix(60)))\(meant) help lists them"
        case .unavailable(let name): return CommandDescription.of(name).absence
        case .usage(let name, let surface):
            return "usage: " + CommandDescription.of(name).usages(on: surface).joined(separator: ", or ")
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isBlank: Bool { self == " " || self == "\t" || self == "\r" }
}

extension Substring.UnicodeScalarView {
    fileprivate var trimmingBlanks: Substring.UnicodeScalarView {
        let start = drop(while: \.isBlank)
        guard let last = start.lastIndex(where: { !$0.isBlank }) else { return start[start.endIndex...] }
        return start[...last]
    }
}
