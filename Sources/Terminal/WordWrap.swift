import LinuxIO

/// Wraps lines at words, since a terminal wraps them anywhere.
public enum WordWrap {
    /// Text wrapped for the terminal behind a descriptor; unchanged if it is not a terminal.
    public static func fitted(_ text: String, to descriptor: Int32, indent: Int? = nil) -> String {
        guard let size = TerminalSize(of: descriptor) else { return text }
        return wrapped(text, columns: size.columns, indent: indent)
    }

    /// - Parameters:
    ///   - columns: characters per line; a longer word gets a line of its own.
    ///   - indent: of continuation lines; by default they align with their column of a table.
    public static func wrapped(_ text: String, columns: Int, indent: Int? = nil) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { line in
            guard line.count > columns else { return String(line) }
            return broken(line, columns: columns, indent: min(indent ?? columnStart(line), columns / 2))
        }.joined(separator: "\n")
    }

    /// The appliance's text, wrapped for the terminal behind a descriptor; unchanged if it is not a terminal.
    public static func report(_ text: String, to descriptor: Int32) -> String {
        guard let size = TerminalSize(of: descriptor) else { return text }
        return report(text, columns: size.columns)
    }

    /// Continuation lines align with the text after a label (`detail:   text`) or a time; for any other line they are
    /// indented by two columns.
    static func report(_ text: String, columns: Int) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { wrapped(String($0), columns: columns, indent: reportIndent($0)) }.joined(separator: "\n")
    }

    private static func reportIndent(_ line: Substring) -> Int {
        let first = line.prefix { $0 != " " }
        let spaces = line.dropFirst(first.count).prefix { $0 == " " }.count
        if first.hasSuffix(":"), spaces >= 2 { return first.count + spaces }
        // A date, or seconds since power-on.
        let isTime = first.first == "+" || first.first?.isNumber == true
        return isTime ? first.count + spaces : 2
    }

    private static func broken(_ line: Substring, columns: Int, indent: Int) -> String {
        var lines: [String] = []
        var rest = line[...]
        while rest.count > (lines.isEmpty ? columns : columns - indent) {
            let room = lines.isEmpty ? columns : columns - indent
            let start = lines.isEmpty ? min(indent, room - 1) : 0
            // The space may be directly after the last column.
            let window = rest.prefix(room + 1)
            let searched = window.dropFirst(start)
            guard let space = searched.lastIndex(of: " ") ?? rest.dropFirst(room + 1).firstIndex(of: " ") else { break }
            lines.append(String(rest[..<space]))
            rest = rest[rest.index(after: space)...].drop { $0 == " " }
        }
        if !rest.isEmpty { lines.append(String(rest)) }
        return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
    }

    /// The start of the last column in a table's row, which is after the last two consecutive spaces.
    private static func columnStart(_ line: Substring) -> Int {
        var (start, spaces) = (0, 0)
        for (index, character) in line.enumerated() {
            if character == " " {
                spaces += 1
            } else {
                if spaces == index || spaces >= 2 { start = index }
                spaces = 0
            }
        }
        return start
    }
}
