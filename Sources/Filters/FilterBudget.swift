import Media

/// Decides whether a stream's filters leave enough time for its frames. If a chain allows fewer than ten frames per
/// second, its most expensive filter is dropped and tried again later.
public struct FilterBudget: Hashable, Sendable {
    public enum Action: Hashable, Sendable {
        case drop
        case restore
    }

    /// Time per frame for all filters together. At ten frames per second, the rest is left for other processing.
    public static let limit = Duration.milliseconds(80)
    /// The share of other processing in the hundred milliseconds of a frame.
    private static let shareOfOthers = Duration.milliseconds(100) - limit
    /// If filters take less than a tenth of the processing time, they are not the cause: without them it would be as
    /// slow.
    private static let smallestPart = 10
    /// Ignores moments in which the processor was busy with something else.
    static let patience = Duration.seconds(1)
    static let shortestPause = Duration.seconds(30)
    static let longestPause = Duration.seconds(480)
    /// A filter that was restored and stays this long is considered affordable.
    static let probation = Duration.seconds(20)

    private var slowSince: MediaTimestamp?
    private var droppedCount = 0
    private var pause = Self.shortestPause
    private var nextTrial: MediaTimestamp?
    private var lastTrial: MediaTimestamp?

    public init() {}

    /// The chain has changed: earlier drops no longer count.
    public mutating func chainChanged() { self = FilterBudget() }

    /// - Parameters:
    ///   - filters: the filters' time per frame.
    ///   - everything: the time for all processing of a frame, including filters.
    /// - Returns: the time charged to the filters. It includes the excess of other processing beyond its share, if
    ///   filters are a significant part of the total.
    public static func charge(filters: Duration, everything: Duration) -> Duration {
        guard filters * smallestPart >= everything else { return filters }
        return filters + max(.zero, everything - filters - shareOfOthers)
    }

    /// - Parameters:
    ///   - cost: recent cost per frame of all filters that are not dropped, from `charge`.
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
