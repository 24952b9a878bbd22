/// Encodes tags as the bytes of an FLV file (FLV 10.1 annexes E.2 to E.4).
public enum FLVWriter {
    /// The file header followed by PreviousTagSize0: 13 bytes.
    public static func header(hasAudio: Bool, hasVideo: Bool) -> [UInt8] {
        [0x46, 0x4C, 0x56, 1, (hasAudio ? 4 : 0) | (hasVideo ? 1 : 0), 0, 0, 0, 9, 0, 0, 0, 0]
    }

    /// One tag with its header and PreviousTagSize: the body plus 15 bytes.
    /// - Throws: `BitstreamError.invalid` if the body exceeds the format's 16,777,215 bytes.
    public static func bytes(of tag: FLVTag) throws(BitstreamError) -> [UInt8] {
        guard tag.body.count <= 0xFF_FFFF else {
            throw .invalid(structure: "FLV tag", field: "DataSize", value: tag.body.count)
        }
        let size = UInt32(tag.body.count)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(tag.body.count + 15)
        bytes.append(tag.kind.rawValue)
        append(size, byteCount: 3, to: &bytes)
        append(tag.timestamp, byteCount: 3, to: &bytes)
        bytes.append(UInt8(tag.timestamp >> 24))
        append(0, byteCount: 3, to: &bytes)  // StreamID
        bytes += tag.body
        append(size + 11, byteCount: 4, to: &bytes)
        return bytes
    }

    private static func append(_ value: UInt32, byteCount: Int, to bytes: inout [UInt8]) {
        for index in (0..<byteCount).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(8 * index)))
        }
    }
}
