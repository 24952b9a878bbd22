/// One range of bytes of a resource (RFC 9110 section 14.1.2).
package enum HTTPByteRange: Hashable, Sendable {
    /// `bytes=9-`
    case from(Int)
    /// `bytes=9-19`: both ends are included.
    case closed(first: Int, last: Int)
    /// `bytes=-9`: the last bytes.
    case suffix(Int)

    /// - Returns: `nil` for several ranges, another unit, or malformed text. A server then answers with everything.
    init?(_ value: String) {
        let bytes = Array(value.utf8)[...].trimmed
        guard bytes.hasCaselessPrefix("bytes=") else { return nil }
        let range = bytes.dropFirst("bytes=".utf8.count).trimmed
        guard let dash = range.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        let (first, last) = (range[..<dash], range[dash...].dropFirst())
        switch (first.digitsValue, last.digitsValue) {
        case (let first?, let last?):
            guard first <= last else { return nil }
            self = .closed(first: first, last: last)
        case (let first?, nil) where last.isEmpty: self = .from(first)
        case (nil, let last?) where first.isEmpty: self = .suffix(last)
        default: return nil
        }
    }

    /// The bytes to send with 206, or `nil` if none of the resource's bytes are in the range: the answer is 416.
    ///
    /// - Parameter byteCount: of the whole resource.
    package func within(_ byteCount: Int) -> Range<Int>? {
        switch self {
        case .from(let first): first < byteCount ? first..<byteCount : nil
        case .closed(let first, let last): first < byteCount ? first..<min(last, byteCount - 1) + 1 : nil
        case .suffix(let count): count > 0 && byteCount > 0 ? byteCount - min(count, byteCount)..<byteCount : nil
        }
    }

    /// Content-Range of a response 206.
    ///
    /// - Parameter range: not empty.
    package static func contentRange(_ range: Range<Int>, of byteCount: Int) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(byteCount)"
    }

    /// Content-Range of a response 416.
    package static func contentRange(of byteCount: Int) -> String { "bytes */\(byteCount)" }
}
