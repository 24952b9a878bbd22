import Media

/// A typed line, parsed with the table of commands.
public struct TypedCommand: Hashable, Sendable {
    public let name: CommandName
    /// The words after the name; quotes group words and are removed. Empty if the command takes one text.
    public let arguments: [String]
    /// Everything after the name as typed, without blanks at either end.
    public let text: String

    /// - Returns: `nil` for a line without words.
    /// - Throws: the answer, if the surface does not have the command or the arguments are wrong.
    public init?(_ line: String, on surface: CommandSurface) throws(CommandError) {
        let line = Substring(line).unicodeScalars.trimmingBlanks
        guard !line.isEmpty else { return nil }
        let word = line.prefix { !$0.isBlank }
        guard let name = CommandName(rawValue: String(word).lowercased()) else {
            throw .unknown(String(word), on: surface)
        }
        let forms = CommandDescription.of(name).forms(on: surface)
        guard !forms.isEmpty else { throw .unavailable(name) }
        let rest = line[word.endIndex...].trimmingBlanks
        self.name = name
        text = String(rest)
        if forms.contains(where: \.isText) {
            guard !rest.isEmpty else { throw .usage(name, on: surface, meant: nil) }
            arguments = []
        } else {
            let typed = Self.words(of: rest)
            guard let words = typed, forms.contains(where: { $0.takes(words) }) else {
                throw .usage(name, on: surface, meant: typed.flatMap { Self.choice(nearestTo: $0, of: forms) })
            }
            arguments = words
        }
    }

    /// Joins the words into a line that `init` splits into the same words.
    public static func line(_ words: [String]) -> String {
        words.map { word in
            let isPlain = !word.isEmpty && !word.unicodeScalars.contains(where: \.isBlank)
            let isOpen = word.unicodeScalars.first.map(QuotedText.isQuote) ?? false
            return isPlain && !isOpen ? word : QuotedText.quoting(word)
        }.joined(separator: " ")
    }

    /// The literal word of these forms that is closest to what was typed.
    private static func choice(nearestTo words: [String], of forms: [CommandForm]) -> String? {
        let choices = forms.flatMap(\.choices)
        let typed = words.first { !choices.contains($0.lowercased()) } ?? ""
        return NameSuggestion.nearest(to: typed, among: choices)
    }

    /// Words separated by blanks. A word that starts with a quote ends at the next such quote.
    /// - Returns: `nil` if a quote is not closed or something follows it.
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
    case unavailable(CommandName)
    case usage(CommandName, on: CommandSurface, meant: String?)
}

extension CommandError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknown(let typed, let surface):
            let names = CommandDescription.all(on: surface).map(\.name.rawValue)
            let meant = NameSuggestion.question(for: typed, among: names) ?? ";"
            return "unknown command \(quoted(typed.prefix(60)))\(meant) see help"
        case .unavailable(let name): return CommandDescription.of(name).absence
        case .usage(let name, let surface, let meant):
            let row = CommandDescription.of(name)
            let usages = row.usages(on: surface).joined(separator: ", or ")
            let question = meant.map { "; did you mean \($0)?" } ?? ""
            return "usage: \(usages)\(row.ranges(on: surface))\(question)"
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
