/// Builds boxes (ISO 14496-12 section 4.2): each box's length is filled in when its content is complete.
struct MP4BoxWriter {
    private(set) var bytes: [UInt8] = []

    /// - Parameter type: four characters.
    mutating func box(_ type: String, _ content: (inout MP4BoxWriter) -> Void) {
        let start = bytes.count
        append(UInt32(0))
        bytes += type.utf8
        content(&self)
        set(UInt32(truncatingIfNeeded: bytes.count - start), at: start)
    }

    /// A box with version and flags.
    mutating func fullBox(
        _ type: String, version: UInt8 = 0, flags: UInt32 = 0, _ content: (inout MP4BoxWriter) -> Void
    ) {
        box(type) { box in
            box.append(UInt32(version) << 24 | flags)
            content(&box)
        }
    }

    mutating func append(_ value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }

    mutating func append(_ values: [UInt32]) { for value in values { append(value) } }

    mutating func append(bytes content: [UInt8]) { bytes += content }

    mutating func append(text: String) { bytes += text.utf8 }

    mutating func appendZeros(_ count: Int) { bytes += repeatElement(0, count: count) }

    /// Replaces four bytes.
    mutating func set(_ value: UInt32, at offset: Int) {
        for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32(index))) }
    }
}
