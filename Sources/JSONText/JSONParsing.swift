import CRapidJSON
import Settings

/// Limits beyond which a text is refused.
public struct JSONLimits: Hashable, Sendable {
    /// Size of the whole text in bytes, including a byte order mark.
    public var byteCount: Int
    /// Nesting of objects and arrays.
    public var depth: Int

    public init(byteCount: Int = 1 << 20, depth: Int = 64) {
        self.byteCount = byteCount
        self.depth = depth
    }
}

extension JSONValue {
    /// Parses strict JSON (RFC 8259) in UTF-8. A leading byte order mark, as written by Windows editors, is skipped.
    public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONTextError) {
        guard bytes.count <= limits.byteCount else {
            throw JSONTextError(.tooLarge(byteCount: bytes.count, limit: limits.byteCount), at: .start)
        }
        if let name = foreignEncoding(of: bytes) { throw JSONTextError(.wrongEncoding(name: name), at: .start) }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
        let builder = JSONTreeBuilder(text: text, depthLimit: limits.depth)
        let result = text.withUnsafeBytes { buffer in
            crapidjson_parse(
                // The pointer must not be null even for zero bytes.
                buffer.baseAddress?.assumingMemoryBound(to: CChar.self) ?? UnsafePointer(bitPattern: 1), buffer.count,
                Unmanaged.passUnretained(builder).toOpaque()
            ) { context, event in
                guard let context, let event else { return false }
                return Unmanaged<JSONTreeBuilder>.fromOpaque(context).takeUnretainedValue().received(event.pointee)
            }
        }
        if let refusal = builder.refusal { throw refusal }
        guard result.error == CRapidJSONErrorNone, let root = builder.root else {
            let syntax = SyntaxExplanation(text: text, result: result)
            throw JSONTextError(syntax.reason, at: builder.position(at: syntax.offset))
        }
        self = root
    }
}

/// Recognizes UTF-16 and UTF-32 by their byte order mark, or by the zero bytes next to ASCII. Text with other zero
/// bytes is binary data.
private func foreignEncoding(of bytes: [UInt8]) -> String? {
    if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || bytes.starts(with: [0, 0, 0xFE, 0xFF]) { return "UTF-32" }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { return "UTF-16" }
    guard let firstZero = bytes.firstIndex(of: 0) else { return nil }
    return firstZero <= 1 ? "UTF-16" : "binary data (it holds zero bytes)"
}
