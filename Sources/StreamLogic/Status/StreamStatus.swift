import Media
import StreamQuality

/// The encoder that works now.
public struct EncoderIdentity: Hashable, Sendable {
    /// For people and scripts.
    public let name: String
    public let isHardware: Bool

    public init(name: String, isHardware: Bool) {
        self.name = name
        self.isHardware = isHardware
    }
}

/// What is being sent, measured since the report before.
public struct StreamStatus: Hashable, Sendable {
    public let state: StreamState
    public let isPaused: Bool
    /// Since it went live; `nil` before.
    public let liveDuration: Duration?
    /// The stream's own size, of which the link may leave less; `nil` without video.
    private let fullSize: FrameSize?
    /// Audio goes out as silence.
    public var isMuted: Bool
    /// `nil` without video.
    public let encoder: EncoderIdentity?
    /// The name of the one that is on; `nil` where the stream has no names for its cameras.
    public let camera: String?
    public let rates: StreamRates
    public let buffered: Duration
    public let encoded: EncodedCounters
    public let sent: SentCounters
    public var point: OperatingPoint
    /// What the link was last seen to carry; `nil` while it was never full.
    public let linkEstimate: Bitrate?
    /// Of the last change; `nil` before the first.
    public let reason: QualityChangeReason?

    public init(_ snapshot: StreamSnapshot, rates: StreamRates) {
        state = snapshot.state
        isPaused = snapshot.isPaused
        liveDuration = snapshot.start.map { snapshot.time - $0 }
        fullSize = snapshot.size
        isMuted = snapshot.isMuted
        encoder = snapshot.encoder
        camera = snapshot.camera
        self.rates = rates
        buffered = snapshot.buffered
        encoded = snapshot.encoded
        sent = snapshot.sent
        point = snapshot.point
        linkEstimate = snapshot.linkEstimate
        reason = snapshot.reason
    }

    /// Of the frames that are sent; `nil` without video.
    public var size: FrameSize? { fullSize.map { point.frameSize ?? $0 } }
}

/// What is being sent of a file, measured since the report before: of encoders and sources it has none.
public struct FileStreamStatus: Hashable, Sendable {
    public let state: StreamState
    public let rates: StreamRates
    public let sentFrames: Int
    public let sentAudioPackets: Int

    public init(state: StreamState, rates: StreamRates, sentFrames: Int, sentAudioPackets: Int) {
        self.state = state
        self.rates = rates
        self.sentFrames = sentFrames
        self.sentAudioPackets = sentAudioPackets
    }
}
