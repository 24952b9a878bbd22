import Media

/// The nine video qualities, in order of bit rate.
public enum VideoQuality: String, CaseIterable, Comparable, Sendable {
    case low1
    case low2
    case low3
    case medium1
    case medium2
    case medium3
    case high1
    case high2
    case high3

    /// Qualities of one tier can follow each other within a stream; if the tier changes, players show garbage.
    public enum ProfileTier: Sendable {
        /// Low and Medium: Baseline profile.
        case lowAndMedium
        /// High: Main profile.
        case high
    }

    /// The default.
    public static let standard = VideoQuality.medium1

    /// The name for people: "Medium1".
    public var name: String { rawValue.prefix(1).uppercased() + String(rawValue.dropFirst()) }

    /// - Parameter name: same form as `name`, case-insensitive.
    public init(named name: String) throws(QualityError) {
        guard let quality = VideoQuality(rawValue: name.lowercased()) else { throw .unknownVideoQuality(name) }
        self = quality
    }

    public var frameRate: FrameRate {
        switch self {
        case .low1: FrameRate(framesPerSecond: 12)
        case .low2, .low3: FrameRate(framesPerSecond: 15)
        default: FrameRate(framesPerSecond: 30)
        }
    }

    public var bitrate: Bitrate {
        let kilobits =
            switch self {
            case .low1: 150
            case .low2: 264
            case .low3: 350
            case .medium1: 512
            case .medium2: 800
            case .medium3: 1000
            case .high1: 1200
            case .high2: 1500
            case .high3: 2000
            }
        return Bitrate(kilobitsPerSecond: kilobits)
    }

    public var tier: ProfileTier { self >= .high1 ? .high : .lowAndMedium }

    public var profile: H264Profile { tier == .high ? .main : .baseline }

    /// The level in the table, before it is raised for larger frames.
    public var tableLevel: H264Level {
        switch self {
        case .medium1, .medium2, .medium3: .level3_1
        default: .level3_0
        }
    }

    /// The level in the table, or the lowest one above it that supports such frames at every rate of the quality's
    /// tier. An encoder opened for one quality of the tier then never has to be reopened for another.
    /// - Parameter maximum: the stream's highest bit rate, if it differs from the quality's.
    /// - Throws: `tooManyFrames` if level 5.1 does not support them even at this quality's own rates.
    public func level(for size: FrameSize, upTo maximum: Bitrate? = nil) throws(QualityError) -> H264Level {
        let own = max(bitrate, maximum ?? bitrate)
        let members = Self.allCases.filter { $0.tier == tier }
        let fastest = members.map(\.frameRate).max() ?? frameRate
        let most = max(own, members.map(\.bitrate).max() ?? own)
        if let level = tableLevel.raised(toCarry: size, at: fastest, bitrate: most) { return level }
        // The frame is too large for the tier's best quality.
        guard let level = tableLevel.raised(toCarry: size, at: frameRate, bitrate: own) else {
            throw .tooManyFrames(size: size, frameRate: frameRate, bitrate: own)
        }
        return level
    }

    public static func < (left: Self, right: Self) -> Bool { left.bitrate < right.bitrate }
}
