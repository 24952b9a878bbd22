import CRapidJSON
import Settings

/// Builds a tree from the reader's events, and converts its offsets to lines and columns.
final class JSONTreeBuilder {
    private struct Frame {
        let isObject: Bool
        let position: TextPosition
        var elements: [JSONValue] = []
        var members: [JSONValue.Member] = []
        var pendingKey: (name: String, position: TextPosition)?
    }

    private(set) var root: JSONValue?
    /// Why the reader was stopped, if not for a syntax error.
    private(set) var refusal: JSONTextError?
    private let text: ArraySlice<UInt8>
    private let depthLimit: Int
    private var frames: [Frame] = []
    private var tracker: PositionTracker

    init(text: ArraySlice<UInt8>, depthLimit: Int) {
        self.text = text
        self.depthLimit = depthLimit
        tracker = PositionTracker(text: text)
    }

    func position(at offset: Int) -> TextPosition {
        var fresh = PositionTracker(text: text)
        return fresh.position(at: offset)
    }

    /// - Returns: whether the reader should continue.
    func received(_ event: CRapidJSONEvent) -> Bool {
        let position = tracker.startOfToken(endingAt: Int(event.offset))
        switch event.kind {
        case CRapidJSONEventStartObject, CRapidJSONEventStartArray:
            tracker.passed(upTo: Int(event.offset) + 1)
            guard frames.count < depthLimit else {
                return refuse(.tooDeep(limit: depthLimit), at: position)
            }
            frames.append(Frame(isObject: event.kind == CRapidJSONEventStartObject, position: position))
        case CRapidJSONEventEndObject, CRapidJSONEventEndArray:
            tracker.passed(upTo: Int(event.offset) + 1)
            guard let frame = frames.popLast() else { return false }
            let content: JSONValue.Content = frame.isObject ? .object(frame.members) : .array(frame.elements)
            add(JSONValue(content, at: frame.position))
        case CRapidJSONEventKey:
            tracker.passed(upTo: Int(event.offset))
            guard !frames.isEmpty else { return false }
            frames[frames.count - 1].pendingKey = (string(of: event), position)
        default:
            tracker.passed(upTo: Int(event.offset))
            guard let content = content(of: event) else { return refuse(.numberTooBig, at: position) }
            add(JSONValue(content, at: position))
        }
        return true
    }

    private func refuse(_ reason: JSONTextError.Reason, at position: TextPosition) -> Bool {
        refusal = JSONTextError(reason, at: position)
        return false
    }

    private func add(_ value: JSONValue) {
        guard !frames.isEmpty else {
            root = value
            return
        }
        let top = frames.count - 1
        if let key = frames[top].pendingKey {
            frames[top].members.append(
                JSONValue.Member(name: key.name, namePosition: key.position, value: value))
            frames[top].pendingKey = nil
        } else {
            frames[top].elements.append(value)
        }
    }

    /// - Returns: `nil` for a number beyond the range of `Double`.
    private func content(of event: CRapidJSONEvent) -> JSONValue.Content? {
        switch event.kind {
        case CRapidJSONEventBool: .bool(event.boolean)
        case CRapidJSONEventNumber: number(string(of: event))
        case CRapidJSONEventString: .string(string(of: event))
        default: .null
        }
    }

    private func number(_ text: String) -> JSONValue.Content? {
        if let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { return nil }
        return .number(number)
    }

    /// A lone surrogate, which only an escape can produce, becomes U+FFFD.
    private func string(of event: CRapidJSONEvent) -> String {
        String(decoding: UnsafeRawBufferPointer(start: event.text, count: Int(event.length)), as: UTF8.self)
    }
}

/// Converts increasing byte offsets to lines and columns, reading each byte once.
struct PositionTracker {
    private let text: ArraySlice<UInt8>
    private var index: Int
    private var line = 1
    private var column = 1

    init(text: ArraySlice<UInt8>) {
        self.text = text
        index = text.startIndex
    }

    mutating func position(at offset: Int) -> TextPosition {
        passed(upTo: offset)
        return TextPosition(line: line, column: column)
    }

    /// The reader reports tokens by their end. Each starts at the first byte after the previous one that is not white
    /// space, a comma or a colon.
    mutating func startOfToken(endingAt offset: Int) -> TextPosition {
        while index < text.endIndex, index - text.startIndex < offset, isSeparator(text[index]) { step() }
        return TextPosition(line: line, column: column)
    }

    mutating func passed(upTo offset: Int) {
        while index < text.endIndex, index - text.startIndex < offset { step() }
    }

    private func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: ":"): true
        default: false
        }
    }

    private mutating func step() {
        let byte = text[index]
        index += 1
        switch byte {
        case 0x0A:
            newLine()
        case 0x0D:
            // The LF of a CR LF ends the line.
            if index >= text.endIndex || text[index] != 0x0A { newLine() }
        case 0x80...0xBF:
            break
        default:
            column += 1
        }
    }

    private mutating func newLine() {
        line += 1
        column = 1
    }
}
