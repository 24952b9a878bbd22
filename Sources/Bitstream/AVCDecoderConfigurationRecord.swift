import Media

/// The configuration of an H.264 decoder (ISO 14496-15 section 5.3.3.1), which is the body of the AVC sequence header
/// in FLV and RTMP.
public struct AVCDecoderConfigurationRecord: Hashable, Sendable {
    /// The fields that follow the parameter sets for High and higher profiles.
    public struct HighProfileExtension: Hashable, Sendable {
        /// chroma_format_idc: 1 is 4:2:0.
        public let chromaFormat: UInt8
        /// Bits per sample, 8...15.
        public let lumaBitDepth: UInt8
        public let chromaBitDepth: UInt8
        public let sequenceParameterSetExtensions: [[UInt8]]
    }

    public let profile: UInt8
    /// The byte between profile_idc and level_idc: constraint_set0_flag (high bit) and the others.
    public let constraintFlags: UInt8
    /// level_idc: ten times the level.
    public let level: UInt8
    /// Size of the length field before each NAL unit: 1, 2 or 4 bytes.
    public let nalUnitLengthSize: Int
    public let sequenceParameterSets: [[UInt8]]
    public let pictureParameterSets: [[UInt8]]
    public let highProfileExtension: HighProfileExtension?

    private static let structure = "AVCDecoderConfigurationRecord"

    /// Builds the record for streams with lengths of 4 bytes.
    /// - Parameters: complete NAL units including the first byte, 1 to 31 SPS and 1 to 255 PPS.
    /// - Throws: `BitstreamError` if a set is missing or too large, or the first SPS is damaged.
    public init(
        sequenceParameterSets: [[UInt8]], pictureParameterSets: [[UInt8]]
    ) throws(BitstreamError) {
        try Self.check(sequenceParameterSets, field: "number of SPS", limit: 31)
        try Self.check(pictureParameterSets, field: "number of PPS", limit: 255)
        let first = try SequenceParameterSet(nalUnit: sequenceParameterSets[0])
        profile = first.profile
        constraintFlags = first.constraintFlags
        level = first.level
        nalUnitLengthSize = 4
        self.sequenceParameterSets = sequenceParameterSets
        self.pictureParameterSets = pictureParameterSets
        highProfileExtension =
            Self.hasExtension(profile: profile)
            ? HighProfileExtension(
                chromaFormat: first.chromaFormat, lumaBitDepth: first.lumaBitDepth,
                chromaBitDepth: first.chromaBitDepth, sequenceParameterSetExtensions: [])
            : nil
    }

    /// The same record with other sequence parameter sets.
    init(
        sequenceParameterSets: [[UInt8]], keepingRestOf other: AVCDecoderConfigurationRecord
    ) throws(BitstreamError) {
        try Self.check(sequenceParameterSets, field: "number of SPS", limit: 31)
        profile = other.profile
        constraintFlags = other.constraintFlags
        level = other.level
        nalUnitLengthSize = other.nalUnitLengthSize
        self.sequenceParameterSets = sequenceParameterSets
        pictureParameterSets = other.pictureParameterSets
        highProfileExtension = other.highProfileExtension
    }

    private static func check(_ sets: [[UInt8]], field: String, limit: Int) throws(BitstreamError) {
        guard (1...limit).contains(sets.count) else {
            throw .invalid(structure: structure, field: field, value: sets.count)
        }
        for set in sets where set.isEmpty || set.count > 0xFFFF {
            throw .invalid(structure: structure, field: "parameter set length", value: set.count)
        }
    }

    /// The profiles of section 5.3.3.1.2, whose record continues after the parameter sets.
    private static func hasExtension(profile: UInt8) -> Bool { [100, 110, 122, 144].contains(profile) }

    /// Parses a record. The extension may be missing: older writers omitted it.
    public init(parsing bytes: [UInt8]) throws(BitstreamError) {
        var reader = ByteReader(bytes, reading: Self.structure)
        let version = try reader.byte()
        guard version == 1 else {
            throw .invalid(structure: Self.structure, field: "configurationVersion", value: Int(version))
        }
        profile = try reader.byte()
        constraintFlags = try reader.byte()
        level = try reader.byte()
        nalUnitLengthSize = Int(try reader.byte() & 3) + 1
        guard nalUnitLengthSize != 3 else {
            throw .invalid(structure: Self.structure, field: "lengthSizeMinusOne", value: 2)
        }
        sequenceParameterSets = try Self.sets(&reader, count: reader.byte() & 0x1F)
        pictureParameterSets = try Self.sets(&reader, count: reader.byte())
        guard Self.hasExtension(profile: profile), reader.bytesLeft >= 4 else {
            highProfileExtension = nil
            return
        }
        highProfileExtension = HighProfileExtension(
            chromaFormat: try reader.byte() & 3, lumaBitDepth: try (reader.byte() & 7) + 8,
            chromaBitDepth: try (reader.byte() & 7) + 8,
            sequenceParameterSetExtensions: try Self.sets(&reader, count: reader.byte()))
    }

    private static func sets(_ reader: inout ByteReader, count: UInt8) throws(BitstreamError) -> [[UInt8]] {
        var sets: [[UInt8]] = []
        for _ in 0..<count { sets.append(try reader.bytes(Int(try reader.bigEndian16()))) }
        return sets
    }

    public var bytes: [UInt8] {
        var bytes = [1, profile, constraintFlags, level, 0xFC | UInt8(nalUnitLengthSize - 1)]
        bytes.append(0xE0 | UInt8(sequenceParameterSets.count))
        for set in sequenceParameterSets { Self.append(set, to: &bytes) }
        bytes.append(UInt8(pictureParameterSets.count))
        for set in pictureParameterSets { Self.append(set, to: &bytes) }
        if let high = highProfileExtension {
            bytes += [
                0xFC | high.chromaFormat, 0xF8 | (high.lumaBitDepth - 8) & 7, 0xF8 | (high.chromaBitDepth - 8) & 7,
            ]
            bytes.append(UInt8(high.sequenceParameterSetExtensions.count))
            for set in high.sequenceParameterSetExtensions { Self.append(set, to: &bytes) }
        }
        return bytes
    }

    private static func append(_ set: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: set.count >> 8))
        bytes.append(UInt8(truncatingIfNeeded: set.count))
        bytes += set
    }
}

extension AVCDecoderConfigurationRecord {
    /// The parameter sets as they precede the slices of an access unit, each with its length in 4 bytes.
    public var lengthPrefixedSets: [UInt8] {
        (sequenceParameterSets + pictureParameterSets).flatMap { set in
            (0..<4).reversed().map { UInt8(truncatingIfNeeded: set.count >> (8 * $0)) } + set
        }
    }
}
