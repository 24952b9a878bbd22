/// One encoded frame, one encoded block of audio, or the header that decodes them.
public struct EncodedPacket: Sendable {
    public enum Kind: Hashable, Sendable {
        /// An AVCDecoderConfigurationRecord (ISO 14496-15 section 5.3.3.1).
        case videoHeader
        /// One H.264 access unit: NAL units, each preceded by its length in 4 bytes, big-endian.
        case video(isKeyframe: Bool)
        /// An AudioSpecificConfig (ISO 14496-3 section 1.6.2.1).
        case audioHeader
        /// One raw AAC access unit, without ADTS.
        case audio
    }

    public var kind: Kind
    /// When it is decoded. Since this product's encoders never reorder, this is also its capture time.
    public var decodeTime: MediaTimestamp
    /// How much later than `decodeTime` it is shown; zero without B-frames.
    public var compositionOffset: Duration
    public var payload: [UInt8]

    public init(
        kind: Kind, decodeTime: MediaTimestamp, compositionOffset: Duration = .zero, payload: [UInt8]
    ) {
        self.kind = kind
        self.decodeTime = decodeTime
        self.compositionOffset = compositionOffset
        self.payload = payload
    }

    public var isVideo: Bool { kind.isVideo }
    public var isHeader: Bool { kind.isHeader }
}

extension EncodedPacket.Kind {
    public var isVideo: Bool {
        switch self {
        case .videoHeader, .video: true
        case .audioHeader, .audio: false
        }
    }

    public var isHeader: Bool { self == .videoHeader || self == .audioHeader }
}
