import Media

/// Decides when there is no time for all filters, and when to try again: frames that come too rarely are worse than a filter that
/// is missing.
public struct FilterLoad: Sendable {
    public enum Decision: Sendable {
        /// Leave out the filter that takes most.
        case drop
        /// Take in the filter that was left out last.
        case restore
    }

    /// Frames that come less often are too rare, unless they are wanted so.
    public static let lowestRate = FrameRate(framesPerSecond: 10)
    /// What is judged at a time. The first one after a change is not: it has frames of before.
    static let window = Duration.seconds(1)
    /// Below this part of the time filters are not the reason.
    static let leastShare = 0.2
    /// Until the first attempt to take a filter in again; twice as long after each that failed.
    static let firstPatience = Duration.seconds(10)
    static let longestPatience = Duration.seconds(320)

    private var windowStart: MediaTimestamp?
    private var frames = 0
    private var filtering = Duration.zero
    /// There was a change in the window.
    private var isUnsettled = false
    public private(set) var droppedCount = 0
    private var patience = Self.firstPatience
    /// Of the last decision.
    private var decision: (kind: Decision, time: MediaTimestamp)?

    public init() {}

    /// The chain is another one: all filters are there.
    public mutating func chainChanged() { self = FilterLoad() }

    /// - Parameters:
    ///   - time: of the frame; later than any before.
    ///   - duration: that all filters took for it.
    ///   - wanted: how often frames are to come.
    public mutating func frame(at time: MediaTimestamp, took duration: Duration, wanted: FrameRate) -> Decision? {
        guard let start = windowStart else {
            windowStart = time
            return nil
        }
        frames += 1
        filtering += duration
        let elapsed = time - start
        guard elapsed >= Self.window else { return nil }
        defer {
            (windowStart, frames, filtering) = (time, 0, .zero)
        }
        if isUnsettled {
            isUnsettled = false
            return nil
        }
        let least = min(Double(Self.lowestRate.framesPerSecond), 0.9 * Double(wanted.framesPerSecond))
        let isSlow = Double(frames) / elapsed.inSeconds < least
        if isSlow { return filtering.inSeconds / elapsed.inSeconds > Self.leastShare ? drop(at: time) : nil }
        return restore(at: time)
    }

    private mutating func drop(at time: MediaTimestamp) -> Decision {
        if let decision, decision.kind == .restore {
            // Taken in again a moment ago, it was too early; else this is another story.
            let isEarly = time - decision.time <= patience
            patience = isEarly ? min(patience * 2, Self.longestPatience) : Self.firstPatience
        }
        droppedCount += 1
        return decided(.drop, at: time)
    }

    private mutating func restore(at time: MediaTimestamp) -> Decision? {
        guard droppedCount > 0, let decision, time - decision.time >= patience else { return nil }
        droppedCount -= 1
        return decided(.restore, at: time)
    }

    private mutating func decided(_ kind: Decision, at time: MediaTimestamp) -> Decision {
        decision = (kind, time)
        isUnsettled = true
        return kind
    }
}
