import Media
import StreamQuality

/// A live stream's state at one moment.
public struct StreamSnapshot: Sendable {
    public var time: MediaTimestamp
    /// When it went live; `nil` before.
    public var start: MediaTimestamp?
    /// Without stream name and query.
    public var target: String
    public var state: StreamState
    /// The servers, if there are several; the rest is about the leading one.
    public var targets: [TargetReading] = []
    /// Bytes of media that the server has acknowledged.
    public var deliveredBytes = 0
    /// Live, but nothing gets through.
    public var isStalled: Bool
    /// Silence and a still frame are sent.
    public var isPaused = false
    /// Audio is sent as silence.
    public var isMuted: Bool
    public var encoded: EncodedCounters
    public var sent: SentCounters
    /// The configured size; `nil` without video. `point` has the size that is actually sent.
    public var size: FrameSize?
    public var encoder: EncoderIdentity?
    /// As in `StreamStatus`.
    public var camera: String?
    public var point: OperatingPoint
    /// The link's last estimated rate.
    public var linkEstimate: Bitrate?
    /// Reason for the last change.
    public var reason: QualityChangeReason?
    public var buffered = Duration.zero
    public var bufferLimits: SendBufferLimits
    /// The encoders' highest total rate.
    public var largestBitrate: Bitrate

    /// - Parameters:
    ///   - configuration: the stream's present configuration.
    ///   - point: the encoders' present target.
    public init(
        time: MediaTimestamp, target: String, state: StreamState, encoded: EncodedCounters, sent: SentCounters,
        configuration: LiveConfiguration, point: OperatingPoint
    ) {
        self.time = time
        self.target = target
        self.state = state
        self.encoded = encoded
        self.sent = sent
        self.point = point
        isStalled = false
        isMuted = configuration.isMuted
        let settings = configuration.settings
        bufferLimits = settings.bufferLimits
        size = settings.videoQuality == nil ? nil : configuration.dimension.size
        let video = settings.videoQuality == nil ? 0 : settings.bitrateRange.maximum.bitsPerSecond
        largestBitrate = Bitrate(bitsPerSecond: video + (settings.audioQuality?.bitrate.bitsPerSecond ?? 0))
    }
}

/// Rates of the sent media between two moments.
public struct StreamRates: Hashable, Sendable {
    public private(set) var videoFramesPerSecond = 0.0
    public private(set) var audioPacketsPerSecond = 0.0
    public private(set) var total = Bitrate(bitsPerSecond: 0)

    public init(videoFramesPerSecond: Double, audioPacketsPerSecond: Double, total: Bitrate) {
        self.videoFramesPerSecond = videoFramesPerSecond
        self.audioPacketsPerSecond = audioPacketsPerSecond
        self.total = total
    }

    public init(from first: SentCounters, to last: SentCounters, in duration: Duration) {
        let seconds = duration.inSeconds
        guard seconds > 0.05 else { return }
        videoFramesPerSecond = Double(last.sentFrames - first.sentFrames) / seconds
        audioPacketsPerSecond = Double(last.sentAudioPackets - first.sentAudioPackets) / seconds
        total = Bitrate(bitsPerSecond: Int(Double(last.sentBytes - first.sentBytes) * 8 / seconds))
    }
}
