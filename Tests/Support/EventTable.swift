import LinuxIO
import Testing

/// The contents of docs/reference/events.md about a command's events.
public struct EventTable {
    public struct Row {
        /// The event codes of the row, in the order of their names; `nil` if described in words.
        public let codes: [Int?]
        public let names: [String]
        /// In order.
        public let fields: [String]
        public let optionalFields: Set<String>

        public func code(of name: String) -> Int? {
            guard let index = names.firstIndex(of: name) else { return nil }
            return codes.count == 1 ? codes[0] : codes[index]
        }
    }

    public let rows: [Row]

    public var names: [String] { rows.flatMap(\.names) }

    /// - Parameter command: the heading of its section.
    public init(of command: String) throws {
        let checkout = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let path = "/\(checkout)/docs/reference/events.md"
        let text = String(decoding: try readFile(path, limit: 1 << 20), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let heading = try #require(lines.firstIndex { $0 == "## \(command)" })
        let section = lines[(heading + 1)...].prefix { !$0.hasPrefix("## ") }
        rows = section.filter { $0.hasPrefix("|") }.dropFirst(2).map { Row($0.split(separator: "|")) }
    }

    public func row(of name: String) throws -> Row {
        try #require(rows.first { $0.names.contains(name) }, "\(name) is not in the table")
    }
}

extension EventTable.Row {
    /// - Parameter cells: code, names, fields, and when it is reported.
    fileprivate init(_ cells: [Substring]) {
        let words = cells[0].split(separator: " ").map { Int($0) }
        if words.count == 3, let first = words[0], let last = words[2] {
            codes = Array(first...last)
        } else {
            codes = words.count == 1 ? words : [nil]
        }
        names = Self.quoted(cells[1]).map(\.name)
        let all = Self.quoted(cells[2])
        fields = all.map(\.name)
        optionalFields = Set(all.filter(\.isOptional).map(\.name))
    }

    /// The words in backticks, and whether a question mark follows.
    private static func quoted(_ text: Substring) -> [(name: String, isOptional: Bool)] {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return stride(from: 1, to: parts.count - 1, by: 2).map { (String(parts[$0]), parts[$0 + 1].hasPrefix("?")) }
    }
}
