/// Width and height of a frame in pixels.
public struct FrameSize: Hashable, Sendable {
    public let width: Int
    public let height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    public var pixelCount: Int { width * height }

    /// Whether both have exactly the same aspect ratio.
    public func hasShape(of other: FrameSize) -> Bool { width * other.height == other.width * height }

    /// 16x16 macroblocks that cover the frame (H.264 section 6.3).
    public var macroblocks: Int { ((width + 15) / 16) * ((height + 15) / 16) }
}

extension FrameSize: CustomStringConvertible {
    public var description: String { "\(width)x\(height)" }
}

/// Frames per second, a whole number of at least 1.
public struct FrameRate: Hashable, Comparable, Sendable {
    public let framesPerSecond: Int

    public init(framesPerSecond: Int) { self.framesPerSecond = max(1, framesPerSecond) }

    /// The duration of one frame, rounded down to a nanosecond.
    public var frameDuration: Duration { .nanoseconds(1_000_000_000 / Int64(framesPerSecond)) }

    /// The time from frame 0 to frame `index`, without the drift of adding frame durations.
    public func offset(ofFrame index: Int) -> Duration {
        .nanoseconds(Int64(index) &* 1_000_000_000 / Int64(framesPerSecond))
    }

    public static func < (left: Self, right: Self) -> Bool { left.framesPerSecond < right.framesPerSecond }
}
