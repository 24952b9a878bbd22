import Media

/// Whether a stream is paused, for camera and microphone. Media captured during a pause is never sent, however late it
/// arrives.
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

    /// A frame taken up to this long after the command counts as the last one before the pause: at a camera's slowest
    /// rate, five frames per second, no other frame may arrive.
    private static let momentBefore = Duration.milliseconds(250)

    public var isPaused: Bool { if case .paused = state { true } else { false } }

    /// - Returns: whether the state changed.
    public mutating func pauseRequested(now: MediaTimestamp) -> Bool {
        guard !isPaused else { return false }
        state = .paused(since: now)
        return true
    }

    /// - Returns: whether the state changed.
    public mutating func resumeRequested(now: MediaTimestamp) -> Bool {
        guard case .paused(let since) = state else { return false }
        state = .resumed(at: now, pausedSince: since)
        return true
    }

    /// Whether media captured at this time is replaced.
    /// - Parameter taken: when a repeated frame was taken, such as the last one of a lost camera; `nil` if the media is
    ///   new.
    public func replaces(capturedAt time: MediaTimestamp, takenAt taken: MediaTimestamp? = nil) -> Bool {
        switch state {
        case .live: return false
        case .paused: return true
        case .resumed(let end, let since):
            let taken = taken ?? time
            return time < end || taken >= since && taken < end
        }
    }

    /// Whether a frame taken at this time is shown again after the pause if the camera delivers no other, because it
    /// was taken before the pause.
    public func returns(frameTakenAt time: MediaTimestamp) -> Bool {
        switch state {
        case .live: false
        case .paused(let since), .resumed(_, let since): time < since
        }
    }

    /// Whether a frame taken at this time may represent the moment before the pause.
    public func mayShow(frameTakenAt time: MediaTimestamp) -> Bool {
        switch state {
        case .live: false
        case .paused(let since), .resumed(_, let since): time <= since + Self.momentBefore
        }
    }
}
