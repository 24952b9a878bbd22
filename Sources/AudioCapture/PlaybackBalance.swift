import Media

/// Stabilizes the fill of a card's buffer that is clocked by a computer: the card runs a little faster while the fill grows, a
/// little slower while it shrinks. The control is purely proportional: a clock 100 ppm off changes the fill by 5 ms.
struct PlaybackBalance {
    /// After a block is written. It leaves room for a loaded machine to be late with the next one.
    static let smallestFill = Duration.milliseconds(60)
    private static let lateness = Duration.milliseconds(40)
    /// A larger fill would make all later audio late, so audio is dropped. The card's buffer has room for this much.
    static let largestFill = Duration.milliseconds(220)

    /// The fill to maintain after a block of this duration. Blocks at low sample rates are longer.
    static func wantedFill(ofBlocks duration: Duration) -> Duration { max(smallestFill, duration + lateness) }

    private static let interval = Duration.milliseconds(500)
    private static let partsPerMillisecond = 20.0
    private static let largestCorrection = 1000.0

    private var sum = 0.0
    private var count = 0
    private var intervalStart: MediaTimestamp?

    /// Reports a written block.
    /// - Parameters:
    ///   - fill: after the block.
    ///   - wanted: `wantedFill` for such blocks.
    /// - Returns: how many parts per million faster the card should run; `nil` for no change.
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
