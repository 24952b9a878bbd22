import Media

/// What is done about a video encoder that gives no frames: from a keyframe over opening it again to the software
/// encoder, and back to the hardware later. The connection is not touched by any of it.
///
/// Nothing here waits: the hardware is closed and opened on a thread of its own, and whoever runs the encoders tells
/// what came of it, at each frame at the latest. On a machine without a hardware encoder there is nothing to recover:
/// software is the plain first choice then, and needs no recovery.
public struct EncoderRecovery: Sendable {
    public enum Action: Hashable, Sendable {
        /// Ask the hardware for a keyframe: cheap, and cures some stalls.
        case forceKeyframe
        /// Start to close the hardware encoder; its frames go back to the camera at once.
        case closeHardware
        /// Start to open the hardware encoder.
        case openHardware
        /// Go on in software, at what the processor carries.
        case openSoftware
        /// The hardware takes over from software, with a keyframe.
        case crossToHardware
        case emit(StreamEvent)
        /// No encoder works any more.
        case giveUp(reason: String)
    }

    /// The hardware is opened while software encodes.
    private struct Trial {
        var attempt: Int
        /// Of a retry after a time in software; a reopening that took too long has been reported already.
        let isRetry: Bool
        /// Since when the present attempt closes, opens, or is open.
        var since: MediaTimestamp
        var isOpen = false
    }

    private enum State {
        case steady
        /// Since then a keyframe is waited for.
        case keyframeForced(MediaTimestamp)
        /// The hardware is closed to be opened again; nothing encodes since then.
        case closing(MediaTimestamp, reason: String)
        /// Nothing encodes since then. Without a reason nothing has failed: another encoder is wanted.
        case opening(MediaTimestamp, reason: String?)
        /// Opened again then, and not yet proven.
        case reopened(MediaTimestamp)
        case software(retryAt: MediaTimestamp)
        case trial(Trial)
        case givenUp
    }

    private let settings: Settings
    private var state: State
    /// When the first frame that has no answer yet went in.
    private var unansweredSince: MediaTimestamp?
    private var faults: [MediaTimestamp] = []
    private var reopenCount = 0
    private var lastTrouble: MediaTimestamp?
    private var retryDelay: Duration
    /// How often in a row the hardware has not opened, twice each time, as if its firmware were dead.
    private var vainTrials = 0

    /// For a hardware encoder that is open.
    public init(settings: Settings = Settings()) {
        self.settings = settings
        state = .steady
        retryDelay = settings.retryDelay
    }

    /// For a hardware encoder that starts to be opened now.
    public init(opening now: MediaTimestamp, settings: Settings = Settings()) {
        self.init(settings: settings)
        state = .opening(now, reason: nil)
    }

    public var usesSoftware: Bool {
        switch state {
        case .software, .trial: true
        default: false
        }
    }

    /// Whether frames go to the hardware, be it for a trial.
    public var feedsHardware: Bool {
        switch state {
        case .steady, .keyframeForced, .reopened: true
        case .trial(let trial): trial.isOpen
        case .closing, .opening, .software, .givenUp: false
        }
    }

    /// A frame is about to be encoded.
    public mutating func frameSubmitted(now: MediaTimestamp) -> [Action] {
        switch state {
        case .software(let retryAt): return now >= retryAt ? retry(now: now) : []
        case .closing(let since, let reason):
            guard now - since >= settings.closingTimeout else { return [] }
            let timeout = settings.closingTimeout.inSeconds
            return goOnInSoftware("\(reason), and closing it has not returned for \(timeout) s", now: now)
        case .opening(let since, let reason):
            guard now - since >= settings.openingTimeout else { return [] }
            let cause = reason.map { "\($0), and " } ?? ""
            let timeout = settings.openingTimeout.inSeconds
            return goOnInSoftware("\(cause)opening it has not returned for \(timeout) s", now: now)
        case .trial(let trial):
            let patience = trial.isOpen ? settings.trialSilence : settings.trialOpeningTimeout
            guard now - trial.since >= patience else { return [] }
            return trialFailed(
                trial.isOpen ? "no frame for \(patience.inSeconds) s" : "it does not open", isDead: !trial.isOpen,
                now: now)
        case .givenUp: return []
        case .steady, .keyframeForced, .reopened:
            let since = unansweredSince ?? now
            unansweredSince = since
            guard now - since >= settings.silence else { return [] }
            return escalate(reason: "no frame for \(settings.silence.inSeconds) s", now: now)
        }
    }

    /// The hardware gave a frame.
    public mutating func hardwareEncoded(now: MediaTimestamp) -> [Action] {
        unansweredSince = nil
        switch state {
        case .trial(let trial) where trial.isOpen:
            vainTrials = 0
            lastTrouble = now
            restartWatch()
            state = .reopened(now)
            return [.crossToHardware, .emit(.encoderRestarted(reason: "the hardware encoder gives frames again"))]
        case .keyframeForced(let time), .reopened(let time):
            if now - time >= settings.recovery { recovered() }
            return []
        case .trial, .steady, .closing, .opening, .software, .givenUp: return []
        }
    }

    /// The hardware marked a frame as faulty, or gave something that is none.
    public mutating func frameFailed(now: MediaTimestamp) -> [Action] {
        guard !usesSoftware else { return [] }
        faults.append(now)
        faults.removeAll { now - $0 > settings.faultWindow }
        guard faults.count >= settings.faultLimit else { return [] }
        return escalate(reason: "\(faults.count) faulty frames in \(settings.faultWindow.inSeconds) s", now: now)
    }

    /// A call of the hardware failed; it encodes no more.
    public mutating func hardwareFailed(reason: String, now: MediaTimestamp) -> [Action] {
        switch state {
        case .steady, .keyframeForced, .reopened: return reopen(reason: reason, now: now)
        case .trial: return trialFailed(reason, now: now)
        case .closing, .opening, .software, .givenUp: return []
        }
    }

    /// Software failed, too.
    public mutating func softwareFailed(reason: String) -> [Action] {
        if case .givenUp = state { return [] }
        state = .givenUp
        return [.giveUp(reason: reason), .emit(.failed(.videoEncodingFailed, message: reason))]
    }

    /// A frame could not go in, as a call of the driver has not returned since then.
    public mutating func callBlocked(since: MediaTimestamp, now: MediaTimestamp) -> [Action] {
        guard now - since >= settings.longestCall else { return [] }
        let reason = "a call has not returned for \(settings.longestCall.inSeconds) s"
        switch state {
        case .steady, .keyframeForced, .reopened: return [.closeHardware] + fallBack(reason: reason, now: now)
        case .trial(let trial) where trial.isOpen: return trialFailed(reason, now: now)
        case .trial, .closing, .opening, .software, .givenUp: return []
        }
    }

    /// What `closeHardware` started has ended.
    public mutating func hardwareClosed(now: MediaTimestamp) -> [Action] {
        switch state {
        case .closing(_, let reason):
            state = .opening(now, reason: reason)
            return [.openHardware]
        case .trial(var trial):
            trial.since = now
            state = .trial(trial)
            return [.openHardware]
        case .steady, .keyframeForced, .opening, .reopened, .software, .givenUp: return []
        }
    }

    /// What `openHardware` started has succeeded.
    public mutating func hardwareOpened(now: MediaTimestamp) -> [Action] {
        switch state {
        case .opening(_, let reason):
            restartWatch()
            state = reason == nil ? .steady : .reopened(now)
            return reason.map { [.emit(.encoderRestarted(reason: $0))] } ?? []
        case .trial(var trial):
            trial.isOpen = true
            trial.since = now
            state = .trial(trial)
            return []
        case .steady, .keyframeForced, .closing, .reopened, .software, .givenUp: return []
        }
    }

    /// The hardware could not be opened, at the start of the stream or again.
    /// - Parameter isDead: whether its firmware may be the reason, and not another program or the settings.
    public mutating func openingFailed(reason: String, isDead: Bool, now: MediaTimestamp) -> [Action] {
        switch state {
        case .trial: return trialFailed(reason, isDead: isDead, now: now)
        case .opening(_, let earlier):
            // Software at once; another attempt is made beside it.
            let reported = goOnInSoftware(earlier.map { "\($0), and then: \(reason)" } ?? reason, now: now)
            return reported + trialFailed(reason, isDead: isDead, now: now)
        case .steady, .keyframeForced, .closing, .reopened, .software, .givenUp:
            vainTrials = isDead ? 1 : 0
            return fallBack(reason: reason, now: now)
        }
    }

    private mutating func escalate(reason: String, now: MediaTimestamp) -> [Action] {
        switch state {
        case .steady:
            // A recovery long ago starts the count of reopenings anew.
            if let lastTrouble, now - lastTrouble >= settings.recovery { reopenCount = 0 }
            restartWatch()
            state = .keyframeForced(now)
            return [.forceKeyframe]
        case .keyframeForced, .reopened: return reopen(reason: reason, now: now)
        case .closing, .opening, .software, .trial, .givenUp: return []
        }
    }

    private mutating func reopen(reason: String, now: MediaTimestamp) -> [Action] {
        if let lastTrouble, now - lastTrouble >= settings.recovery { reopenCount = 0 }
        guard reopenCount < settings.reopenLimit else {
            return [.closeHardware] + fallBack(reason: reason, now: now)
        }
        reopenCount += 1
        lastTrouble = now
        restartWatch()
        state = .closing(now, reason: reason)
        return [.closeHardware]
    }

    /// Software takes over from hardware that is being closed or opened, which goes on beside it.
    private mutating func goOnInSoftware(_ reason: String, now: MediaTimestamp) -> [Action] {
        restartWatch()
        state = .trial(Trial(attempt: 1, isRetry: false, since: now))
        return [.openSoftware, .emit(.softwareEncoderInUse(reason: reason))]
    }

    private mutating func fallBack(reason: String, now: MediaTimestamp) -> [Action] {
        restInSoftware(now: now)
        return [.openSoftware, .emit(.softwareEncoderInUse(reason: reason))]
    }

    private mutating func restInSoftware(now: MediaTimestamp) {
        restartWatch()
        state = .software(retryAt: now + retryDelay)
        retryDelay = min(retryDelay * 2, settings.longestRetryDelay)
    }

    private mutating func retry(now: MediaTimestamp) -> [Action] {
        restartWatch()
        state = .trial(Trial(attempt: 1, isRetry: true, since: now))
        reopenCount = 0
        return [.openHardware]
    }

    /// - Parameter isDead: as for `openingFailed`; what has opened is not dead.
    private mutating func trialFailed(_ reason: String, isDead: Bool = false, now: MediaTimestamp) -> [Action] {
        guard case .trial(var trial) = state else { return [] }
        if trial.attempt < settings.trialLimit {
            trial.attempt += 1
            trial.since = now
            trial.isOpen = false
            state = .trial(trial)
            return [.closeHardware]
        }
        restInSoftware(now: now)
        vainTrials = isDead ? vainTrials + 1 : 0
        var actions: [Action] = [.closeHardware]
        if trial.isRetry {
            let reported = "the hardware encoder was tried again: \(reason)"
            actions.append(.emit(.softwareEncoderInUse(reason: reported)))
        }
        if vainTrials == settings.deadAfter { actions.append(.emit(.hardwareEncoderDead(reason: reason))) }
        return actions
    }

    private mutating func recovered() {
        state = .steady
        reopenCount = 0
        retryDelay = settings.retryDelay
    }

    private mutating func restartWatch() {
        unansweredSince = nil
        faults = []
    }
}
