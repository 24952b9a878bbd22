import Media
import StreamQuality

/// A live stream at one moment.
public struct StreamSnapshot: Sendable {
    public var time: MediaTimestamp
    /// When it went live; `nil` before.
    public var start: MediaTimestamp?
    /// Without stream name and query.
    public var target: String
    public var state: StreamState
    /// Connected, and nothing comes through.
    public var isStalled: Bool
    /// Silence and a still go out.
    public var isPaused = false
    /// Audio goes out as silence.
    public var isMuted: Bool
    public var encoded: EncodedCounters
    public var sent: SentCounters
    /// The stream's own; `nil` without video. What the link leaves of it is in `point`.
    public var size: FrameSize?
    public var encoder: EncoderIdentity?
    /// As in `StreamStatus`.
    public var camera: String?
    public var point: OperatingPoint
    /// What the link was last seen to carry.
    public var linkEstimate: Bitrate?
    /// Of the last change.
    public var reason: QualityChangeReason?
    public var buffered = Duration.zero
    public var bufferLimits: SendBufferLimits
    /// What the encoders may give at most.
    public var largestBitrate: Bitrate

    /// - Parameters:
    ///   - configuration: as the stream is now.
    ///   - point: what the encoders are meant to give now.
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

/// What went out between two moments.
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
