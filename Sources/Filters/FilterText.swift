import Media

/// How filters are written on the command line, in commands and in events: one rule for all of them.
///
/// Commas or blanks stand between the name and each `KEY=VALUE`. A piece without `=` belongs to the value before it, with
/// what stands between them: `text=Studio {time}`, `position=0.5,0.1`. Quotes around a value, or around `KEY=VALUE`, keep
/// commas, blanks and `=` together (`QuotedText`). Elsewhere `\` before a comma or a quote makes it a part of the value;
/// backslashes that stand just before one of these are written twice, all others once.
enum FilterText {
    /// - Returns: the name, then `KEY=VALUE` or `off` each.
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

    /// The value as it is written behind `KEY=`.
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

    /// The text before the next separator, without its quotes and without the backslashes that escape.
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
