/// Text in quotes, as commands and filters have it: `"` or `'` around it. Within the quotes nothing separates words; `\` before
/// that quote makes it a part of the text. Backslashes that stand just before that quote are written twice, all others once.
public enum QuotedText {
    public static func isQuote(_ scalar: Unicode.Scalar) -> Bool { scalar == "\"" || scalar == "'" }

    /// - Parameter text: starts with a quote.
    /// - Returns: the text within the quotes, and what stands behind them; `nil` when the quote is not closed.
    public static func content(
        of text: Substring.UnicodeScalarView
    ) -> (content: String, rest: Substring.UnicodeScalarView)? {
        guard let quote = text.first, isQuote(quote) else { return nil }
        var content = String.UnicodeScalarView()
        var backslashes = 0
        var rest = text.dropFirst()
        while let scalar = rest.popFirst() {
            if scalar == quote {
                // Each backslash before the quote stands for half of one.
                content.removeLast((backslashes + 1) / 2)
                guard backslashes % 2 == 1 else { return (String(content), rest) }
            }
            backslashes = scalar == "\\" ? backslashes + 1 : 0
            content.append(scalar)
        }
        return nil
    }

    /// The text in `"`, as `content(of:)` reads it.
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
