/// One FLV tag, which is also one RTMP message (FLV 10.1 annex E.4.1).
public struct FLVTag: Sendable {
    /// The tag type, which is also RTMP's message type.
    public enum Kind: UInt8, Sendable {
        case audio = 8
        case video = 9
        /// AMF0 data, mostly `onMetaData`.
        case script = 18
    }

    public var kind: Kind
    /// In milliseconds; wraps after 2^32 of them (49.7 days).
    public var timestamp: UInt32
    /// The body, together with other bytes read with it. With these bounds a tag has three words, which functions
    /// return in registers; a slice would take five.
    private let buffer: [UInt8]
    private let bodyStart: UInt32
    private let bodyEnd: UInt32

    /// The tag's data: for audio and video the media header (`FLVAudioHeader`, `FLVVideoHeader`), then the payload.
    public var body: ArraySlice<UInt8> { buffer[Int(bodyStart)..<Int(bodyEnd)] }

    /// The size of `body`. This and `firstByte` are for code that runs for every tag: a slice costs more.
    public var bodyByteCount: Int { Int(bodyEnd &- bodyStart) }
    public var firstByte: UInt8? { bodyByteCount > 0 ? buffer[Int(bodyStart)] : nil }
    /// - Precondition: the body has two bytes.
    var secondByte: UInt8 { buffer[Int(bodyStart) + 1] }

    public init(kind: Kind, timestamp: UInt32, body: [UInt8]) {
        self.init(kind: kind, timestamp: timestamp, buffer: body, body: 0..<body.count)
    }

    /// - Parameters:
    ///   - buffer: shared with the tag as long as the tag lives.
    ///   - body: its range in the buffer, within the first 4 GiB.
    public init(kind: Kind, timestamp: UInt32, buffer: [UInt8], body: Range<Int>) {
        let body = body.clamped(to: 0..<buffer.count)
        self.kind = kind
        self.timestamp = timestamp
        self.buffer = buffer
        bodyStart = UInt32(clamping: body.lowerBound)
        bodyEnd = UInt32(clamping: body.upperBound)
    }

    /// Whether decoding can start with this tag: an AVC frame marked as a keyframe.
    public var isKeyframe: Bool {
        guard kind == .video, let header = try? FLVVideoHeader(parsing: body) else { return false }
        return header.codec == .avc && header.frameType == .keyframe && header.packetType == .nalUnits
    }

    /// Whether the tag contains an AVCDecoderConfigurationRecord or an AudioSpecificConfig.
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

extension FLVTag: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.timestamp == right.timestamp && left.body == right.body
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(timestamp)
        hasher.combine(body)
    }
}
