import Media

extension EXIF {
    /// The rotation that shows a JPEG upright, from its Orientation tag (Exif 2.32 section 4.6.4). Identity if the tag
    /// is missing or the file is damaged.
    public static func rotation(ofJPEG bytes: [UInt8]) -> FrameRotation {
        guard let tiff = tiff(in: bytes) else { return FrameRotation() }
        return switch TIFFReader(tiff)?.short(.orientation) {
        case 2: FrameRotation(isMirrored: true)
        case 3: FrameRotation(.half)
        case 4: FrameRotation(.half, isMirrored: true)
        case 5: FrameRotation(.clockwise90, isMirrored: true)
        case 6: FrameRotation(.clockwise90)
        case 7: FrameRotation(.clockwise270, isMirrored: true)
        case 8: FrameRotation(.clockwise270)
        default: FrameRotation()
        }
    }

    /// Exif requires its segment to be first, but some programs put others before it.
    private static let mostSegments = 64

    /// The TIFF file after `Exif\0\0`, in the first APP1 segment that starts with it.
    private static func tiff(in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var reader = ByteReader(bytes, reading: "JPEG file")
        guard (try? reader.bigEndian16()) == 0xFFD8 else { return nil }
        for _ in 0..<mostSegments {
            // No such segment follows the start of a scan.
            guard let marker = try? marker(&reader), marker != 0xDA, marker != 0xD9,
                let length = try? reader.bigEndian16(), length >= 2,
                let segment = try? reader.slice(Int(length) - 2)
            else { return nil }
            let name = Array("Exif\0\0".utf8)
            if marker == 0xE1, segment.starts(with: name) { return segment.dropFirst(name.count) }
        }
        return nil
    }

    /// The second byte of the next marker, which may be preceded by any number of 0xFF.
    private static func marker(_ reader: inout ByteReader) throws(BitstreamError) -> UInt8? {
        guard try reader.byte() == 0xFF else { return nil }
        while true {
            let byte = try reader.byte()
            if byte != 0xFF { return byte }
        }
    }
}

/// The first directory of a TIFF file of either byte order (TIFF 6.0 section 2).
private struct TIFFReader {
    private let bytes: ArraySlice<UInt8>
    private let isLittleEndian: Bool

    init?(_ bytes: ArraySlice<UInt8>) {
        switch Array(bytes.prefix(2)) {
        case Array("II".utf8): isLittleEndian = true
        case Array("MM".utf8): isLittleEndian = false
        default: return nil
        }
        self.bytes = bytes
        guard number(at: 2, byteCount: 2) == 42 else { return nil }
    }

    /// - Returns: the tag's value if it is a single 16-bit number; otherwise `nil`.
    func short(_ tag: TIFFDirectory.Tag) -> Int? {
        guard let directory = number(at: 4, byteCount: 4), let count = number(at: directory, byteCount: 2) else {
            return nil
        }
        for index in 0..<count {
            let entry = directory + 2 + 12 * index
            guard let found = number(at: entry, byteCount: 2) else { return nil }
            guard found == tag.rawValue else { continue }
            let isOneShort = number(at: entry + 2, byteCount: 2) == 3 && number(at: entry + 4, byteCount: 4) == 1
            return isOneShort ? number(at: entry + 8, byteCount: 2) : nil
        }
        return nil
    }

    /// - Returns: `nil` if the number is not within the file.
    private func number(at offset: Int, byteCount: Int) -> Int? {
        guard offset <= bytes.count - byteCount else { return nil }
        let found = bytes.dropFirst(offset).prefix(byteCount)
        let ordered = isLittleEndian ? Array(found.reversed()) : Array(found)
        return ordered.reduce(0) { $0 << 8 | Int($1) }
    }
}
