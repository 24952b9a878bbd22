/// Recognizes the kind of a file by its first bytes, for messages about an unexpected file.
public enum FileSignature {
    /// Bytes needed for recognition.
    public static let byteCount = 12

    /// - Returns: a name with its article, such as "a PNG file"; `nil` if unknown.
    public static func name(of bytes: some Collection<UInt8>) -> String? {
        let start = Array(bytes.prefix(byteCount))
        if start.count >= 12, let container = container(start) { return container }
        return signatures.first { start.starts(with: $0.bytes) }?.name
    }

    /// Whether it may be an MP4 or QuickTime movie.
    public static func isMovie(_ bytes: some Collection<UInt8>) -> Bool {
        let type = Array(bytes.prefix(byteCount).dropFirst(4).prefix(4))
        return ["ftyp", "moov", "mdat", "wide", "free", "skip", "pnot"].contains { Array($0.utf8) == type }
    }

    /// Kinds whose name follows a length or another name.
    private static func container(_ start: [UInt8]) -> String? {
        let second = String(decoding: start[4..<8], as: UTF8.self)
        let third = String(decoding: start[8..<12], as: UTF8.self)
        if start.starts(with: "RIFF".utf8) {
            return ["WAVE": "a WAVE file", "AVI ": "an AVI file", "WEBP": "a WebP image"][third] ?? "a RIFF file"
        }
        if second == "ftyp" {
            return ["heic", "heix", "mif1", "avif"].contains(third) ? "a HEIF image" : "an MP4 file"
        }
        return isMovie(start) ? "an MP4 file" : nil
    }

    private static let signatures: [(bytes: [UInt8], name: String)] = [
        ([0x89, 0x50, 0x4E, 0x47], "a PNG file"), ([0xFF, 0xD8, 0xFF], "a JPEG file"),
        (Array("FLV".utf8), "an FLV file"),
        (Array("GIF8".utf8), "a GIF file"), ([0x1A, 0x45, 0xDF, 0xA3], "a Matroska or WebM file"),
        (Array("OggS".utf8), "an Ogg file"), (Array("ID3".utf8), "an MP3 file"), (Array("fLaC".utf8), "a FLAC file"),
        ([0x7F, 0x45, 0x4C, 0x46], "a program"), (Array("%PDF".utf8), "a PDF file"), ([0x1F, 0x8B], "a gzip file"),
        ([0x50, 0x4B, 3, 4], "a ZIP file"), (Array("BM".utf8), "a BMP file"),
        ([0x47, 0x40], "an MPEG transport stream"),
        ([0, 0, 0, 1, 0x67], "a bare H.264 stream"), (Array("{".utf8), "a JSON file"),
    ]
}
