import Media

/// Whether a stream's filters leave time for its frames: a chain that makes fewer than ten of a second loses its most expensive
/// filter, which is tried again later.
public struct FilterBudget: Hashable, Sendable {
    public enum Action: Hashable, Sendable {
        case drop
        case restore
    }

    /// Of a frame, for all filters together: at ten frames a second the rest is for all else that is done on the way.
    public static let limit = Duration.milliseconds(80)
    /// What all else on the way may take of the hundred milliseconds of a frame.
    private static let shareOfOthers = Duration.milliseconds(100) - limit
    /// Below a tenth of what is done for a frame, filters are not what is slow: without them it would be as slow.
    private static let smallestPart = 10
    /// A moment in which the processor was busy otherwise is no reason.
    static let patience = Duration.seconds(1)
    static let shortestPause = Duration.seconds(30)
    static let longestPause = Duration.seconds(480)
    /// What was tried again and holds for so long was no mistake.
    static let probation = Duration.seconds(20)

    private var slowSince: MediaTimestamp?
    private var droppedCount = 0
    private var pause = Self.shortestPause
    private var nextTrial: MediaTimestamp?
    private var lastTrial: MediaTimestamp?

    public init() {}

    /// The chain is another one: what was dropped before is no more.
    public mutating func chainChanged() { self = FilterBudget() }

    /// - Parameters:
    ///   - filters: what they take of a frame.
    ///   - everything: that is done for it, filters and all.
    /// - Returns: what the filters answer for: of what all else takes beyond its share, too, where they are a real part of it.
    public static func charge(filters: Duration, everything: Duration) -> Duration {
        guard filters * smallestPart >= everything else { return filters }
        return filters + max(.zero, everything - filters - shareOfOthers)
    }

    /// - Parameters:
    ///   - cost: of a frame of late, for all filters that are not dropped: `charge`.
    ///   - now: the frame's time.
    /// - Returns: what to do with the chain before the next frame.
    public mutating func frameFiltered(cost: Duration, at now: MediaTimestamp) -> Action? {
        guard cost > Self.limit else {
            slowSince = nil
            return restored(at: now)
        }
        guard let since = slowSince else {
            slowSince = now
            return nil
        }
        guard now - since >= Self.patience else { return nil }
        slowSince = nil
        droppedCount += 1
        if let lastTrial, now - lastTrial < Self.probation { pause = min(pause * 2, Self.longestPause) }
        lastTrial = nil
        nextTrial = now + pause
        return .drop
    }

    private mutating func restored(at now: MediaTimestamp) -> Action? {
        guard droppedCount > 0, let time = nextTrial, now >= time else { return nil }
        droppedCount -= 1
        lastTrial = now
        nextTrial = now + pause
        return .restore
    }
}
