import Media
import StreamLogic

/// Decides what the device does: when it streams, what it shows, when it powers off.
///
/// It stores facts (network, faults, the stream's state) and what the person wants, and derives everything else, so
/// events may arrive in any order.
public struct Appliance: Sendable {
    /// A stream stops within a second; a power-off waits no longer than this for it.
    private static let shutdownTimeout: Duration = .seconds(2)

    public private(set) var state = ApplianceState.boot
    /// All present faults, most severe kinds first.
    public var faults: [ApplianceFault] { faultBook.current.sorted() }
    public private(set) var faultBook = FaultBook()
    private(set) var isLoaded = false
    private(set) var isLoading = false
    /// The files changed again while they were being read.
    private var isLoadStale = false
    /// Whether a stream is wanted, even while something prevents it.
    public private(set) var wantsStream = false
    var torch = Torch()
    public private(set) var isTorchLit = false
    private(set) var stream = StreamState.unknown
    /// Its thread may take long to end after the stream has reported its end.
    private var hasStreamThread = false
    private(set) var isDegraded = false
    /// Kept as long as the stream is wanted, even across restarts: only a person ends a pause.
    public private(set) var isPaused = false
    private(set) var webcam = WebcamUse.none
    /// Whether media is being recorded.
    private(set) var isRecording = false
    /// Whether a browser waits for a press.
    private(set) var isPairing = false
    private(set) var powerOff: (kind: PowerOff, deadline: MediaTimestamp)?
    private var isPoweredOff = false
    private var needsClock = false
    private var clock: ClockWait

    /// - Parameter awaitsClock: the clock is not set yet, and `clockSet` will be called.
    public init(awaitsClock: Bool = false) { clock = ClockWait(isAwaited: awaitsClock) }

    // MARK: Requests by people

    public mutating func shortPressed(now: MediaTimestamp) -> [Action] {
        wantsStream ? stopRequested(now: now) : startRequested(now: now)
    }

    public mutating func startRequested(now: MediaTimestamp) -> [Action] {
        guard powerOff == nil, !wantsStream else { return [] }
        faultBook.mediaForgiven()
        isPaused = false
        let actions = updated()
        // The next stream does not have the faults of one that is ending.
        let isFollowing = streamIsRunning || hasStreamThread
        let faults = isFollowing ? faultBook.afterTheStream : faultBook.current
        if let fault = faults.filter(\.preventsStreaming).min() { return actions + [.refuseStart(fault)] }
        wantsStream = true
        faultBook.serverForgiven()
        guard isLoaded else { return actions + updated() }
        return actions + (isFollowing ? [.startStream] : startingIfWanted(now: now)) + updated()
    }

    public mutating func stopRequested(now: MediaTimestamp) -> [Action] {
        guard powerOff == nil, wantsStream else { return [] }
        wantsStream = false
        return (isLoaded ? [.stopStream] : []) + updated()
    }

    public mutating func powerOffRequested(_ kind: PowerOff, now: MediaTimestamp) -> [Action] {
        guard powerOff == nil else { return [] }
        wantsStream = false
        powerOff = (kind, now + Self.shutdownTimeout)
        guard streamIsRunning else { return updated() + finishedPowerOff() }
        return [.stopStream] + updated() + [.setTimer(now + Self.shutdownTimeout)]
    }

    // MARK: Events

    /// The files were read, at boot or after `loadConfiguration`.
    public mutating func configurationLoaded(_ configuration: Configuration, now: MediaTimestamp) -> [Action] {
        faultBook.filesRead(
            configuration.faults, isTolerated: configuration.isStreamFileTolerated,
            isOther: configuration.needsRestart)
        faultBook.hardwareChecked(configuration.hardwareFaults)
        faultBook.wirelessChecked(configuration.wirelessFaults)
        torch.configured(as: configuration.torch)
        needsClock = configuration.needsClock
        let isFirst = !isLoaded
        isLoaded = true
        isLoading = isLoadStale
        var actions: [Action] = isLoadStale ? [.loadConfiguration] : []
        isLoadStale = false
        guard powerOff == nil else { return updated() }
        if isFirst {
            wantsStream = wantsStream || configuration.startsAtBoot
            actions += startingIfWanted(now: now)
        } else if wantsStream {
            if !streamIsRunning {
                actions += startingIfWanted(now: now)
            } else if faultBook.current.contains(.streamFile) {
                // There is nowhere to send to any more. The stream stays wanted until the file is right.
                actions.append(.stopStream)
            } else if stream == .disconnecting {
                // It was stopped by a fault that is already gone; the start follows the end.
                actions.append(.startStream)
            } else if configuration.needsRestart {
                actions.append(.restartStream)
            }
        }
        return actions + updated()
    }

    /// A file on the boot partition changed.
    public mutating func configurationChanged(now: MediaTimestamp) -> [Action] {
        guard powerOff == nil, isLoaded else { return [] }
        guard !isLoading else {
            isLoadStale = true
            return []
        }
        isLoading = true
        return [.loadConfiguration] + updated()
    }

    public mutating func networkChanged(isUp: Bool, now: MediaTimestamp) -> [Action] {
        guard isUp else {
            clock.networkLost()
            return faultsChanged(now: now) { $0.networkChanged(isUp: false) }
        }
        guard faultBook.current.contains(.network) else { return isWaitingForClock ? startingIfWanted(now: now) : [] }
        return faultsChanged(now: now) { $0.networkChanged(isUp: true) }
    }

    /// The time of day is known.
    public mutating func clockSet(now: MediaTimestamp) -> [Action] {
        let wasWaiting = isWaitingForClock
        clock.ended()
        // The display stays as it is: the stream will report that it is connecting.
        return wasWaiting ? startingIfWanted(now: now) : []
    }

    /// A fault appeared or was repaired. Any repair starts a stream that is wanted and not running, whichever fault had
    /// ended it.
    public mutating func faultsChanged(now: MediaTimestamp, _ change: (inout FaultBook) -> Void) -> [Action] {
        let before = faultBook.current
        change(&faultBook)
        let hasHealed = !faultBook.current.isSuperset(of: before)
        return (hasHealed ? startingIfWanted(now: now) : []) + updated()
    }

    /// The time of `faultBook.retryTime` has come.
    public mutating func retryDue(now: MediaTimestamp) -> [Action] {
        guard faultBook.takeRetry(now: now), wantsStream else { return [] }
        faultBook.mediaForgiven()
        // Even if the light shows no change: the board may have a second fault, which does not prevent streams.
        return startingIfWanted(now: now) + updated()
    }

    /// - Returns: the faults to report; `nil` if nothing has changed.
    public mutating func takeFaultNews(placing place: (FaultBook.Failure) -> FileFault) -> FaultBook.News? {
        faultBook.takeNews(placing: place)
    }

    /// `startStream` is done.
    /// - Parameter isQueued: another stream is ending, and this one starts after its end.
    public mutating func streamStarted(isQueued: Bool, now: MediaTimestamp) -> [Action] {
        faultBook.streamStarted()
        hasStreamThread = true
        return isQueued ? updated() : streamStateChanged(to: .connecting, now: now)
    }

    /// The stream's thread has ended.
    /// - Parameters:
    ///   - failure: `nil` if it ended on request.
    ///   - isFollowed: a start that was requested before the end follows; call `startStream` for it if this does not.
    public mutating func streamEnded(
        _ failure: FaultBook.Failure?, isFollowed: Bool = false, now: MediaTimestamp
    ) -> [Action] {
        faultBook.streamEnded()
        hasStreamThread = false
        guard let failure else {
            return streamStateChanged(to: .disconnected, now: now) + faultsChanged(now: now) { $0.streamStopped() }
        }
        guard failure.fault == .server else {
            return streamStateChanged(to: .disconnected, now: now)
                + faultsChanged(now: now) { $0.streamFailed(failure, now: now) }
        }
        // Do not retry: the person who started it sees that the server does not accept the stream.
        wantsStream = wantsStream && isFollowed
        faultBook.streamFailed(failure, now: now)
        return streamStateChanged(to: .error, now: now)
    }

    public mutating func streamStateChanged(to next: StreamState, now: MediaTimestamp) -> [Action] {
        stream = next
        if next == .disconnected || next == .error {
            torch.streamEnded()
            isPaused = isPaused && wantsStream
        }
        if next != .live { isDegraded = false }
        if next == .live { faultBook.streamBecameLive() }
        let actions = updated()
        return powerOff != nil && !streamIsRunning ? actions + finishedPowerOff() : actions
    }

    public mutating func qualityChanged(isLowered: Bool, now: MediaTimestamp) -> [Action] {
        isDegraded = isLowered && stream == .live
        return updated()
    }

    /// The stream reports that it was paused or resumed.
    public mutating func streamPaused(_ isPaused: Bool, now: MediaTimestamp) -> [Action] {
        self.isPaused = isPaused
        return updated()
    }

    public mutating func webcamChanged(to use: WebcamUse, now: MediaTimestamp) -> [Action] {
        webcam = use
        return updated()
    }

    public mutating func recordingChanged(isOn: Bool) -> [Action] {
        isRecording = isOn
        return updated()
    }

    /// A browser waits for a press, or no longer does.
    public mutating func pairingChanged(isWaiting: Bool) -> [Action] {
        isPairing = isWaiting
        return updated()
    }

    public mutating func timerFired(now: MediaTimestamp) -> [Action] {
        if let powerOff { return powerOff.deadline <= now ? finishedPowerOff() : [] }
        guard let deadline = clock.deadline, deadline <= now else { return [] }
        return clockSet(now: now)
    }

    // MARK: Derived state

    public var isPoweringOff: Bool { powerOff != nil }

    /// Nothing is live, recorded, wanted or under way, including for a computer.
    public var isIdle: Bool {
        isLoaded && !isLoading && !wantsStream && !streamIsRunning && powerOff == nil && webcam == .none
            && !isRecording
    }

    private var streamIsRunning: Bool {
        switch stream {
        case .connecting, .live, .reconnecting, .disconnecting: true
        case .unknown, .disconnected, .error: false
        }
    }

    /// Whether a wanted stream waits for the time of day.
    public var isWaitingForClock: Bool { mayStart && needsClock && clock.isAwaited }

    private var mayStart: Bool {
        wantsStream && isLoaded && !streamIsRunning && !faultBook.current.contains(where: \.preventsStreaming)
    }

    private mutating func startingIfWanted(now: MediaTimestamp) -> [Action] {
        guard isWaitingForClock else { return mayStart ? [.startStream] : [] }
        clock.started(networkIsUp: !faultBook.current.contains(.network), now: now)
        return clock.deadline.map { [.setTimer($0)] } ?? []
    }

    private mutating func finishedPowerOff() -> [Action] {
        guard let powerOff, !isPoweredOff else { return [] }
        isPoweredOff = true
        return [.setTimer(nil), .powerOff(powerOff.kind)]
    }

    /// Shows the changes.
    mutating func updated() -> [Action] {
        var actions: [Action] = []
        let next = derivedState
        if next != state {
            state = next
            actions.append(.show(next))
        }
        let light = powerOff == nil && torch.isWanted(whileLive: stream == .live)
        if light != isTorchLit {
            isTorchLit = light
            actions.append(.setTorch(isLit: light))
        }
        return actions
    }
}
