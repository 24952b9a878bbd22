import Media

/// Keeps a stream of frames going while its camera is silent or closed: decides when to repeat the last frame, when to
/// give up a silent camera, and when to try to open it again.
///
/// Short gaps need no action: frames carry their own times, and the previous frame stays on the screen.
public struct CaptureContinuity {
    public enum Action: Hashable, Sendable {
        /// Repeat the last frame, with this capture time.
        case repeatFrame(at: MediaTimestamp)
        case closeCamera
        case openCamera
        /// Report to people and scripts that frames have stopped.
        case reportInterruption(reason: String)
        /// Report that frames have returned, and after how long.
        case reportReturn(after: Duration)
    }

    /// After this long without a frame, the last frame is repeated.
    public static let repeatDelay = Duration.milliseconds(500)
    /// After this long without a frame, or twenty frame durations if longer, the camera is closed and reopened.
    public static let silenceTimeout = Duration.seconds(3)
    /// Replaces `silenceTimeout` before the first frame: sensors and their algorithms take time to start.
    public static let startTimeout = Duration.seconds(10)
    public static let retryInterval = Duration.seconds(1)

    private enum State {
        case running(since: MediaTimestamp)
        /// The camera is closed.
        case away(nextAttempt: MediaTimestamp)
        /// Like `away`, but closed on request and not retried.
        case suspended
    }

    private let frameDuration: Duration
    private var state: State
    private var lastFrame: MediaTimestamp?
    private var lastRepetition: MediaTimestamp?
    private var interruptionStart: MediaTimestamp?
    /// Whether the camera has given a frame since it was opened.
    private var hasDelivered = false

    /// The camera has just been opened.
    public init(frameRate: FrameRate, now: MediaTimestamp) {
        frameDuration = frameRate.frameDuration
        state = .running(since: now)
    }

    /// The latest time to call `timeReached` unless a frame arrives first; `nil` when nothing is due.
    public var deadline: MediaTimestamp? {
        switch state {
        case .running(let since):
            let silence = (lastFrame.map { max($0, since) } ?? since) + silenceTimeout
            return nextRepetition.map { min($0, silence) } ?? silence
        case .away(let nextAttempt):
            return nextRepetition.map { min($0, nextAttempt) } ?? nextAttempt
        case .suspended: return nextRepetition
        }
    }

    private var silenceTimeout: Duration {
        hasDelivered ? max(Self.silenceTimeout, frameDuration * 20) : max(Self.startTimeout, frameDuration * 20)
    }

    private var nextRepetition: MediaTimestamp? {
        guard let lastFrame else { return nil }
        if let lastRepetition { return lastRepetition + frameDuration }
        // No frame is coming, so there is no gap to wait out.
        if case .suspended = state { return lastFrame + frameDuration }
        return lastFrame + max(Self.repeatDelay, frameDuration * 3)
    }

    /// A frame arrived at this moment.
    public mutating func frameArrived(now: MediaTimestamp) -> [Action] {
        lastFrame = now
        lastRepetition = nil
        hasDelivered = true
        defer { interruptionStart = nil }
        return interruptionStart.map { [.reportReturn(after: now - $0)] } ?? []
    }

    public mutating func timeReached(now: MediaTimestamp) -> [Action] {
        var actions: [Action] = []
        switch state {
        case .running(let since):
            if now >= (lastFrame.map { max($0, since) } ?? since) + silenceTimeout {
                actions += interrupt("the camera delivers no frames", now: now)
            }
        case .away(let nextAttempt):
            if now >= nextAttempt {
                state = .away(nextAttempt: now + Self.retryInterval)
                actions.append(.openCamera)
            }
        case .suspended: break
        }
        if let due = nextRepetition, now >= due {
            // If the whole machine was stopped, the missed repetitions are not made up for.
            let time = now - due > Self.repeatDelay ? now : due
            lastRepetition = time
            actions.append(.repeatFrame(at: time))
        }
        return actions
    }

    /// The camera has failed and cannot be used any more.
    public mutating func cameraFailed(_ reason: String, now: MediaTimestamp) -> [Action] {
        interrupt(reason, now: now)
    }

    private mutating func interrupt(_ reason: String, now: MediaTimestamp) -> [Action] {
        state = .away(nextAttempt: now + Self.retryInterval)
        hasDelivered = false
        guard interruptionStart == nil else { return [.closeCamera] }
        interruptionStart = lastFrame ?? now
        return [.closeCamera, .reportInterruption(reason: reason)]
    }

    public mutating func cameraOpened(now: MediaTimestamp) {
        state = .running(since: now)
    }

    /// An `openCamera` has failed. The next attempt follows without another call.
    public mutating func openingFailed(_ reason: String, now: MediaTimestamp) -> [Action] {
        state = .away(nextAttempt: now + Self.retryInterval)
        // The camera was closed in favor of another one and cannot be opened again.
        guard interruptionStart == nil else { return [] }
        interruptionStart = lastFrame ?? now
        return [.reportInterruption(reason: reason)]
    }

    /// The camera stays closed until `resumed`, because another one needs its resources. Its last frame is repeated
    /// meanwhile.
    public mutating func suspended() {
        state = .suspended
        hasDelivered = false
    }

    /// The camera is wanted again; open it at once.
    public mutating func resumed(now: MediaTimestamp) { state = .away(nextAttempt: now) }
}

/// Tells frames that waited in the camera's buffers from those of a camera that is always late.
public struct StaleFrames: Sendable {
    /// A frame that is this much later than usual is not worth sending: newer ones follow at once.
    public static let limit = Duration.milliseconds(500)
    /// More frames than a camera has buffers cannot have waited, so the camera itself must have become slower.
    private static let mostInARow = 16

    /// The shortest time seen from a frame's capture to its arrival.
    private var usualDelay: Duration?
    private var staleInARow = 0

    public init() {}

    /// - Parameter time: when the frame was captured.
    /// - Returns: whether to drop it.
    public mutating func isStale(capturedAt time: MediaTimestamp, now: MediaTimestamp) -> Bool {
        let delay = now - time
        guard let usual = usualDelay, delay - usual > Self.limit, staleInARow < Self.mostInARow else {
            usualDelay = staleInARow < Self.mostInARow ? min(usualDelay ?? delay, delay) : delay
            staleInARow = 0
            return false
        }
        staleInARow += 1
        return true
    }
}
