import Media

/// The range of video bit rates that the controller may choose from, and the starting rate.
public struct BitrateRange: Hashable, Sendable {
    public let minimum: Bitrate
    public let start: Bitrate
    public let maximum: Bitrate

    /// The values are reconciled: `maximum` is kept, `minimum` and `start` are limited to it, and `start` is raised to
    /// `minimum`.
    public init(minimum: Bitrate, start: Bitrate, maximum: Bitrate) {
        self.maximum = maximum
        self.minimum = min(minimum, maximum)
        self.start = min(max(start, self.minimum), maximum)
    }

    /// From the lowest quality's bit rate up to this quality's, starting there.
    public init(upTo quality: VideoQuality) {
        self.init(minimum: VideoQuality.low1.bitrate, start: quality.bitrate, maximum: quality.bitrate)
    }
}

/// The ranges for automatic bit rates in the limits documented by Pili's SDK, by intended frame size.
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

    /// The range's frame rate.
    public var frameRate: FrameRate {
        switch self {
        case .standardDefinition: FrameRate(framesPerSecond: 20)
        case .highDefinition: FrameRate(framesPerSecond: 24)
        case .fullHighDefinition: FrameRate(framesPerSecond: 30)
        }
    }
}

/// Limits of the controller. Changes take effect together: `QualityController.settingsChanged`.
public struct QualitySettings: Hashable, Sendable {
    /// Whether the stream may switch to another profile tier to adapt to the link.
    public enum TierSwitch: String, Sendable {
        /// It may not: a High stream on a poor link lowers bit rate and frame rate but keeps its profile.
        case never
        /// It ends properly and starts again in the other tier.
        case restartStream
    }

    /// The best quality allowed; `nil` for a stream without video.
    public var videoQuality: VideoQuality?
    /// `nil` for a stream without audio.
    public var audioQuality: AudioQuality?
    public var bitrateRange: BitrateRange
    /// Frame rate of the source, if known.
    public var sourceFrameRate: FrameRate?
    /// The requested limit of the frame rate, if below the quality's.
    public var frameRateLimit: FrameRate?
    /// The limits of the stream's `SendBuffer`, which determine the delays that the controller acts on.
    public var bufferLimits = SendBufferLimits.standard
    /// If false, bit rates stay as set, whatever the link does.
    public var isAutomatic = true
    public var tierSwitch = TierSwitch.never
    public var resize = ResizePolicy.never
    /// The sizes that frames may have if `resize` allows changes; `nil` while unknown.
    public var frameSizes: FrameSizeLadder?
    /// Whether audio goes down to its lowest bit rate when little is left for video.
    public var audioFollowsVideo = true
    public var tuning = ControlTuning()

    /// Whether the controller may change the frame size.
    var mayResize: Bool { isAutomatic && resize != .never && (frameSizes?.sizes.count ?? 0) > 1 }

    /// If frames can become smaller, they need not become as rare: Low1's rate is only for streams set to Low1.
    var leastFrameRate: FrameRate {
        guard mayResize, let videoQuality else { return FrameRate(framesPerSecond: 1) }
        return min(videoQuality.frameRate, VideoQuality.low2.frameRate)
    }

    /// The frame rate for a point with this quality's rate.
    public func frameRate(atMost rate: FrameRate) -> FrameRate {
        [rate, sourceFrameRate ?? rate, frameRateLimit ?? rate].min() ?? rate
    }

    /// Whether these settings change nothing about bit rates compared to those before; then the stream keeps its
    /// present rate.
    func leavesBitrate(of before: QualitySettings) -> Bool {
        videoQuality == before.videoQuality && audioQuality == before.audioQuality
            && bitrateRange == before.bitrateRange && isAutomatic == before.isAutomatic
            && tierSwitch == before.tierSwitch
    }

    /// - Parameter bitrateRange: `nil` for all rates up to `videoQuality`.
    public init(
        videoQuality: VideoQuality?, audioQuality: AudioQuality?, bitrateRange: BitrateRange? = nil
    ) {
        self.videoQuality = videoQuality
        self.audioQuality = audioQuality
        self.bitrateRange = bitrateRange ?? BitrateRange(upTo: videoQuality ?? .standard)
    }
}
