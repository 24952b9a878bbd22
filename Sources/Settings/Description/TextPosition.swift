/// A position in a text file, as shown by editors.
public struct TextPosition: Hashable, Comparable, Sendable {
    /// From 1; LF, CR LF and CR each end a line.
    public let line: Int
    /// From 1, in Unicode scalars. A tab counts as one; a byte order mark does not count.
    public let column: Int

    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static let start = TextPosition(line: 1, column: 1)

    public static func < (left: Self, right: Self) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

extension TextPosition: CustomStringConvertible {
    public var description: String { "\(line):\(column)" }
}
