/// A point in time on a monotonic clock, in nanoseconds since that clock's zero.
///
/// On a device the clock is CLOCK_MONOTONIC, both for capture times and for every `now:` parameter, so that they can be
/// compared. A file has its own zero.
public struct MediaTimestamp: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    public init(milliseconds: Int64) { self.init(nanoseconds: milliseconds &* 1_000_000) }

    public static let zero = MediaTimestamp(nanoseconds: 0)

    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

    public static func - (left: Self, right: Self) -> Duration {
        .nanoseconds(left.nanoseconds &- right.nanoseconds)
    }

    public static func + (left: Self, right: Duration) -> Self {
        Self(nanoseconds: left.nanoseconds &+ right.wholeNanoseconds)
    }

    public static func - (left: Self, right: Duration) -> Self {
        Self(nanoseconds: left.nanoseconds &- right.wholeNanoseconds)
    }

    public static func += (left: inout Self, right: Duration) { left = left + right }
}

extension Duration {
    /// The duration in nanoseconds, limited to 292 years.
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue
            &+ attoseconds / 1_000_000_000
    }

    /// The duration in seconds, for display and ratios.
    public var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }

    /// The duration times a factor, to the nanosecond, at most 292 years. (The standard library's `*` converts between `Double` and 128 bits by
    /// generic code, which takes 300 instructions.)
    public func scaled(by factor: Double) -> Duration {
        .nanoseconds(Int64(exactly: (Double(wholeNanoseconds) * factor).rounded()) ?? .max)
    }
}
