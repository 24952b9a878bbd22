/// Kinds of files that people pass by mistake, recognized by their first bytes.
enum FileKind: String, CaseIterable {
    case png = "a PNG image"
    case jpeg = "a JPEG image"
    case gif = "a GIF image"
    case mp4 = "an MP4 file"
    case matroska = "a Matroska or WebM file"
    case transportStream = "an MPEG transport stream"
    case wav = "a WAV file"
    case avi = "an AVI file"
    case ogg = "an Ogg file"
    case zip = "a ZIP archive"
    case gzip = "a gzip archive"
    case json = "a JSON file"
    case text = "a text file"

    /// Enough for the first bytes of two packets of a transport stream (ISO/IEC 13818-1, 2.4.3.2).
    static let sampleSize = 189
    private static let packetSize = 188

    /// Whether its video can be copied into an FLV file.
    var isMovie: Bool { [.mp4, .matroska, .transportStream, .avi].contains(self) }

    /// - Parameter start: `sampleSize` bytes, or the whole file if it is shorter.
    init?(_ start: ArraySlice<UInt8>) {
        let bytes = Array(start.prefix(Self.sampleSize))
        if let kind = Self.signatures.first(where: { signature in
            bytes.count >= signature.offset + signature.bytes.count
                && bytes[signature.offset...].starts(with: signature.bytes)
                && (signature.kind != .wav && signature.kind != .avi || bytes.starts(with: Array("RIFF".utf8)))
        })?.kind {
            self = kind
        } else if bytes.count == Self.sampleSize, bytes[0] == 0x47, bytes[Self.packetSize] == 0x47 {
            self = .transportStream
        } else if !bytes.isEmpty, bytes.allSatisfy(Self.isText) {
            let first = bytes.first { !Self.isBlank($0) }
            self = first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? .json : .text
        } else {
            return nil
        }
    }

    private static let signatures: [(kind: FileKind, offset: Int, bytes: [UInt8])] = [
        (.png, 0, [0x89, 0x50, 0x4E, 0x47]), (.jpeg, 0, [0xFF, 0xD8, 0xFF]), (.gif, 0, Array("GIF8".utf8)),
        (.mp4, 4, Array("ftyp".utf8)), (.matroska, 0, [0x1A, 0x45, 0xDF, 0xA3]), (.wav, 8, Array("WAVE".utf8)),
        (.avi, 8, Array("AVI ".utf8)), (.ogg, 0, Array("OggS".utf8)), (.zip, 0, [0x50, 0x4B, 3, 4]),
        (.gzip, 0, [0x1F, 0x8B]),
    ]

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    /// ASCII without control characters, or a byte of UTF-8.
    private static func isText(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || isBlank(byte) }
}
