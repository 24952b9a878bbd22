import Media

/// When to try a higher bit rate.
///
/// Each failure doubles the wait, as the link is probably just what it was; each success halves it. A link that lets
/// through bursts far above what is sent has probably become better, and the wait is cut; unless that hint misled
/// before, then the bursts must be larger.
struct ProbeSchedule: Sendable {
    private(set) var wait: Duration
    /// Whether the last probe that was due was so because of a hint.
    private(set) var isHinted = false
    private var hintFactor: Double
    private let tuning: ControlTuning

    init(_ tuning: ControlTuning = ControlTuning()) {
        self.tuning = tuning
        wait = tuning.probeWait
        hintFactor = tuning.hintFactor
    }

    /// Whether it is time, when the buffer has been low for `lowTime`.
    /// - Parameters:
    ///   - hasKnownRoom: less is sent than the link was seen to carry, or it was never seen full.
    ///   - rate: what is sent now.
    ///   - burst: what came through at best in a moment of the last seconds.
    mutating func isDue(after lowTime: Duration, hasKnownRoom: Bool, rate: Bitrate, burst: Bitrate) -> Bool {
        guard lowTime >= tuning.shortestProbeWait else { return false }
        isHinted = burst > rate * hintFactor
        return hasKnownRoom || isHinted || lowTime >= wait
    }

    /// How much of the wait counts as over after a probe that looked well: all but two seconds, or all of it.
    func waited(isLimitKnown: Bool) -> Duration { isLimitKnown ? wait - tuning.shortestProbeWait : wait }

    /// The raise has held.
    mutating func succeeded() {
        wait = max(wait / 2, tuning.probeWait)
        if isHinted { hintFactor = tuning.hintFactor }
    }

    /// The raise was too much.
    mutating func failed() {
        wait = min(wait * 2, tuning.longestProbeWait)
        if isHinted { hintFactor = min(hintFactor * 1.5, tuning.largestHintFactor) }
    }

    /// The link is another one.
    mutating func reset() { self = ProbeSchedule(tuning) }
}
