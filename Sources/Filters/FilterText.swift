import Media

/// The syntax of filters on the command line, in commands and in events.
///
/// Commas or blanks separate the name and each `KEY=VALUE`. A piece without `=` belongs to the preceding value,
/// including the separator: `text=Studio {time}`, `position=0.5,0.1`. Quotes around a value or around `KEY=VALUE`
/// protect commas, blanks and `=` (`QuotedText`). Elsewhere, `\` before a comma or a quote makes it part of the value.
/// Backslashes directly before one of these are doubled; all others are literal.
enum FilterText {
    /// - Returns: the name, then each `KEY=VALUE` or `off`.
    /// - Throws: `openQuote`.
    static func words(of text: String) throws(FilterError) -> [String] {
        var words: [String] = []
        var rest = Substring(text).unicodeScalars.trimmingBlanks
        var separator = ""
        repeat {
            let piece = try takePiece(&rest)
            if piece.hasMark || words.count < 2 {
                words.append(piece.text)
            } else {
                words[words.count - 1] += separator + piece.text
            }
            separator = takeSeparator(&rest) ?? ""
        } while !separator.isEmpty
        return words
    }

    /// The value as written after `KEY=`.
    static func written(_ value: String) -> String {
        let isPlain =
            value.unicodeScalars.last != "\\"
            && value.unicodeScalars.allSatisfy { !$0.isSeparator && !QuotedText.isQuote($0) }
        return isPlain ? value : QuotedText.quoting(value)
    }

    /// Blanks with at most one comma among them; `nil` at the end.
    private static func takeSeparator(_ rest: inout Substring.UnicodeScalarView) -> String? {
        guard !rest.isEmpty else { return nil }
        var end = rest.drop(while: \.isBlank)
        if end.first == "," { end = end.dropFirst().drop(while: \.isBlank) }
        defer { rest = end }
        return String(rest[..<end.startIndex])
    }

    /// The text before the next separator, without quotes and escaping backslashes.
    private static func takePiece(
        _ rest: inout Substring.UnicodeScalarView
    ) throws(FilterError) -> (text: String, hasMark: Bool) {
        var piece = String.UnicodeScalarView()
        var hasMark = false
        var backslashes = 0
        var mayOpen = true
        while let scalar = rest.first {
            if mayOpen, QuotedText.isQuote(scalar) {
                piece.append(contentsOf: try takeQuoted(&rest).unicodeScalars)
                return (String(piece), hasMark || piece.contains("="))
            }
            if scalar.isSeparator, scalar != "," || backslashes % 2 == 0 {
                if scalar == "," { piece.removeLast(backslashes / 2) }
                break
            }
            rest.removeFirst()
            if scalar == "," || QuotedText.isQuote(scalar) { piece.removeLast((backslashes + 1) / 2) }
            piece.append(scalar)
            backslashes = scalar == "\\" ? backslashes + 1 : 0
            mayOpen = scalar == "=" && !hasMark
            hasMark = hasMark || scalar == "="
        }
        return (String(piece), hasMark)
    }

    private static func takeQuoted(_ rest: inout Substring.UnicodeScalarView) throws(FilterError) -> String {
        guard let (content, behind) = QuotedText.content(of: rest), behind.first?.isSeparator ?? true else {
            throw .openQuote(String(rest.prefix(60)))
        }
        rest = behind
        return content
    }
}

extension Unicode.Scalar {
    fileprivate var isBlank: Bool { self == " " || self == "\t" || self == "\r" }
    fileprivate var isSeparator: Bool { self == "," || isBlank }
}

extension Substring.UnicodeScalarView {
    fileprivate var trimmingBlanks: Substring.UnicodeScalarView {
        let start = drop(while: \.isBlank)
        guard let last = start.lastIndex(where: { !$0.isBlank }) else { return start[start.endIndex...] }
        return start[...last]
    }
}
