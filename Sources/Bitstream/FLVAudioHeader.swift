/// The bytes before the payload of an FLV audio tag (FLV 10.1 annex E.4.2.1).
public struct FLVAudioHeader: Hashable, Sendable {
    /// AudioFormat; only AAC is written here.
    public struct Format: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue & 0x0F }
        public static let mp3 = Format(rawValue: 2)
        public static let aac = Format(rawValue: 10)
    }

    /// AACPacketType.
    public enum PacketType: UInt8, Sendable {
        case sequenceHeader = 0
        case raw = 1
    }

    public var format: Format
    /// `.raw` for formats other than AAC, which do not have this field.
    public var packetType: PacketType
    /// The low 4 bits of the first byte: rate, sample size, channels. For AAC they are always 44.1 kHz, 16 bits,
    /// stereo; the AudioSpecificConfig has the real values.
    public var audioFlags: UInt8

    private static let structure = "FLV audio tag"

    /// An AAC header.
    public init(packetType: PacketType) {
        format = .aac
        self.packetType = packetType
        audioFlags = 0x0F
    }

    /// Parses the header at the start of a tag's body.
    public init(parsing body: [UInt8]) throws(BitstreamError) { try self.init(parsing: body[...]) }

    public init(parsing body: ArraySlice<UInt8>) throws(BitstreamError) {
        guard let first = body.first else { throw .truncated(structure: Self.structure, needed: 1) }
        format = Format(rawValue: first >> 4)
        audioFlags = first & 0x0F
        guard format == .aac else {
            packetType = .raw
            return
        }
        guard body.count >= 2 else { throw .truncated(structure: Self.structure, needed: 1) }
        guard let packetType = PacketType(rawValue: body[body.startIndex + 1]) else {
            throw .invalid(structure: Self.structure, field: "AACPacketType", value: Int(body[body.startIndex + 1]))
        }
        self.packetType = packetType
    }

    /// Size of the header, which is the payload's offset.
    public var byteCount: Int { format == .aac ? 2 : 1 }

    public var bytes: [UInt8] {
        let first = format.rawValue << 4 | audioFlags & 0x0F
        return format == .aac ? [first, packetType.rawValue] : [first]
    }
}
