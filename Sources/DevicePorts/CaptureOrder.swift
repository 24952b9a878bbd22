import Media

/// The order of a camera's frames by what its driver says of each: a number and a time.
public struct CaptureOrder: Sendable {
    /// A sensor's clock that differs more from the system's is another clock.
    private static let largestAge = Duration.seconds(5)

    private var lastSequence: UInt32?
    private var lastTime = MediaTimestamp.zero

    public init() {}

    /// Called for every frame, whole or broken.
    /// - Returns: how many frames are missing between the last one and this.
    public mutating func missed(before sequence: UInt32) -> Int {
        defer { lastSequence = sequence }
        guard let lastSequence else { return 0 }
        let missed = sequence &- lastSequence &- 1
        // A driver that starts its numbers anew has lost nothing.
        return missed < 1000 ? Int(missed) : 0
    }

    /// The next frame's number does not go on from the last one's.
    public mutating func numbersChange() { lastSequence = nil }

    /// - Parameter stamp: the driver's, on CLOCK_MONOTONIC; `nil` where it has none.
    /// - Returns: a time later than any before: the driver's, or `now` where that cannot be right.
    public mutating func captureTime(_ stamp: MediaTimestamp?, now: MediaTimestamp) -> MediaTimestamp {
        var time = now
        if let stamp, stamp <= now, now - stamp < Self.largestAge { time = stamp }
        lastTime = max(time, lastTime + .nanoseconds(1))
        return lastTime
    }
}
