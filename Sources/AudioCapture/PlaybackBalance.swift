import Media

/// Holds the fill of a card's buffer whose clock is a computer's: a little faster while it grows, a little slower while it
/// shrinks. In proportion alone: a clock 100 ppm off costs 5 ms of fill.
struct PlaybackBalance {
    /// Behind a block; what a loaded machine may be late is left before the next one.
    static let smallestFill = Duration.milliseconds(60)
    private static let lateness = Duration.milliseconds(40)
    /// With more, the audio is late for good, and is cut. The card's buffer has room for it.
    static let largestFill = Duration.milliseconds(220)

    /// Behind a block that lasts so long: those of low sample rates last longer.
    static func wantedFill(ofBlocks duration: Duration) -> Duration { max(smallestFill, duration + lateness) }

    private static let interval = Duration.milliseconds(500)
    private static let partsPerMillisecond = 20.0
    private static let largestCorrection = 1000.0

    private var sum = 0.0
    private var count = 0
    private var intervalStart: MediaTimestamp?

    /// A block was written.
    /// - Parameters:
    ///   - fill: behind it.
    ///   - wanted: `wantedFill` of such blocks.
    /// - Returns: by how many parts per million the card is to be faster; `nil` to leave it.
    mutating func written(fill: Duration, wanted: Duration, now: MediaTimestamp) -> Double? {
        let start = intervalStart ?? now
        intervalStart = start
        sum += (fill - wanted).inSeconds * 1000
        count += 1
        guard now - start >= Self.interval else { return nil }
        let correction = sum / Double(count) * Self.partsPerMillisecond
        self = PlaybackBalance()
        intervalStart = now
        return min(max(correction, -Self.largestCorrection), Self.largestCorrection)
    }
}
