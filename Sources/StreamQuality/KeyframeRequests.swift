import Media

/// Combines the keyframe requests of a stream's sinks. A keyframe costs every sink bits, so secondary sinks get at most
/// one per second, and one keyframe answers all waiting sinks.
public struct KeyframeRequests: Sendable {
    private static let interval = Duration.seconds(1)

    /// A secondary sink waits for one.
    private var isWanted = false
    /// When the last one was encoded or requested.
    private var latest: MediaTimestamp?

    public init() {}

    /// - Parameter isLeading: requests of the primary sink are passed on at once.
    /// - Returns: whether to request a keyframe now.
    public mutating func requested(isLeading: Bool, now: MediaTimestamp) -> Bool {
        isWanted = true
        return isLeading ? take(now) : isDue(now: now)
    }

    /// All sinks receive it.
    public mutating func keyframeCame(now: MediaTimestamp) {
        isWanted = false
        latest = now
    }

    /// To be called regularly.
    /// - Returns: whether to request a keyframe now.
    public mutating func isDue(now: MediaTimestamp) -> Bool {
        guard isWanted, latest.map({ now - $0 >= Self.interval }) ?? true else { return false }
        return take(now)
    }

    private mutating func take(_ now: MediaTimestamp) -> Bool {
        isWanted = false
        latest = now
        return true
    }
}
