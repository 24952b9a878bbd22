/// Quoted text in commands and filters, with `"` or `'` around it. Blanks within the quotes do not separate words, and
/// `\` before that quote makes it part of the text. Backslashes directly before that quote are doubled; all others are
/// literal.
public enum QuotedText {
    public static func isQuote(_ scalar: Unicode.Scalar) -> Bool { scalar == "\"" || scalar == "'" }

    /// - Parameter text: starts with a quote.
    /// - Returns: the text within the quotes, and the rest after them; `nil` if the quote is not closed.
    public static func content(
        of text: Substring.UnicodeScalarView
    ) -> (content: String, rest: Substring.UnicodeScalarView)? {
        guard let quote = text.first, isQuote(quote) else { return nil }
        var content = String.UnicodeScalarView()
        var backslashes = 0
        var rest = text.dropFirst()
        while let scalar = rest.popFirst() {
            if scalar == quote {
                // Backslashes before the quote are doubled, so half of them remain.
                content.removeLast((backslashes + 1) / 2)
                guard backslashes % 2 == 1 else { return (String(content), rest) }
            }
            backslashes = scalar == "\\" ? backslashes + 1 : 0
            content.append(scalar)
        }
        return nil
    }

    /// The text in double quotes, in the form that `content(of:)` reads.
    public static func quoting(_ content: String) -> String {
        var text = "\"".unicodeScalars
        for scalar in content.unicodeScalars {
            if scalar == "\"" { text.append(contentsOf: backslashesAtEnd(of: text) + ["\\"]) }
            text.append(scalar)
        }
        text.append(contentsOf: backslashesAtEnd(of: text) + ["\""])
        return String(text)
    }

    private static func backslashesAtEnd(of text: String.UnicodeScalarView) -> [Unicode.Scalar] {
        Array(text.reversed().prefix { $0 == "\\" })
    }
}
