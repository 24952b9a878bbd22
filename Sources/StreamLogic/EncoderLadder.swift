import Media

/// What is done about a video encoder that gives no pictures: from a key frame over opening it again to the software
/// encoder, and back to the hardware later. The connection is not touched by any of it.
///
/// Whoever runs the encoders tells what happens to pictures and does what is answered. On a machine without a
/// hardware encoder there is nothing to climb: software is the plain first choice then, and needs no ladder.
public struct EncoderLadder: Sendable {
    public enum Action: Hashable, Sendable {
        /// Ask the present encoder for a key frame: cheap, and cures some stalls.
        case forceKeyFrame
        /// Close the hardware encoder and open it again; the first picture is a key frame with its headers.
        case reopenHardware
        /// Close the hardware encoder and go on in software, at what the processor carries.
        case openSoftware
        case emit(StreamEvent)
        /// No encoder works any more.
        case giveUp(reason: String)
    }

    public struct Settings: Hashable, Sendable {
        /// Pictures go in and nothing comes out for so long: the next step is taken.
        public var silence = Duration.seconds(1)
        /// A call of the hardware's driver does not return for so long: what it is asked does not get through to it.
        public var longestCall = Duration.seconds(2)
        /// So many faulty pictures within `faultWindow` count as silence.
        public var faultLimit = 4
        public var faultWindow = Duration.seconds(2)
        /// So long without trouble, and the next trouble begins at the first step again.
        public var recovery = Duration.seconds(10)
        /// So many reopenings without recovery between them, and software takes over.
        public var reopenLimit = 2
        /// How long software runs before the hardware is tried again; doubled each time that fails.
        public var retryDelay = Duration.seconds(60)
        public var longestRetryDelay = Duration.seconds(600)

        public init() {}
    }

    private enum State {
        case steady
        /// Since then a key frame is waited for.
        case keyFrameForced(MediaTimestamp)
        /// Opened again then, and not yet proven.
        case reopened(MediaTimestamp)
        case software(retryAt: MediaTimestamp)
        case givenUp
    }

    private let settings: Settings
    private var state = State.steady
    /// When the first picture that has no answer yet went in.
    private var unansweredSince: MediaTimestamp?
    private var faults: [MediaTimestamp] = []
    private var reopenCount = 0
    private var lastTrouble: MediaTimestamp?
    private var retryDelay: Duration
    /// The hardware is tried after software: it has not given a picture yet.
    private var isTrial = false

    public init(settings: Settings = Settings()) {
        self.settings = settings
        retryDelay = settings.retryDelay
    }

    public var usesSoftware: Bool { if case .software = state { true } else { false } }

    /// A picture went into the present encoder.
    public mutating func pictureSubmitted(now: MediaTimestamp) -> [Action] {
        if case .software(let retryAt) = state { return now >= retryAt ? tryHardware(now: now) : [] }
        let since = unansweredSince ?? now
        unansweredSince = since
        guard now - since >= settings.silence else { return [] }
        return climb(reason: "no picture for \(settings.silence.inSeconds) s", now: now)
    }

    /// The present encoder gave a picture.
    public mutating func pictureEncoded(now: MediaTimestamp) -> [Action] {
        unansweredSince = nil
        switch state {
        case .keyFrameForced(let time), .reopened(let time):
            isTrial = false
            if now - time >= settings.recovery { recovered() }
            return []
        case .steady, .software, .givenUp: return []
        }
    }

    /// The encoder marked a picture as faulty, or gave something that is none.
    public mutating func pictureFailed(now: MediaTimestamp) -> [Action] {
        faults.append(now)
        faults.removeAll { now - $0 > settings.faultWindow }
        guard faults.count >= settings.faultLimit else { return [] }
        return climb(reason: "\(faults.count) faulty pictures in \(settings.faultWindow.inSeconds) s", now: now)
    }

    /// A call of the encoder failed.
    public mutating func encoderFailed(reason: String, now: MediaTimestamp) -> [Action] {
        switch state {
        case .software:
            state = .givenUp
            return [.giveUp(reason: reason), .emit(.failed(.videoEncodingFailed, reason: reason))]
        case .givenUp: return []
        case .steady, .keyFrameForced, .reopened: return reopen(reason: reason, now: now)
        }
    }

    /// A picture could not go in, as a call of the driver has not returned since then.
    public mutating func callBlocked(since: MediaTimestamp, now: MediaTimestamp) -> [Action] {
        guard now - since >= settings.longestCall else { return [] }
        switch state {
        case .software, .givenUp: return []
        case .steady, .keyFrameForced, .reopened:
            return fallBack(reason: "a call has not returned for \(settings.longestCall.inSeconds) s", now: now)
        }
    }

    /// The hardware could not be opened, at the begin of the stream or again: software takes over, and the hardware is
    /// tried later.
    public mutating func openingFailed(reason: String, now: MediaTimestamp) -> [Action] {
        fallBack(reason: reason, now: now)
    }

    private mutating func climb(reason: String, now: MediaTimestamp) -> [Action] {
        switch state {
        case .steady:
            restartWatch(now: now)
            state = .keyFrameForced(now)
            return [.forceKeyFrame]
        case .keyFrameForced, .reopened: return reopen(reason: reason, now: now)
        case .software, .givenUp: return []
        }
    }

    private mutating func reopen(reason: String, now: MediaTimestamp) -> [Action] {
        if let lastTrouble, now - lastTrouble >= settings.recovery { reopenCount = 0 }
        guard !isTrial, reopenCount < settings.reopenLimit else { return fallBack(reason: reason, now: now) }
        reopenCount += 1
        lastTrouble = now
        restartWatch(now: now)
        state = .reopened(now)
        return [.reopenHardware, .emit(.encoderRestarted(reason: reason))]
    }

    private mutating func fallBack(reason: String, now: MediaTimestamp) -> [Action] {
        restartWatch(now: now)
        state = .software(retryAt: now + retryDelay)
        retryDelay = min(retryDelay * 2, settings.longestRetryDelay)
        return [.openSoftware, .emit(.softwareEncoderInUse(reason: reason))]
    }

    private mutating func tryHardware(now: MediaTimestamp) -> [Action] {
        restartWatch(now: now)
        state = .reopened(now)
        isTrial = true
        reopenCount = 0
        return [.reopenHardware, .emit(.encoderRestarted(reason: "the hardware encoder is tried again"))]
    }

    private mutating func recovered() {
        state = .steady
        reopenCount = 0
        retryDelay = settings.retryDelay
    }

    private mutating func restartWatch(now: MediaTimestamp) {
        unansweredSince = nil
        faults = []
    }
}
