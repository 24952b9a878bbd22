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
            "video quality \(quoted(name)) is unknown; use one of \(Self.list(VideoQuality.allCases.map(\.name)))"
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

    private static var presets: String { list(VideoDimension.presets.map(\.size.description)) }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}
