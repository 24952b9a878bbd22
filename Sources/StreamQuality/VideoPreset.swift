import Media

/// The table of the nine named qualities, in order of bit rate.
enum VideoPreset: String, CaseIterable {
    case low1
    case low2
    case low3
    case medium1
    case medium2
    case medium3
    case high1
    case high2
    case high3

    /// The name for people: "Medium1".
    var name: String { rawValue.prefix(1).uppercased() + String(rawValue.dropFirst()) }

    var frameRate: FrameRate {
        switch self {
        case .low1: FrameRate(framesPerSecond: 12)
        case .low2, .low3: FrameRate(framesPerSecond: 15)
        default: FrameRate(framesPerSecond: 30)
        }
    }

    var bitrate: Bitrate {
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

    var tier: VideoQuality.ProfileTier { bitrate >= Self.high1.bitrate ? .high : .lowAndMedium }

    /// The level in the table, before it is raised for larger frames.
    var level: H264Level {
        switch self {
        case .medium1, .medium2, .medium3: .level3_1
        default: .level3_0
        }
    }
}
