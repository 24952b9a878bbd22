import Media
import StreamQuality

/// The settings that can be changed while a stream is live.
public struct LiveConfiguration: Hashable, Sendable {
    /// The settings by name, as on the command line.
    public enum Setting: String, CaseIterable, Sendable {
        case quality
        case audioQuality = "audio-quality"
        case bitrate
        case framesPerSecond = "fps"
        case dimension
        case policy = "adapt"
        case resize
        case keepAudioQuality = "keep-audio-quality"
        case mute

        /// The track that the setting belongs to; `nil` if it belongs to both.
        var track: StreamTrack? {
            switch self {
            case .quality, .bitrate, .framesPerSecond, .dimension, .resize: .video
            case .audioQuality, .keepAudioQuality, .mute: .audio
            case .policy: nil
            }
        }
    }

    public var settings: QualitySettings
    public var dimension: VideoDimension
    public var isMuted: Bool

    public init(settings: QualitySettings, dimension: VideoDimension, isMuted: Bool = false) {
        self.settings = settings
        self.dimension = dimension
        self.isMuted = isMuted
    }

    /// The configuration after these changes, applied in order.
    /// - Throws: if the stream lacks a setting's track, or its policy does not allow another size.
    public func applying(_ changes: [Change]) throws(QualityError) -> LiveConfiguration {
        var result = self
        for change in changes { try result.apply(change) }
        let mayRestart = result.settings.policy == .restart
        guard result.dimension == dimension || mayRestart else { throw .dimensionNeedsRestart(result.dimension.size) }
        return result
    }

    mutating func apply(_ change: Change) throws(QualityError) {
        if let track = change.setting.track, !hasTrack(track) {
            throw .missingTrack(setting: change.setting.rawValue, track: track.rawValue)
        }
        switch change {
        case .quality(let quality):
            settings.videoQuality = quality
            settings.bitrateRange = BitrateRange(
                minimum: min(settings.bitrateRange.minimum, quality.bitrate), start: quality.bitrate,
                maximum: quality.bitrate)
        case .audioQuality(let quality): settings.audioQuality = quality
        case .bitrate(let choice): settings.setBitrate(choice)
        case .frameRate(let rate): settings.frameRateLimit = rate
        case .dimension(let dimension): self.dimension = dimension
        case .policy(let policy): settings.policy = policy
        case .resize(let policy): settings.resize = policy
        case .keepAudioQuality(let isKept): settings.audioFollowsVideo = !isKept
        case .mute(let isMuted): self.isMuted = isMuted
        }
    }

    private func hasTrack(_ track: StreamTrack) -> Bool {
        switch track {
        case .video: settings.videoQuality != nil
        case .audio: settings.audioQuality != nil
        }
    }

    /// All current settings, in the order of `Setting`, as arguments for `set`.
    public var values: [Change] { Setting.allCases.compactMap(value) }

    private func value(of setting: Setting) -> Change? {
        if let track = setting.track, !hasTrack(track) { return nil }
        switch setting {
        case .quality: return settings.videoQuality.map { .quality($0) }
        case .audioQuality: return settings.audioQuality.map { .audioQuality($0) }
        case .bitrate: return .bitrate(.range(settings.bitrateRange))
        case .framesPerSecond:
            return settings.videoQuality.map { .frameRate(settings.frameRate(atMost: $0.frameRate)) }
        case .dimension: return .dimension(dimension)
        case .policy: return .policy(settings.policy)
        case .resize: return .resize(settings.resize)
        case .keepAudioQuality: return .keepAudioQuality(!settings.audioFollowsVideo)
        case .mute: return .mute(isMuted)
        }
    }
}
