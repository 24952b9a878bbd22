import Media

/// Between which bit rates of the video the controller may choose, and where it starts.
public struct BitrateRange: Hashable, Sendable {
    public let minimum: Bitrate
    public let start: Bitrate
    public let maximum: Bitrate

    /// The values are put in order: `maximum` holds, `minimum` and `start` are cut to it, `start` is lifted to `minimum`.
    public init(minimum: Bitrate, start: Bitrate, maximum: Bitrate) {
        self.maximum = maximum
        self.minimum = min(minimum, maximum)
        self.start = min(max(start, self.minimum), maximum)
    }

    /// From the lowest quality's bit rate up to this one's, starting there.
    public init(upTo quality: VideoQuality) {
        self.init(minimum: VideoQuality.low1.bitrate, start: quality.bitrate, maximum: quality.bitrate)
    }
}

/// The contract's ranges for automatic bit rates, by the frame size that they are meant for.
public enum AutomaticBitrate: String, CaseIterable, Sendable {
    case standardDefinition = "SD"
    case highDefinition = "HD"
    case fullHighDefinition = "FHD"

    public var range: BitrateRange {
        let (minimum, start, maximum) =
            switch self {
            case .standardDefinition: (400, 800, 1200)
            case .highDefinition: (1000, 1400, 1800)
            case .fullHighDefinition: (1200, 1800, 2400)
            }
        return BitrateRange(
            minimum: Bitrate(kilobitsPerSecond: minimum), start: Bitrate(kilobitsPerSecond: start),
            maximum: Bitrate(kilobitsPerSecond: maximum))
    }

    /// Frames a second that go with the range.
    public var frameRate: FrameRate {
        switch self {
        case .standardDefinition: FrameRate(framesPerSecond: 20)
        case .highDefinition: FrameRate(framesPerSecond: 24)
        case .fullHighDefinition: FrameRate(framesPerSecond: 30)
        }
    }
}

/// What the controller may do. A change of settings takes effect as a whole: `QualityController.settingsChanged`.
public struct QualitySettings: Hashable, Sendable {
    /// Whether the stream may leave its profile tier when the link asks for it.
    public enum TierSwitch: String, Sendable {
        /// It stays: a High stream on a poor link lowers bit rate and frame rate and keeps its profile.
        case never
        /// It ends cleanly and starts again in the other tier.
        case restartStream
    }

    /// The best that the stream may have; `nil` for a stream without video.
    public var videoQuality: VideoQuality?
    /// `nil` for a stream without audio.
    public var audioQuality: AudioQuality?
    public var bitrateRange: BitrateRange
    /// Frames that the source gives in a second, when it is known.
    public var sourceFrameRate: FrameRate?
    /// The most frames in a second that are wanted, when they are fewer than the quality's.
    public var frameRateLimit: FrameRate?
    /// The limits of the stream's `SendBuffer`; the delays that are acted on follow from them.
    public var bufferLimits = SendBufferLimits.standard
    /// False: bit rates stay as they are set, whatever the link does.
    public var isAutomatic = true
    public var tierSwitch = TierSwitch.never
    public var resize = ResizePolicy.never
    /// The sizes that frames may have, where `resize` lets them change; `nil` while they are not known.
    public var frameSizes: FrameSizeLadder?
    /// Whether audio goes down to its lowest bit rate when video has hardly any left.
    public var audioFollowsVideo = true
    /// The controller's constants.
    public var tuning = ControlTuning()

    /// Whether the frames' size is the controller's to change.
    var mayResize: Bool { isAutomatic && resize != .never && (frameSizes?.sizes.count ?? 0) > 1 }

    /// Frames that can become smaller need not become as few: Low1's rate is for who asked for Low1.
    var leastFrameRate: FrameRate {
        guard mayResize, let videoQuality else { return FrameRate(framesPerSecond: 1) }
        return min(videoQuality.frameRate, VideoQuality.low2.frameRate)
    }

    /// The frames in a second that a point with this quality's rate has.
    public func frameRate(atMost rate: FrameRate) -> FrameRate {
        [rate, sourceFrameRate ?? rate, frameRateLimit ?? rate].min() ?? rate
    }

    /// Whether these settings, after those before, say nothing new of bit rates: then the stream goes on at the one that
    /// the link has brought it to.
    func leavesBitrate(of before: QualitySettings) -> Bool {
        videoQuality == before.videoQuality && audioQuality == before.audioQuality
            && bitrateRange == before.bitrateRange && isAutomatic == before.isAutomatic
            && tierSwitch == before.tierSwitch
    }

    /// - Parameter bitrateRange: `nil` for everything up to `videoQuality`.
    public init(
        videoQuality: VideoQuality?, audioQuality: AudioQuality?, bitrateRange: BitrateRange? = nil
    ) {
        self.videoQuality = videoQuality
        self.audioQuality = audioQuality
        self.bitrateRange = bitrateRange ?? BitrateRange(upTo: videoQuality ?? .standard)
    }
}
