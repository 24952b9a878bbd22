import Media

/// A quality, dimension or limit that cannot be used, with the alternatives.
public enum QualityError: Error, Hashable, Sendable {
    case unknownVideoQuality(String)
    case unknownAudioQuality(String)
    case unsupportedSampleRate(String)
    case unknownDimension(String)
    /// Smaller than one macroblock, or larger than H.264 level 5.1 allows.
    case impossibleSize(FrameSize)
    /// Level 5.1 allows the frame size, but not at this frame rate.
    case tooManyFrames(size: FrameSize, frameRate: FrameRate, bitrate: Bitrate)
    /// A quality in numbers exceeds the level that is its limit.
    case beyondLevel(H264Level.Excess, size: FrameSize, quality: VideoQuality)
    /// A setting that does not exist or cannot be changed while the stream is live.
    case unknownSetting(String, known: [String])
    case unusableValue(setting: String, value: String, rule: String)
    /// A setting of a track that the stream does not have.
    case missingTrack(setting: String, track: String)
    /// Another size needs a restart, which the policy does not allow.
    case dimensionNeedsRestart(FrameSize)
}

extension QualityError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownVideoQuality(let name):
            """
            video quality \(quoted(name)) is unknown; use one of \(Self.list(VideoQuality.presets.map(\.name))), or a \
            bit rate such as 4.5M, 3500k, or 4.5M@60 for 60 frames per second
            """
        case .unknownAudioQuality(let name):
            """
            audio quality \(quoted(name)) is unknown; use one of \(Self.list(AudioQuality.presets.map(\.name))), \
            with a sample rate other than 44100 as in High2@48000
            """
        case .unsupportedSampleRate(let rate):
            """
            audio sample rate \(quoted(rate)) is not supported; use one of \
            \(Self.list(AudioQuality.sampleRates.map { String($0) })) (Hz)
            """
        case .unknownDimension(let text):
            "dimension \(quoted(text)) is neither WIDTHxHEIGHT nor a name; use a size such as 640x480, or one of \(Self.presets)"
        case .impossibleSize(let size):
            """
            dimension \(size) is impossible: each side must be at least 16 pixels, and H.264 level 5.1 allows at most \
            36864 macroblocks (as in 4096x2304) and 8688 pixels per side; use one of \(Self.presets), or a size \
            within these limits
            """
        case .tooManyFrames(let size, let frameRate, let bitrate):
            """
            \(size) at \(frameRate.framesPerSecond) fps and \(bitrate.bitsPerSecond / 1000) kbit/s is more \
            than H.264 level 5.1 allows; use a smaller dimension, \(Self.presets) for example, or a lower quality
            """
        case .beyondLevel(let excess, let size, let quality): Self.text(excess, size, quality)
        case .unknownSetting(let name, let known):
            "\(quoted(name)) is not a setting; available: \(Self.list(known))"
        case .unusableValue(let setting, let value, let rule): "\(setting) \(rule), not \(quoted(value))"
        case .missingTrack(let setting, let track): "\(setting) needs a stream with \(track)"
        case .dimensionNeedsRestart(let size):
            """
            the size can become \(size) only if the stream may restart: allow this together with the size, as in \
            set adapt restart dimension \(size)
            """
        }
    }

    private static func text(_ excess: H264Level.Excess, _ size: FrameSize, _ quality: VideoQuality) -> String {
        let rate = quality.frameRate.framesPerSecond
        let (level, presets) = (VideoQualityLimits.level, "Low1 to High3")
        let (need, limit, remedy) =
            switch excess {
            case .frameMacroblocks(let count, let limit):
                ("has \(count) macroblocks", "\(limit)", "use at most 1920x1080, or one of \(presets)")
            case .side(let pixels, let limit):
                ("has a side of \(pixels) pixels", "\(limit)", "use at most 1920x1080, or one of \(presets)")
            case .macroblocksPerSecond(let count, let limit):
                (
                    "at \(rate) frames per second has \(count) macroblocks per second", "\(limit)",
                    limit / size.macroblocks >= VideoQualityLimits.frameRates.lowerBound
                        ? "use at most \(limit / size.macroblocks) frames per second, or a smaller frame"
                        : "use a smaller frame"
                )
            case .bitrate(let bitrate, let limit):
                (
                    "at \(bitrate.bitsPerSecond / 1000) kbit/s is too much", "\(limit.bitsPerSecond / 1000)",
                    "use a lower bit rate"
                )
            }
        return """
            \(quality.name) does not fit the frame size: \(size) \(need), and H.264 level \(level.name), the highest \
            for a bit rate in numbers, allows \(limit); \(remedy)
            """
    }

    private static var presets: String { list(VideoDimension.presets.map(\.size.description)) }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}
