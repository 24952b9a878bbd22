import Media

/// Brings together what the sinks of a stream ask for. A keyframe costs every sink bits: those that do not lead get one a second
/// at most, and one keyframe answers everybody who waits for it.
public struct KeyframeRequests: Sendable {
    private static let interval = Duration.seconds(1)

    /// A sink that does not lead waits for one.
    private var isWanted = false
    /// When one came, or was asked for, last.
    private var latest: MediaTimestamp?

    public init() {}

    /// - Parameter isLeading: such a sink gets it at once.
    /// - Returns: whether the encoder is to be asked now.
    public mutating func requested(isLeading: Bool, now: MediaTimestamp) -> Bool {
        isWanted = true
        return isLeading ? take(now) : isDue(now: now)
    }

    /// Every sink has it.
    public mutating func keyframeCame(now: MediaTimestamp) {
        isWanted = false
        latest = now
    }

    /// To be asked from time to time.
    /// - Returns: whether the encoder is to be asked now.
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
