/// Network byte order (RTMP 1.0 section 4), except where a name says little-endian.
extension [UInt8] {
    mutating func appendUInt16(_ value: UInt16) {
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    /// Appends the low 24 bits of `value`.
    mutating func appendUInt24(_ value: UInt32) {
        append(UInt8(truncatingIfNeeded: value >> 16))
        appendUInt16(UInt16(truncatingIfNeeded: value))
    }

    mutating func appendUInt32(_ value: UInt32) {
        appendUInt16(UInt16(truncatingIfNeeded: value >> 16))
        appendUInt16(UInt16(truncatingIfNeeded: value))
    }

    mutating func appendLittleEndianUInt32(_ value: UInt32) { appendUInt32(value.byteSwapped) }

    mutating func appendUInt64(_ value: UInt64) {
        appendUInt32(UInt32(truncatingIfNeeded: value >> 32))
        appendUInt32(UInt32(truncatingIfNeeded: value))
    }
}

/// Reads a byte array from front to back; every read returns `nil` if too few bytes are left.
struct ByteReader {
    let bytes: [UInt8]
    private(set) var position: Int

    init(_ bytes: [UInt8], from position: Int = 0) {
        self.bytes = bytes
        self.position = Swift.min(Swift.max(0, position), bytes.count)
    }

    var remaining: Int { bytes.count - position }

    func peekUInt8() -> UInt8? { remaining >= 1 ? bytes[position] : nil }

    mutating func readUInt8() -> UInt8? { readInteger(byteCount: 1).map { UInt8(truncatingIfNeeded: $0) } }
    mutating func readUInt16() -> UInt16? { readInteger(byteCount: 2).map { UInt16(truncatingIfNeeded: $0) } }
    mutating func readUInt24() -> UInt32? { readInteger(byteCount: 3).map { UInt32(truncatingIfNeeded: $0) } }
    mutating func readUInt32() -> UInt32? { readInteger(byteCount: 4).map { UInt32(truncatingIfNeeded: $0) } }
    mutating func readUInt64() -> UInt64? { readInteger(byteCount: 8) }

    mutating func readBytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= remaining else { return nil }
        defer { position += count }
        return bytes[position..<position + count]
    }

    private mutating func readInteger(byteCount: Int) -> UInt64? {
        guard let slice = readBytes(byteCount) else { return nil }
        return slice.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
