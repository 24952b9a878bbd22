import Media

/// The order of a camera's frames, from the number and time that its driver gives each frame.
public struct CaptureOrder: Sendable {
    /// If a sensor's clock differs more than this from the system's, it is another clock.
    private static let largestAge = Duration.seconds(5)

    private var lastSequence: UInt32?
    private var lastTime = MediaTimestamp.zero
    private var lastFrame: (stamp: MediaTimestamp, duration: Duration)?

    public init() {}

    /// To be called for every frame, even if corrupt.
    /// - Returns: how many frames are missing since the last one.
    public mutating func missed(before sequence: UInt32) -> Int {
        defer { lastSequence = sequence }
        guard let lastSequence else { return 0 }
        let missed = sequence &- lastSequence &- 1
        // If the driver restarts its numbers, no frame was lost.
        return missed < 1000 ? Int(missed) : 0
    }

    /// Detects missing frames by the sensor's clock. A Raspberry Pi's image processor numbers the frames that it
    /// receives, so frames lost between sensor and memory leave no gap in the numbers. To be called for every frame,
    /// after `missed(before:)`.
    /// - Parameters:
    ///   - stamp: the sensor's time stamp.
    ///   - duration: time to the next frame; zero if unknown.
    /// - Returns: how many frames would fit between the last one and this one.
    public mutating func missed(beforeFrameAt stamp: MediaTimestamp, lasting duration: Duration) -> Int {
        defer { lastFrame = (stamp, duration) }
        guard let lastFrame, stamp > lastFrame.stamp, stamp - lastFrame.stamp < Self.largestAge else { return 0 }
        // When the rate changes, either duration may apply.
        let longest = max(duration, lastFrame.duration)
        guard longest > .zero else { return 0 }
        return max(0, Int(((stamp - lastFrame.stamp) / longest).rounded()) - 1)
    }

    /// The next frame's number does not continue from the last one.
    public mutating func numbersChange() { lastSequence = nil }

    /// - Parameter stamp: the driver's time stamp, on CLOCK_MONOTONIC; `nil` if it has none.
    /// - Returns: a time later than all before: the driver's, or `now` if that is implausible.
    public mutating func captureTime(_ stamp: MediaTimestamp?, now: MediaTimestamp) -> MediaTimestamp {
        var time = now
        if let stamp, stamp <= now, now - stamp < Self.largestAge { time = stamp }
        lastTime = max(time, lastTime + .nanoseconds(1))
        return lastTime
    }
}
