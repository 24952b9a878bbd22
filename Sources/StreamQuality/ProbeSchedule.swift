import Media

/// When to try a higher bit rate.
///
/// Each failure doubles the wait, as the link is probably just what it was; each success halves it. A link that lets
/// through bursts far above the estimate has probably become better, and the wait is cut; unless that hint misled
/// before, then the bursts must be larger.
struct ProbeSchedule: Sendable {
    private var wait = Self.shortestWait
    private var hintFactor = Self.smallestHint
    private var usedHint = false

    private static let shortestWait = Duration.seconds(2)
    private static let longestWait = Duration.seconds(32)
    private static let smallestHint = 1.5
    private static let largestHint = 8.0

    /// Whether it is time, when the buffer has been low for `lowTime`.
    /// - Parameters:
    ///   - rate: what is sent now.
    ///   - burst: what came through at best in a moment of the last seconds.
    mutating func isDue(after lowTime: Duration, rate: Bitrate, burst: Bitrate) -> Bool {
        usedHint = false
        if lowTime >= wait { return true }
        guard lowTime >= Self.shortestWait, isHint(rate: rate, burst: burst) else { return false }
        usedHint = true
        return true
    }

    func isHint(rate: Bitrate, burst: Bitrate) -> Bool {
        Double(burst.bitsPerSecond) > hintFactor * Double(rate.bitsPerSecond)
    }

    mutating func succeeded() {
        wait = max(wait / 2, Self.shortestWait)
        hintFactor = Self.smallestHint
    }

    mutating func failed() {
        wait = min(wait * 2, Self.longestWait)
        if usedHint { hintFactor = min(hintFactor * 1.5, Self.largestHint) }
    }

    /// The link is another one.
    mutating func reset() { self = ProbeSchedule() }
}
