import Media

/// How much media may wait, and the thresholds for low and high. Both are fractions of `maxDuration`.
public struct SendBufferLimits: Hashable, Sendable {
    /// The rule that a value breaks.
    public enum Violation: Error, Hashable, Sendable {
        /// `maxDuration` must be 1...5 s.
        case maxDurationOutOfRange(Duration)
        /// A threshold must be 0...1.
        case thresholdOutOfRange(name: String, value: Double)
        /// `highThreshold` must be at least `lowThreshold` + 0.1.
        case thresholdsTooClose(low: Double, high: Double)
    }

    /// Most media waiting, 1...5 s.
    public let maxDuration: Duration
    /// Below this fraction there is room to raise the quality.
    public let lowThreshold: Double
    /// Above this fraction the quality must be lowered.
    public let highThreshold: Double
    /// The most bytes waiting, whatever the timestamps say: 5 s at 25 Mbit/s. This bounds the memory.
    public static let maxByteCount = 16 << 20

    /// 3 s, 0.2 and 0.8.
    public static let standard = SendBufferLimits()

    /// 1 s.
    static let preview = SendBufferLimits(.seconds(1))

    private init(_ duration: Duration = .seconds(3)) {
        maxDuration = duration
        lowThreshold = 0.2
        highThreshold = 0.8
    }

    public init(
        maxDuration: Duration, lowThreshold: Double = 0.2, highThreshold: Double = 0.8
    ) throws(Violation) {
        guard maxDuration >= .seconds(1), maxDuration <= .seconds(5) else { throw .maxDurationOutOfRange(maxDuration) }
        for (name, value) in [("lowThreshold", lowThreshold), ("highThreshold", highThreshold)] {
            guard value >= 0, value <= 1 else { throw .thresholdOutOfRange(name: name, value: value) }
        }
        // Slightly less than 0.1, since 0.2 + 0.1 exceeds 0.3 in binary.
        guard highThreshold - lowThreshold >= 0.1 - 1e-9 else {
            throw .thresholdsTooClose(low: lowThreshold, high: highThreshold)
        }
        self.maxDuration = maxDuration
        self.lowThreshold = lowThreshold
        self.highThreshold = highThreshold
    }

    func duration(_ fraction: Double) -> Duration { maxDuration.scaled(by: fraction) }
}

extension SendBufferLimits.Violation: CustomStringConvertible {
    public var description: String {
        switch self {
        case .maxDurationOutOfRange(let duration):
            "send buffer: maxDuration must be 1 to 5 s, not \(duration.inSeconds) s"
        case .thresholdOutOfRange(let name, let value):
            "send buffer: \(name) must be from 0 to 1, not \(value)"
        case .thresholdsTooClose(let low, let high):
            """
            send buffer: highThreshold \(high) is too close to lowThreshold \(low); \
            it must be at least 0.1 above
            """
        }
    }
}
