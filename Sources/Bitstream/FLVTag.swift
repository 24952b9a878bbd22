/// One FLV tag, which is also one RTMP message (FLV 10.1 annex E.4.1).
public struct FLVTag: Hashable, Sendable {
    /// The tag type, which is also RTMP's message type.
    public enum Kind: UInt8, Sendable {
        case audio = 8
        case video = 9
        /// AMF0 data, `onMetaData` mostly.
        case script = 18
    }

    public var kind: Kind
    /// Milliseconds; wraps after 2^32 of them (49.7 days).
    public var timestamp: UInt32
    /// The tag's data: for audio and video the media header (`FLVAudioHeader`, `FLVVideoHeader`), then the payload.
    /// A slice, so that it can stay where it was read to.
    public var body: ArraySlice<UInt8>

    public init(kind: Kind, timestamp: UInt32, body: [UInt8]) {
        self.init(kind: kind, timestamp: timestamp, body: body[...])
    }

    public init(kind: Kind, timestamp: UInt32, body: ArraySlice<UInt8>) {
        self.kind = kind
        self.timestamp = timestamp
        self.body = body
    }

    /// Whether decoding can begin with this tag: an AVC picture that is marked as a key frame.
    public var isKeyFrame: Bool {
        guard kind == .video, let header = try? FLVVideoHeader(parsing: body) else { return false }
        return header.codec == .avc && header.frameType == .keyFrame && header.packetType == .nalUnits
    }

    /// Whether the tag holds an AVCDecoderConfigurationRecord or an AudioSpecificConfig.
    public var isSequenceHeader: Bool {
        switch kind {
        case .video:
            guard let header = try? FLVVideoHeader(parsing: body) else { return false }
            return header.codec == .avc && header.packetType == .sequenceHeader
        case .audio:
            guard let header = try? FLVAudioHeader(parsing: body) else { return false }
            return header.packetType == .sequenceHeader
        case .script: return false
        }
    }
}
