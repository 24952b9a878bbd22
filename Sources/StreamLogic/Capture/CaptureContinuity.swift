import Media

/// Keeps a stream of frames going while its camera is silent or away: decides when the last frame is given
/// again, when a silent camera is given up, and when the next attempt to open it is due.
///
/// Short gaps need nothing: frames carry their own times, and the one before stays on the screen.
public struct CaptureContinuity {
    public enum Action: Hashable, Sendable {
        /// Give the last frame again, as taken at this time.
        case repeatFrame(at: MediaTimestamp)
        case closeCamera
        case openCamera
        /// Tell people and scripts that frames have stopped.
        case reportInterruption(reason: String)
        /// Tell them that frames have returned, and after how long.
        case reportReturn(after: Duration)
    }

    /// A camera that gives nothing for so long gets its last frame repeated.
    public static let repeatDelay = Duration.milliseconds(500)
    /// A camera that gives nothing for so long, or for twenty frames' time, is closed and opened again.
    public static let silenceTimeout = Duration.seconds(3)
    /// As `silenceTimeout`, before the first frame: sensors and their algorithms take time to start.
    public static let startTimeout = Duration.seconds(10)
    /// Between attempts to open a camera.
    public static let retryInterval = Duration.seconds(1)

    private enum State {
        case running(since: MediaTimestamp)
        /// The camera is closed.
        case away(nextAttempt: MediaTimestamp)
        /// As `away`, because somebody wants it closed.
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

    /// Until when to wait for a frame; `timeReached` is to be reported then. `nil` when there is nothing to wait for.
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
        // Nothing comes any more: there is no gap to wait out.
        if case .suspended = state { return lastFrame + frameDuration }
        return lastFrame + max(Self.repeatDelay, frameDuration * 3)
    }

    /// A frame has come, at this moment.
    public mutating func frameArrived(now: MediaTimestamp) -> [Action] {
        lastFrame = now
        lastRepetition = nil
        hasDelivered = true
        defer { interruptionStart = nil }
        return interruptionStart.map { [.reportReturn(after: now - $0)] } ?? []
    }

    /// The deadline was reached without a frame.
    public mutating func timeReached(now: MediaTimestamp) -> [Action] {
        var actions: [Action] = []
        switch state {
        case .running(let since):
            if now >= (lastFrame.map { max($0, since) } ?? since) + silenceTimeout {
                actions += interrupt("the camera gives no frames", now: now)
            }
        case .away(let nextAttempt):
            if now >= nextAttempt {
                state = .away(nextAttempt: now + Self.retryInterval)
                actions.append(.openCamera)
            }
        case .suspended: break
        }
        if let due = nextRepetition, now >= due {
            // After a stop of the whole machine the missed ones are not made up for.
            let time = now - due > Self.repeatDelay ? now : due
            lastRepetition = time
            actions.append(.repeatFrame(at: time))
        }
        return actions
    }

    /// The camera has failed; it is of no use any more.
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

    /// An `openCamera` has succeeded.
    public mutating func cameraOpened(now: MediaTimestamp) {
        state = .running(since: now)
    }

    /// An `openCamera` has failed; the next attempt follows by itself.
    public mutating func openingFailed(_ reason: String, now: MediaTimestamp) -> [Action] {
        state = .away(nextAttempt: now + Self.retryInterval)
        // The camera was closed for another one, and is not to be had again.
        guard interruptionStart == nil else { return [] }
        interruptionStart = lastFrame ?? now
        return [.reportInterruption(reason: reason)]
    }

    /// The camera is closed until `resumed`: another one needs what it holds. Its last frame is repeated meanwhile.
    public mutating func suspended() {
        state = .suspended
        hasDelivered = false
    }

    /// The camera is wanted again, at once.
    public mutating func resumed(now: MediaTimestamp) { state = .away(nextAttempt: now) }
}

/// Tells frames that have waited for the stream, in the camera's buffers, from those of a camera that is always late.
public struct StaleFrames: Sendable {
    /// A frame that is so much later than the camera's usual is not worth sending: newer ones follow at once.
    public static let limit = Duration.milliseconds(500)
    /// More than a camera has buffers cannot have waited: it is slower than it was, then.
    private static let mostInARow = 16

    /// From a frame's capture to its arrival, at the least.
    private var usualDelay: Duration?
    private var staleInARow = 0

    public init() {}

    /// A frame has come.
    /// - Parameter time: when it was captured.
    /// - Returns: whether it is to be left out.
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
