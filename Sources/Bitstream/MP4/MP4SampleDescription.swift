/// The decoder configuration for a track's samples (ISO 14496-12 section 8.5.2).
public enum MP4SampleDescription: Hashable, Sendable {
    /// H.264, with length-prefixed NAL units.
    case avc(AVCDecoderConfigurationRecord)
    /// AAC, with the complete bytes of the AudioSpecificConfig.
    case aac(AudioSpecificConfig, [UInt8])
    /// Any other format, by its name in the file.
    case other(String)

    /// - Parameter track: the boxes of a `trak`.
    init(of track: MP4Boxes) throws(BitstreamError) {
        let media = try track.required("mdia").children.required("minf").children
        var reader = try media.required("stbl").children.required("stsd").reader
        _ = try reader.versionAndFlags()
        guard try reader.bigEndian32() >= 1, let entry = try MP4Box.all(in: reader.rest).first else {
            throw .unsupported(structure: MP4Movie.structure, feature: "a track without a sample description")
        }
        switch entry.type {
        case "avc1", "avc3": self = try Self.avc(entry)
        case "mp4a": self = try Self.aac(entry)
        default: self = .other(entry.type)
        }
    }

    /// ISO 14496-15 section 5.4.2.
    private static func avc(_ entry: MP4Box) throws(BitstreamError) -> MP4SampleDescription {
        var reader = entry.reader
        let visualSampleEntry = 78
        try reader.skip(visualSampleEntry)
        let record = try MP4Boxes(MP4Box.all(in: reader.rest)).required("avcC")
        return .avc(try AVCDecoderConfigurationRecord(parsing: Array(record.content)))
    }

    /// ISO 14496-14 section 5.6, and QuickTime's fields before it.
    private static func aac(_ entry: MP4Box) throws(BitstreamError) -> MP4SampleDescription {
        var reader = entry.reader
        try reader.skip(8)
        let quickTimeVersion = try reader.bigEndian16()
        try reader.skip(18)
        switch quickTimeVersion {
        case 1: try reader.skip(16)
        case 2: try reader.skip(36)
        default: break
        }
        var boxes = MP4Boxes(try MP4Box.all(in: reader.rest))
        if boxes["esds"] == nil, let wave = boxes["wave"] { boxes = try wave.children }
        guard let descriptor = boxes["esds"] else { return .other("mp4a without esds") }
        return try elementaryStream(descriptor)
    }

    /// The descriptors of ISO 14496-1 section 7.2.6.5: the stream's, its decoder's, and the decoder-specific one.
    private static func elementaryStream(_ box: MP4Box) throws(BitstreamError) -> MP4SampleDescription {
        var reader = box.reader
        _ = try reader.versionAndFlags()
        var stream = try descriptor(0x03, in: &reader)
        try stream.skip(2)
        let flags = try stream.byte()
        if flags & 0x80 != 0 { try stream.skip(2) }
        if flags & 0x40 != 0 { try stream.skip(Int(stream.byte())) }
        if flags & 0x20 != 0 { try stream.skip(2) }
        var decoder = try descriptor(0x04, in: &stream)
        let kind = try decoder.byte()
        // MPEG-4 audio, and the three AAC profiles of MPEG-2.
        guard kind == 0x40 || (0x66...0x68).contains(kind) else {
            return .other(kind == 0x69 || kind == 0x6B ? "MP3" : "mp4a of the kind \(kind)")
        }
        try decoder.skip(12)
        let bytes = Array(try descriptor(0x05, in: &decoder).rest)
        return .aac(try AudioSpecificConfig(parsing: bytes), bytes)
    }

    /// - Returns: the content of the next descriptor, which must have this tag.
    private static func descriptor(_ tag: UInt8, in reader: inout ByteReader) throws(BitstreamError) -> ByteReader {
        let found = try reader.byte()
        guard found == tag else {
            throw .invalid(structure: MP4Movie.structure, field: "tag of a descriptor", value: Int(found))
        }
        var length = 0
        for _ in 0..<4 {
            let byte = try reader.byte()
            length = length << 7 | Int(byte & 0x7F)
            if byte & 0x80 == 0 { break }
        }
        return ByteReader(try reader.slice(length), reading: MP4Movie.structure)
    }
}
