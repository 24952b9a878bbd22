import Media

/// When a stream is paused, for those who capture: what was captured during a pause never goes out, however late it comes.
///
/// ```
///         pause                resume
///  live ─────────▶ paused ──────────────▶ live
///                  all is replaced         what was captured before the resumption is replaced
/// ```
public struct StreamPause: Hashable, Sendable {
    private enum State: Hashable {
        /// - Parameter since: the end of the last pause; `nil` when there was none.
        case live(since: MediaTimestamp?)
        case paused(since: MediaTimestamp)
    }

    private var state = State.live(since: nil)

    public init() {}

    /// What was captured up to so long after the pause was asked for is of the moment before it: a camera at its slowest rate was
    /// taking it already.
    private static let momentBefore = Duration.milliseconds(250)

    public var isPaused: Bool { if case .paused = state { true } else { false } }

    /// - Returns: whether that is a change.
    public mutating func pauseRequested(now: MediaTimestamp) -> Bool {
        guard !isPaused else { return false }
        state = .paused(since: now)
        return true
    }

    /// - Returns: whether that is a change.
    public mutating func resumeRequested(now: MediaTimestamp) -> Bool {
        guard isPaused else { return false }
        state = .live(since: now)
        return true
    }

    /// Whether something else goes out in place of what was captured then.
    public func replaces(capturedAt time: MediaTimestamp) -> Bool {
        switch state {
        case .paused: true
        case .live(let since): since.map { time < $0 } ?? false
        }
    }

    /// Whether a frame that was taken then may stand for the moment before the pause.
    public func mayShow(frameTakenAt time: MediaTimestamp) -> Bool {
        guard case .paused(let since) = state else { return false }
        return time <= since + Self.momentBefore
    }
}
