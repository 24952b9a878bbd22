import Media

/// The nine video qualities. The order of the cases is the order of the bit rates.
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

    /// Qualities of one tier may follow each other in one unbroken stream; across the border players show garbage.
    public enum ProfileTier: Sendable {
        /// Low and Medium: Baseline profile.
        case lowAndMedium
        /// High: Main profile.
        case high
    }

    /// What a stream has when nobody chose.
    public static let standard = VideoQuality.medium1

    /// The name as people write it: "Medium1".
    public var name: String { rawValue.prefix(1).uppercased() + String(rawValue.dropFirst()) }

    /// - Parameter name: as `name`, in any case of letters.
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

    /// The level of the table, before it is raised for a frame that needs more.
    public var tableLevel: H264Level {
        switch self {
        case .medium1, .medium2, .medium3: .level3_1
        default: .level3_0
        }
    }

    /// The level of the table, or the lowest above it that carries such frames at every rate of the quality's
    /// tier: an encoder that was opened for one of them never has to be opened again for another.
    /// - Parameter maximum: the highest bit rate that the stream may have, where that is not the quality's.
    /// - Throws: `tooManyFrames` when level 5.1 does not carry them at this quality's own rates.
    public func level(for size: FrameSize, upTo maximum: Bitrate? = nil) throws(QualityError) -> H264Level {
        let own = max(bitrate, maximum ?? bitrate)
        let members = Self.allCases.filter { $0.tier == tier }
        let fastest = members.map(\.frameRate).max() ?? frameRate
        let most = max(own, members.map(\.bitrate).max() ?? own)
        if let level = tableLevel.raised(toCarry: size, at: fastest, bitrate: most) { return level }
        // A frame so large that the tier's best cannot have it.
        guard let level = tableLevel.raised(toCarry: size, at: frameRate, bitrate: own) else {
            throw .tooManyFrames(size: size, frameRate: frameRate, bitrate: own)
        }
        return level
    }

    public static func < (left: Self, right: Self) -> Bool { left.bitrate < right.bitrate }
}
