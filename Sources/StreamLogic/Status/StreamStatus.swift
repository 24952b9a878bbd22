import Media
import StreamQuality

/// This program, as people and servers see it.
public enum Program {
    public static let version = "0.2.0"
}

/// The encoder in use.
public struct EncoderIdentity: Hashable, Sendable {
    /// For people and scripts.
    public let name: String
    public let isHardware: Bool

    public init(name: String, isHardware: Bool) {
        self.name = name
        self.isHardware = isHardware
    }
}

/// What is being sent, measured since the previous report.
public struct StreamStatus: Hashable, Sendable {
    public let state: StreamState
    /// The servers, if there are several; the rest is about the leading one.
    public let targets: [TargetReading]
    /// Bytes of media that the server has acknowledged.
    public let deliveredBytes: Int
    public let isPaused: Bool
    /// Time since it went live; `nil` before.
    public let liveDuration: Duration?
    /// The configured size, which a slow link may reduce; `nil` without video.
    private let fullSize: FrameSize?
    /// Audio is sent as silence.
    public var isMuted: Bool
    /// `nil` without video.
    public let encoder: EncoderIdentity?
    /// The current camera; `nil` if the stream's cameras have no names.
    public let camera: String?
    public let rates: StreamRates
    public let buffered: Duration
    public let encoded: EncodedCounters
    public let sent: SentCounters
    public var point: OperatingPoint
    /// The link's last estimated rate; `nil` if it was never saturated.
    public let linkEstimate: Bitrate?
    /// Reason for the last change; `nil` before the first.
    public let reason: QualityChangeReason?

    public init(_ snapshot: StreamSnapshot, rates: StreamRates) {
        state = snapshot.state
        targets = snapshot.targets
        deliveredBytes = snapshot.deliveredBytes
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

    /// Size of the sent frames; `nil` without video.
    public var size: FrameSize? { fullSize.map { point.frameSize ?? $0 } }
}

/// What is being sent of a file, measured since the previous report. A file has no encoders or sources.
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
