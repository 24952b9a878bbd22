import Media

/// Whether a stream is paused, for camera and microphone. What was captured during a pause never goes out, however late
/// it comes.
///
/// ```
///         pause                resume
///  live ─────────▶ paused ──────────────▶ live
///                  all is replaced         what was captured before the resumption is replaced
/// ```
public struct StreamPause: Hashable, Sendable {
    private enum State: Hashable {
        case live
        case paused(since: MediaTimestamp)
        /// Live after a pause.
        case resumed(at: MediaTimestamp, pausedSince: MediaTimestamp)
    }

    private var state = State.live

    public init() {}

    /// A frame that was taken up to so long after the command counts as the last one before the pause: at a camera's slowest
    /// rate, of five frames a second, no other may come.
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
        guard case .paused(let since) = state else { return false }
        state = .resumed(at: now, pausedSince: since)
        return true
    }

    /// Whether something else goes out in place of what was captured then.
    /// - Parameter taken: when a frame was taken that is given again at `time`, such as the last one of a camera that was
    ///   lost; `nil` for what was not given before.
    public func replaces(capturedAt time: MediaTimestamp, takenAt taken: MediaTimestamp? = nil) -> Bool {
        switch state {
        case .live: return false
        case .paused: return true
        case .resumed(let end, let since):
            let taken = taken ?? time
            return time < end || taken >= since && taken < end
        }
    }

    /// Whether a frame that was taken then is shown again after the pause if the camera gives no other: it was taken
    /// before.
    public func returns(frameTakenAt time: MediaTimestamp) -> Bool {
        switch state {
        case .live: false
        case .paused(let since), .resumed(_, let since): time < since
        }
    }

    /// Whether a frame that was taken then may stand for the moment before the pause.
    public func mayShow(frameTakenAt time: MediaTimestamp) -> Bool {
        switch state {
        case .live: false
        case .paused(let since), .resumed(_, let since): time <= since + Self.momentBefore
        }
    }
}
