import Media

/// The order of a camera's frames by what its driver says of each: a number and a time.
public struct CaptureOrder: Sendable {
    /// A sensor's clock that differs more from the system's is another clock.
    private static let largestAge = Duration.seconds(5)

    private var lastSequence: UInt32?
    private var lastTime = MediaTimestamp.zero
    private var lastFrame: (stamp: MediaTimestamp, duration: Duration)?

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

    /// Frames that are missing by the sensor's clock. A Raspberry Pi's image processor numbers what it is given: what is lost
    /// between sensor and memory leaves no gap in the numbers. Called for every frame, after `missed(before:)`.
    /// - Parameters:
    ///   - stamp: the sensor's.
    ///   - duration: from this frame to the next; zero where that is not known.
    /// - Returns: how many frames had room between the last one and this.
    public mutating func missed(beforeFrameAt stamp: MediaTimestamp, lasting duration: Duration) -> Int {
        defer { lastFrame = (stamp, duration) }
        guard let lastFrame, stamp > lastFrame.stamp, stamp - lastFrame.stamp < Self.largestAge else { return 0 }
        // At a change of the rate either may hold.
        let longest = max(duration, lastFrame.duration)
        guard longest > .zero else { return 0 }
        return max(0, Int(((stamp - lastFrame.stamp) / longest).rounded()) - 1)
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
