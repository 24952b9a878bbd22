import Media

/// A bit rate and a frame rate for video: one of the nine presets, or a bit rate in numbers.
///
/// The bit rate alone decides the profile: that of the best preset with at most this bit rate.
public struct VideoQuality: Hashable, Comparable, Sendable {
    /// Qualities of one tier can follow each other within a stream; if the tier changes, players show garbage.
    public enum ProfileTier: Sendable {
        /// Low and Medium: Baseline profile.
        case lowAndMedium
        /// High: Main profile.
        case high
    }

    public let bitrate: Bitrate
    public let frameRate: FrameRate

    init(bitrate: Bitrate, frameRate: FrameRate) {
        self.bitrate = bitrate
        self.frameRate = frameRate
    }

    private init(_ preset: VideoPreset) { self.init(bitrate: preset.bitrate, frameRate: preset.frameRate) }

    public static let low1 = VideoQuality(VideoPreset.low1)
    public static let low2 = VideoQuality(VideoPreset.low2)
    public static let low3 = VideoQuality(VideoPreset.low3)
    public static let medium1 = VideoQuality(VideoPreset.medium1)
    public static let medium2 = VideoQuality(VideoPreset.medium2)
    public static let medium3 = VideoQuality(VideoPreset.medium3)
    public static let high1 = VideoQuality(VideoPreset.high1)
    public static let high2 = VideoQuality(VideoPreset.high2)
    public static let high3 = VideoQuality(VideoPreset.high3)
    /// The default.
    public static let standard = medium1
    /// The named qualities, lowest first.
    public static let presets = VideoPreset.allCases.map { VideoQuality($0) }

    /// The best preset with at most this bit rate, or the lowest.
    var row: VideoPreset { VideoPreset.allCases.last { $0.bitrate <= bitrate } ?? .low1 }

    /// Whether it is one of the nine presets.
    public var isPreset: Bool { self == VideoQuality(row) }

    public var tier: ProfileTier { row.tier }

    public var profile: H264Profile { tier == .high ? .main : .baseline }

    /// The level in the table, before it is raised for larger frames and higher rates.
    public var tableLevel: H264Level { row.level }

    /// The lowest bit rate at which this quality's own frame rate is used. A rate above the row's ends at half of the
    /// quality's bit rate: below, half of 60 frames per second get as many bits each as all of them at the whole.
    var leastBitrate: Bitrate {
        frameRate > row.frameRate ? Bitrate(bitsPerSecond: bitrate.bitsPerSecond / 2) : row.bitrate
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.bitrate.bitsPerSecond, left.frameRate.framesPerSecond)
            < (right.bitrate.bitsPerSecond, right.frameRate.framesPerSecond)
    }
}

// The level.
extension VideoQuality {
    /// The level in the table, or the lowest one above it that supports such frames at every rate of the quality's
    /// tier. An encoder opened for one quality of the tier then never has to be reopened for another.
    /// - Parameter maximum: the stream's highest bit rate, if it differs from the quality's.
    /// - Throws: `tooManyFrames` if level 5.1 does not support them even at this quality's own rates; `beyondLevel` if
    ///   a quality in numbers needs more than its own limit.
    public func level(for size: FrameSize, upTo maximum: Bitrate? = nil) throws(QualityError) -> H264Level {
        if !isPreset, let excess = VideoQualityLimits.level.excess(of: size, at: frameRate, bitrate: bitrate) {
            throw .beyondLevel(excess, size: size, quality: self)
        }
        let own = max(bitrate, maximum ?? bitrate)
        let members = Self.presets.filter { $0.tier == tier }
        let fastest = max(frameRate, members.map(\.frameRate).max() ?? frameRate)
        let most = max(own, members.map(\.bitrate).max() ?? own)
        if let level = tableLevel.raised(toCarry: size, at: fastest, bitrate: most) { return level }
        // The frame is too large for the tier's best quality.
        guard let level = tableLevel.raised(toCarry: size, at: frameRate, bitrate: own) else {
            throw .tooManyFrames(size: size, frameRate: frameRate, bitrate: own)
        }
        return level
    }
}
