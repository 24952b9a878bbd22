/// The bytes before the payload of an FLV video tag (FLV 10.1 annex E.4.3.1).
public struct FLVVideoHeader: Hashable, Sendable {
    public enum FrameType: UInt8, Sendable {
        case keyframe = 1
        case interFrame = 2
        case disposableInterFrame = 3
        case generatedKeyframe = 4
        case command = 5
    }

    /// CodecID; only AVC is written here.
    public struct Codec: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue & 0x0F }
        public static let avc = Codec(rawValue: 7)
    }

    /// AVCPacketType.
    public enum PacketType: UInt8, Sendable {
        case sequenceHeader = 0
        case nalUnits = 1
        case endOfSequence = 2
    }

    public var frameType: FrameType
    public var codec: Codec
    /// `.nalUnits` for codecs other than AVC, which do not have this field.
    public var packetType: PacketType
    /// Milliseconds from decoding to showing, 24 bits with sign; 0 for codecs other than AVC.
    public var compositionTime: Int32

    private static let structure = "FLV video tag"

    /// An AVC header.
    public init(frameType: FrameType, packetType: PacketType, compositionTime: Int32 = 0) {
        self.frameType = frameType
        self.codec = .avc
        self.packetType = packetType
        self.compositionTime = min(max(compositionTime, -0x80_0000), 0x7F_FFFF)
    }

    /// Parses the header at the start of a tag's body.
    /// - Throws: `unsupported` for an enhanced header (Enhanced RTMP v1); otherwise what is damaged.
    public init(parsing body: [UInt8]) throws(BitstreamError) { try self.init(parsing: body[...]) }

    public init(parsing body: ArraySlice<UInt8>) throws(BitstreamError) {
        guard let first = body.first else { throw .truncated(structure: Self.structure, needed: 1) }
        guard first & 0x80 == 0 else {
            throw .unsupported(structure: Self.structure, feature: "the enhanced header")
        }
        guard let frameType = FrameType(rawValue: first >> 4) else {
            throw .invalid(structure: Self.structure, field: "FrameType", value: Int(first >> 4))
        }
        self.frameType = frameType
        codec = Codec(rawValue: first)
        guard codec == .avc, frameType != .command else {
            packetType = .nalUnits
            compositionTime = 0
            return
        }
        guard body.count >= 5 else { throw .truncated(structure: Self.structure, needed: 5 - body.count) }
        guard let packetType = PacketType(rawValue: body[body.startIndex + 1]) else {
            throw .invalid(structure: Self.structure, field: "AVCPacketType", value: Int(body[body.startIndex + 1]))
        }
        self.packetType = packetType
        // Extends the sign from bit 23 by shifting up and down.
        var time: UInt32 = 0
        for byte in body.dropFirst(2).prefix(3) { time = time << 8 | UInt32(byte) }
        compositionTime = Int32(bitPattern: time << 8) >> 8
    }

    /// Size of the header, which is the payload's offset.
    public var byteCount: Int { codec == .avc && frameType != .command ? 5 : 1 }

    public var bytes: [UInt8] {
        let first = frameType.rawValue << 4 | codec.rawValue
        guard byteCount == 5 else { return [first] }
        let time = UInt32(bitPattern: compositionTime)
        return [
            first, packetType.rawValue, UInt8(truncatingIfNeeded: time >> 16), UInt8(truncatingIfNeeded: time >> 8),
            UInt8(truncatingIfNeeded: time),
        ]
    }
}
