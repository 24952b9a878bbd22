/// The H.264 profiles that the product encodes (H.264 annex A.2).
public enum H264Profile: UInt8, Sendable {
    case baseline = 66
    case main = 77
    case high = 100
}

/// An H.264 level and the limits that matter here (H.264 table A-1).
public enum H264Level: UInt8, CaseIterable, Comparable, Sendable {
    case level1_0 = 10
    case level1_1 = 11
    case level1_2 = 12
    case level1_3 = 13
    case level2_0 = 20
    case level2_1 = 21
    case level2_2 = 22
    case level3_0 = 30
    case level3_1 = 31
    case level3_2 = 32
    case level4_0 = 40
    case level4_1 = 41
    case level4_2 = 42
    case level5_0 = 50
    case level5_1 = 51

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Macroblocks per second (MaxMBPS), macroblocks per frame (MaxFS), and
    /// the bit rate for Baseline and Main (MaxBR).
    private var limits: (macroblockRate: Int, frameMacroblocks: Int, kilobits: Int) {
        switch self {
        case .level1_0: (1_485, 99, 64)
        case .level1_1: (3_000, 396, 192)
        case .level1_2: (6_000, 396, 384)
        case .level1_3: (11_880, 396, 768)
        case .level2_0: (11_880, 396, 2_000)
        case .level2_1: (19_800, 792, 4_000)
        case .level2_2: (20_250, 1_620, 4_000)
        case .level3_0: (40_500, 1_620, 10_000)
        case .level3_1: (108_000, 3_600, 14_000)
        case .level3_2: (216_000, 5_120, 20_000)
        case .level4_0: (245_760, 8_192, 20_000)
        case .level4_1: (245_760, 8_192, 50_000)
        case .level4_2: (522_240, 8_704, 50_000)
        case .level5_0: (589_824, 22_080, 135_000)
        case .level5_1: (983_040, 36_864, 240_000)
        }
    }

    /// As people write it: "3.1".
    public var name: String { "\(rawValue / 10).\(rawValue % 10)" }

    /// The highest bit rate of this level, in Baseline and Main profile.
    public var largestBitrate: Bitrate { Bitrate(kilobitsPerSecond: limits.kilobits) }

    /// A limit of a level, and what a stream needs instead.
    public enum Excess: Hashable, Sendable {
        case frameMacroblocks(Int, limit: Int)
        /// The longer side of a frame, in pixels.
        case side(Int, limit: Int)
        case macroblocksPerSecond(Int, limit: Int)
        case bitrate(Bitrate, limit: Bitrate)
    }

    /// The first limit that such a stream exceeds; `nil` if the level allows it. A side may be at most
    /// sqrt(8 x MaxFS) macroblocks long (annex A.3.1).
    public func excess(of size: FrameSize, at frameRate: FrameRate, bitrate: Bitrate) -> Excess? {
        let limits = limits
        let longest = (max(size.width, size.height) + 15) / 16
        let perSecond = size.macroblocks * frameRate.framesPerSecond
        if size.macroblocks > limits.frameMacroblocks {
            return .frameMacroblocks(size.macroblocks, limit: limits.frameMacroblocks)
        }
        if longest * longest > 8 * limits.frameMacroblocks {
            let most = (1...longest).last { $0 * $0 <= 8 * limits.frameMacroblocks } ?? 0
            return .side(max(size.width, size.height), limit: most * 16)
        }
        if perSecond > limits.macroblockRate {
            return .macroblocksPerSecond(perSecond, limit: limits.macroblockRate)
        }
        return bitrate > largestBitrate ? .bitrate(bitrate, limit: largestBitrate) : nil
    }

    /// Whether the level allows such a stream.
    public func carries(_ size: FrameSize, at frameRate: FrameRate, bitrate: Bitrate) -> Bool {
        excess(of: size, at: frameRate, bitrate: bitrate) == nil
    }

    /// This level, or the lowest higher one that allows such a stream; `nil` if none does.
    public func raised(toCarry size: FrameSize, at frameRate: FrameRate, bitrate: Bitrate) -> H264Level? {
        Self.allCases.first { $0 >= self && $0.carries(size, at: frameRate, bitrate: bitrate) }
    }
}
