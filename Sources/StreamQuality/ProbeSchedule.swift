import Media

/// When to try a higher bit rate.
///
/// Each failure doubles the wait, since the link probably has not changed; each success halves it. A link that delivers
/// bursts far above the present rate has probably improved, so the wait is cut short. If that hint was misleading
/// before, larger bursts are required.
struct ProbeSchedule: Sendable {
    private(set) var wait: Duration
    /// Whether the last probe was triggered by a hint.
    private(set) var isHinted = false
    private var hintFactor: Double
    private let tuning: ControlTuning

    init(_ tuning: ControlTuning = ControlTuning()) {
        self.tuning = tuning
        wait = tuning.probeWait
        hintFactor = tuning.hintFactor
    }

    /// Whether a probe is due, after the buffer has been low for `lowTime`.
    /// - Parameters:
    ///   - hasKnownRoom: the present rate is below the link's known rate, or the link was never full.
    ///   - rate: the present rate.
    ///   - burst: the highest rate delivered for a moment in the last seconds.
    mutating func isDue(after lowTime: Duration, hasKnownRoom: Bool, rate: Bitrate, burst: Bitrate) -> Bool {
        guard lowTime >= tuning.shortestProbeWait else { return false }
        isHinted = burst > rate * hintFactor
        return hasKnownRoom || isHinted || lowTime >= wait
    }

    /// The part of the wait that a successful probe covers: all but two seconds, or all of it.
    func waited(isLimitKnown: Bool) -> Duration { isLimitKnown ? wait - tuning.shortestProbeWait : wait }

    /// The raise has lasted.
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
