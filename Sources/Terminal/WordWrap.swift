import LinuxIO

/// Breaks lines at words. A terminal breaks them anywhere.
public enum WordWrap {
    /// Text as the terminal behind a descriptor has room for it; unchanged where there is none.
    public static func fitted(_ text: String, to descriptor: Int32, indent: Int? = nil) -> String {
        guard let size = TerminalSize(of: descriptor) else { return text }
        return wrapped(text, columns: size.columns, indent: indent)
    }

    /// - Parameters:
    ///   - columns: characters a line; a longer word keeps its line to itself.
    ///   - indent: of the lines that a long one is continued with; without it, they go on below their column of a table.
    public static func wrapped(_ text: String, columns: Int, indent: Int? = nil) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { line in
            guard line.count > columns else { return String(line) }
            return broken(line, columns: columns, indent: min(indent ?? columnStart(line), columns / 2))
        }.joined(separator: "\n")
    }

    /// What the appliance says, broken for the terminal behind a descriptor; unchanged if that is no terminal.
    public static func report(_ text: String, to descriptor: Int32) -> String {
        guard let size = TerminalSize(of: descriptor) else { return text }
        return report(text, columns: size.columns)
    }

    /// A line with a label (`detail:   text`) or a time continues below its text, and any other one two columns to the
    /// right.
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
            // The space may stand just behind the last column.
            let window = rest.prefix(room + 1)
            let searched = window.dropFirst(start)
            guard let space = searched.lastIndex(of: " ") ?? rest.dropFirst(room + 1).firstIndex(of: " ") else { break }
            lines.append(String(rest[..<space]))
            rest = rest[rest.index(after: space)...].drop { $0 == " " }
        }
        if !rest.isEmpty { lines.append(String(rest)) }
        return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
    }

    /// Where the last column of a table's row starts: behind the last two spaces in a row.
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
