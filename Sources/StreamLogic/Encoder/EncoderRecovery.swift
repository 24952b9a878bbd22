import Media

/// Decides what to do when a video encoder outputs no frames: request a keyframe, reopen it, fall back to the software
/// encoder, and later return to the hardware. The connection stays up throughout.
///
/// Nothing here blocks. The hardware is closed and opened on its own thread, and the owner of the encoders reports the
/// result, at the next frame at the latest. A machine without a hardware encoder uses software from the start and needs
/// no recovery.
public struct EncoderRecovery: Sendable {
    public enum Action: Hashable, Sendable {
        /// Ask the hardware for a keyframe: cheap, and cures some stalls.
        case forceKeyframe
        /// Start to close the hardware encoder; its frames return to the camera at once.
        case closeHardware
        case openHardware
        /// Continue in software, at a rate that the processor can sustain.
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
        /// A scheduled retry, rather than a reopening that took too long and has been reported already.
        let isRetry: Bool
        /// When the present attempt started to close or open, or was opened.
        var since: MediaTimestamp
        var isOpen = false
    }

    private enum State {
        case steady
        /// Waiting for a keyframe since this time.
        case keyframeForced(MediaTimestamp)
        /// The hardware is being closed, to be reopened. Nothing has been encoded since this time.
        case closing(MediaTimestamp, reason: String)
        /// Nothing has been encoded since this time. Without a reason nothing has failed; another encoder was
        /// requested.
        case opening(MediaTimestamp, reason: String?)
        /// Reopened at this time, and not yet proven.
        case reopened(MediaTimestamp)
        case software(retryAt: MediaTimestamp)
        case trial(Trial)
        case givenUp
    }

    private let settings: Settings
    private var state: State
    /// When the oldest unanswered frame was submitted.
    private var unansweredSince: MediaTimestamp?
    private var faults: [MediaTimestamp] = []
    private var reopenCount = 0
    private var lastTrouble: MediaTimestamp?
    private var retryDelay: Duration
    /// How many trials in a row ended because the hardware did not open, as if its firmware were dead.
    private var vainTrials = 0

    /// For a hardware encoder that is already open.
    public init(settings: Settings = Settings()) {
        self.settings = settings
        state = .steady
        retryDelay = settings.retryDelay
    }

    /// For a hardware encoder that is being opened.
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

    /// Whether frames go to the hardware, including during a trial.
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
                trial.isOpen ? "no frame for \(patience.inSeconds) s" : "opening it takes too long",
                isDead: !trial.isOpen, now: now)
        case .givenUp: return []
        case .steady, .keyframeForced, .reopened:
            let since = unansweredSince ?? now
            unansweredSince = since
            guard now - since >= settings.silence else { return [] }
            return escalate(reason: "no frame for \(settings.silence.inSeconds) s", now: now)
        }
    }

    /// The hardware output a frame.
    public mutating func hardwareEncoded(now: MediaTimestamp) -> [Action] {
        unansweredSince = nil
        switch state {
        case .trial(let trial) where trial.isOpen:
            vainTrials = 0
            lastTrouble = now
            restartWatch()
            state = .reopened(now)
            return [.crossToHardware, .emit(.encoderRestarted(reason: "the hardware encoder works again"))]
        case .keyframeForced(let time), .reopened(let time):
            if now - time >= settings.recovery { recovered() }
            return []
        case .trial, .steady, .closing, .opening, .software, .givenUp: return []
        }
    }

    /// The hardware marked a frame as faulty, or its output was not a frame.
    public mutating func frameFailed(now: MediaTimestamp) -> [Action] {
        guard !usesSoftware else { return [] }
        faults.append(now)
        faults.removeAll { now - $0 > settings.faultWindow }
        guard faults.count >= settings.faultLimit else { return [] }
        return escalate(reason: "\(faults.count) faulty frames in \(settings.faultWindow.inSeconds) s", now: now)
    }

    /// A call to the hardware failed; it no longer encodes.
    public mutating func hardwareFailed(reason: String, now: MediaTimestamp) -> [Action] {
        switch state {
        case .steady, .keyframeForced, .reopened: return reopen(reason: reason, now: now)
        case .trial: return trialFailed(reason, now: now)
        case .closing, .opening, .software, .givenUp: return []
        }
    }

    /// Software failed as well.
    public mutating func softwareFailed(reason: String) -> [Action] {
        if case .givenUp = state { return [] }
        state = .givenUp
        return [.giveUp(reason: reason), .emit(.failed(.videoEncodingFailed, message: reason))]
    }

    /// A frame could not be submitted because a call to the driver has not returned since this time.
    public mutating func callBlocked(since: MediaTimestamp, now: MediaTimestamp) -> [Action] {
        guard now - since >= settings.longestCall else { return [] }
        let reason = "a call has not returned for \(settings.longestCall.inSeconds) s"
        switch state {
        case .steady, .keyframeForced, .reopened: return [.closeHardware] + fallBack(reason: reason, now: now)
        case .trial(let trial) where trial.isOpen: return trialFailed(reason, now: now)
        case .trial, .closing, .opening, .software, .givenUp: return []
        }
    }

    /// The closing that `closeHardware` started has finished.
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

    /// The opening that `openHardware` started has succeeded.
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

    /// The hardware could not be opened, at the start of the stream or later.
    /// - Parameter isDead: whether dead firmware may be the reason, rather than another program or the settings.
    public mutating func openingFailed(reason: String, isDead: Bool, now: MediaTimestamp) -> [Action] {
        switch state {
        case .trial: return trialFailed(reason, isDead: isDead, now: now)
        case .opening(_, let earlier):
            // Switch to software at once; another attempt runs in parallel.
            let reported = goOnInSoftware(earlier.map { "\($0), then: \(reason)" } ?? reason, now: now)
            return reported + trialFailed(reason, isDead: isDead, now: now)
        case .steady, .keyframeForced, .closing, .reopened, .software, .givenUp:
            vainTrials = isDead ? 1 : 0
            return fallBack(reason: reason, now: now)
        }
    }

    private mutating func escalate(reason: String, now: MediaTimestamp) -> [Action] {
        switch state {
        case .steady:
            // If the last recovery was long ago, reopenings are counted from zero again.
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

    /// Software takes over while the hardware is still being closed or opened.
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

    /// - Parameter isDead: as for `openingFailed`. Hardware that has opened is not dead.
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
