/// Edits one line on a simple terminal: typed bytes in, bytes to write out.
///
/// Left, right, home, end, backspace, delete; Ctrl-A, -E, -B, -F, -U (to the start), -K (to the end), -W (a word), -C
/// (clear the line), -L (redraw); up and down for the last lines.
public struct LineEditor: Sendable {
    public enum Action: Hashable, Sendable {
        case write([UInt8])
        /// A line was completed.
        case submit(String)
    }

    private enum Escape {
        case none
        case escape
        /// Inside `ESC [` or `ESC O`.
        case sequence(parameters: [UInt8])
    }

    /// Commands are shorter than this.
    private static let longestLine = 200
    private static let historySize = 20

    private let prompt: [UInt8]
    private var line: [UInt8] = []
    private var cursor = 0
    private var escape = Escape.none
    private var history: [[UInt8]] = []
    /// The index of the history entry shown; equals the history's count for the line being typed.
    private var historyIndex = 0
    private var typedLine: [UInt8] = []
    private var lastWasReturn = false

    public init(prompt: String) { self.prompt = Array(prompt.utf8) }

    /// The prompt and the present line on a fresh line: at the start, and after other output.
    public var drawing: [UInt8] {
        var bytes = erasure + prompt + line
        let back = line.count - cursor
        if back > 0 { bytes += "\u{1B}[\(back)D".utf8 }
        return bytes
    }

    /// Removes prompt and line from the screen before other output.
    public var erasure: [UInt8] { Array("\r\u{1B}[K".utf8) }

    public mutating func received(_ bytes: [UInt8]) -> [Action] {
        var actions: [Action] = []
        for byte in bytes { actions += received(byte) }
        return actions
    }

    private mutating func received(_ byte: UInt8) -> [Action] {
        defer { lastWasReturn = byte == 0x0D }
        switch escape {
        case .escape:
            escape = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O") ? .sequence(parameters: []) : .none
            return []
        case .sequence(let parameters):
            if (0x20..<0x40).contains(byte), parameters.count < 8 {
                escape = .sequence(parameters: parameters + [byte])
                return []
            }
            escape = .none
            return sequenceEnded(byte, parameters)
        case .none: break
        }
        switch byte {
        case 0x1B:
            escape = .escape
            return []
        // CR LF is a single line end.
        case 0x0A where lastWasReturn: return []
        case 0x0D, 0x0A: return submitted()
        case 0x20..<0x7F: return inserted(byte)
        default: return controlReceived(byte)
        }
    }

    private mutating func sequenceEnded(_ final: UInt8, _ parameters: [UInt8]) -> [Action] {
        switch (final, parameters) {
        case (UInt8(ascii: "A"), _): return recalled(historyIndex - 1)
        case (UInt8(ascii: "B"), _): return recalled(historyIndex + 1)
        case (UInt8(ascii: "C"), _): cursor = min(cursor + 1, line.count)
        case (UInt8(ascii: "D"), _): cursor = max(cursor - 1, 0)
        case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), [0x31]), (UInt8(ascii: "~"), [0x37]): cursor = 0
        case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), [0x34]), (UInt8(ascii: "~"), [0x38]): cursor = line.count
        case (UInt8(ascii: "~"), [0x33]): if cursor < line.count { line.remove(at: cursor) }
        default: return []
        }
        return [.write(drawing)]
    }

    private mutating func controlReceived(_ byte: UInt8) -> [Action] {
        switch byte {
        case 0x01: cursor = 0
        case 0x02: cursor = max(cursor - 1, 0)
        case 0x05: cursor = line.count
        case 0x06: cursor = min(cursor + 1, line.count)
        case 0x08, 0x7F:
            guard cursor > 0 else { return [] }
            cursor -= 1
            line.remove(at: cursor)
        case 0x0B: line.removeSubrange(cursor...)
        case 0x0C: break
        case 0x15:
            line.removeSubrange(..<cursor)
            cursor = 0
        case 0x17: removeWord()
        case 0x03:
            line = []
            cursor = 0
            historyIndex = history.count
            return [.write(Array("^C\r\n".utf8) + drawing)]
        default: return []
        }
        return [.write(drawing)]
    }

    private mutating func removeWord() {
        var start = cursor
        while start > 0, line[start - 1] == 0x20 { start -= 1 }
        while start > 0, line[start - 1] != 0x20 { start -= 1 }
        line.removeSubrange(start..<cursor)
        cursor = start
    }

    private mutating func inserted(_ byte: UInt8) -> [Action] {
        guard line.count < Self.longestLine else { return [.write([0x07])] }
        line.insert(byte, at: cursor)
        cursor += 1
        return [.write(cursor == line.count ? [byte] : drawing)]
    }

    private mutating func recalled(_ index: Int) -> [Action] {
        guard (0...history.count).contains(index), index != historyIndex else { return [] }
        if historyIndex == history.count { typedLine = line }
        historyIndex = index
        line = index == history.count ? typedLine : history[index]
        cursor = line.count
        return [.write(drawing)]
    }

    private mutating func submitted() -> [Action] {
        let text = String(decoding: line, as: UTF8.self)
        if !line.isEmpty, history.last != line { history = (history + [line]).suffix(Self.historySize) }
        historyIndex = history.count
        line = []
        cursor = 0
        return [.write([0x0D, 0x0A]), .submit(text)]
    }
}
