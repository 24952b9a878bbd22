import Media

/// Keeps a stream of pictures going while its camera is silent or away: decides when the last picture is given
/// again, when a silent camera is given up, and when the next attempt to open it is due.
///
/// Short gaps need nothing: pictures carry their own times, and the one before stays on the screen.
public struct CaptureContinuity {
    public enum Action: Hashable, Sendable {
        /// Give the last picture again, as taken at this time.
        case repeatPicture(at: MediaTimestamp)
        case closeCamera
        case openCamera
        /// Tell people and scripts that pictures have stopped.
        case reportInterruption(reason: String)
        /// Tell them that pictures have returned, and after how long.
        case reportReturn(after: Duration)
    }

    /// A camera that gives nothing for so long gets its last picture repeated.
    public static let repeatDelay = Duration.milliseconds(500)
    /// A camera that gives nothing for so long, or for twenty pictures' time, is closed and opened again.
    public static let silenceLimit = Duration.seconds(3)
    /// As `silenceLimit`, before the first picture: sensors and their algorithms take time to start.
    public static let startLimit = Duration.seconds(10)
    /// Between attempts to open a camera.
    public static let retryInterval = Duration.seconds(1)

    private enum State {
        case running(since: MediaTimestamp)
        /// The camera is closed.
        case away(nextAttempt: MediaTimestamp)
    }

    private let frameDuration: Duration
    private var state: State
    private var lastPicture: MediaTimestamp?
    private var lastRepetition: MediaTimestamp?
    private var interruptionBegin: MediaTimestamp?
    /// Whether the camera has given a picture since it was opened.
    private var hasDelivered = false

    /// The camera has just been opened.
    public init(frameRate: FrameRate, now: MediaTimestamp) {
        frameDuration = frameRate.frameDuration
        state = .running(since: now)
    }

    /// Until when to wait for a picture; `timeReached` is to be told then.
    public var deadline: MediaTimestamp {
        switch state {
        case .running(let since):
            let silence = (lastPicture.map { max($0, since) } ?? since) + silenceLimit
            return nextRepetition.map { min($0, silence) } ?? silence
        case .away(let nextAttempt):
            return nextRepetition.map { min($0, nextAttempt) } ?? nextAttempt
        }
    }

    private var silenceLimit: Duration {
        hasDelivered ? max(Self.silenceLimit, frameDuration * 20) : max(Self.startLimit, frameDuration * 20)
    }

    private var nextRepetition: MediaTimestamp? {
        guard let lastPicture else { return nil }
        if let lastRepetition { return lastRepetition + frameDuration }
        return lastPicture + max(Self.repeatDelay, frameDuration * 3)
    }

    /// A picture has come, at this moment.
    public mutating func pictureArrived(now: MediaTimestamp) -> [Action] {
        lastPicture = now
        lastRepetition = nil
        hasDelivered = true
        defer { interruptionBegin = nil }
        return interruptionBegin.map { [.reportReturn(after: now - $0)] } ?? []
    }

    /// The deadline was reached without a picture.
    public mutating func timeReached(now: MediaTimestamp) -> [Action] {
        var actions: [Action] = []
        switch state {
        case .running(let since):
            if now >= (lastPicture.map { max($0, since) } ?? since) + silenceLimit {
                actions += interrupt("the camera gives no pictures", now: now)
            }
        case .away(let nextAttempt):
            if now >= nextAttempt {
                state = .away(nextAttempt: now + Self.retryInterval)
                actions.append(.openCamera)
            }
        }
        if let due = nextRepetition, now >= due {
            // After a stop of the whole machine the missed ones are not made up for.
            let time = now - due > Self.repeatDelay ? now : due
            lastRepetition = time
            actions.append(.repeatPicture(at: time))
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
        guard interruptionBegin == nil else { return [.closeCamera] }
        interruptionBegin = lastPicture ?? now
        return [.closeCamera, .reportInterruption(reason: reason)]
    }

    /// An `openCamera` has succeeded.
    public mutating func cameraOpened(now: MediaTimestamp) {
        state = .running(since: now)
    }

    /// An `openCamera` has failed; the next attempt follows by itself.
    public mutating func openingFailed(now: MediaTimestamp) {
        state = .away(nextAttempt: now + Self.retryInterval)
    }
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
