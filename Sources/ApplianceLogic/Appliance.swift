import Media
import StreamLogic

/// Decides what the device does: when it streams, what it shows, when it powers off.
///
/// It keeps facts (network, faults, the stream's state) and what the person wants, and derives the
/// rest, so that events may come in any order.
public struct Appliance: Sendable {
    /// A stream stops within a second; a power-off waits no longer than this for it.
    private static let shutdownTimeout: Duration = .seconds(2)

    public private(set) var state = ApplianceState.boot
    /// Everything that is wrong now, most severe kinds first.
    public var faults: [ApplianceFault] { faultBook.current.sorted() }
    public private(set) var faultBook = FaultBook()
    private var isLoaded = false
    private var isLoading = false
    /// The files changed again while they were being read.
    private var isLoadStale = false
    /// Whether a stream is wished for, whatever stands in its way now.
    public private(set) var wantsStream = false
    var torch = Torch()
    public private(set) var isTorchLit = false
    private var stream = StreamState.unknown
    private var isDegraded = false
    /// For as long as the stream is wanted, also when it starts again meanwhile: nothing but a person ends a pause.
    public private(set) var isPaused = false
    private var webcam = WebcamUse.none
    private var powerOff: (kind: PowerOff, deadline: MediaTimestamp)?
    private var isPoweredOff = false
    private var needsClock = false
    private var clock: ClockWait

    /// - Parameter awaitsClock: the clock is not set yet, and `clockSet` will be reported.
    public init(awaitsClock: Bool = false) { clock = ClockWait(isAwaited: awaitsClock) }

    // MARK: What people ask for

    public mutating func shortPressed(now: MediaTimestamp) -> [Action] {
        wantsStream ? stopRequested(now: now) : startRequested(now: now)
    }

    public mutating func startRequested(now: MediaTimestamp) -> [Action] {
        guard powerOff == nil, !wantsStream else { return [] }
        faultBook.mediaForgiven()
        isPaused = false
        let actions = updated()
        if let fault = preventingFault { return actions + [.refuseStart(fault)] }
        wantsStream = true
        faultBook.serverForgiven()
        guard isLoaded else { return actions + updated() }
        // One that is just ending starts again after its end.
        return actions + (streamIsRunning ? [.startStream] : startingIfWanted(now: now)) + updated()
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

    // MARK: What happens

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
                // There is nowhere to send to any more; the wish stays for when the file is right.
                actions.append(.stopStream)
            } else if stream == .disconnecting {
                // Stopped by a fault that is gone already; the start follows the end.
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
        // What is shown stays: the stream reports that it connects.
        return wasWaiting ? startingIfWanted(now: now) : []
    }

    /// Something was found wrong, or right again. What heals starts a stream that is wanted and does not run, whichever
    /// fault had ended it.
    public mutating func faultsChanged(now: MediaTimestamp, _ change: (inout FaultBook) -> Void) -> [Action] {
        let before = faultBook.current
        change(&faultBook)
        let hasHealed = !faultBook.current.isSuperset(of: before)
        return (hasHealed ? startingIfWanted(now: now) : []) + updated()
    }

    /// The time of `faultBook.retryTime` has come.
    public mutating func retryDue(now: MediaTimestamp) -> [Action] {
        guard faultBook.takeRetry(now: now), wantsStream else { return [] }
        return faultsChanged(now: now) { $0.mediaForgiven() }
    }

    /// - Returns: what people are to learn of faults; `nil` when nothing has changed.
    public mutating func takeFaultNews(placing place: (FaultBook.Failure) -> FileFault) -> FaultBook.News? {
        faultBook.takeNews(placing: place)
    }

    /// `startStream` is done.
    /// - Parameter isQueued: another one is just ending, and the start follows its end.
    public mutating func streamStarted(isQueued: Bool, now: MediaTimestamp) -> [Action] {
        faultBook.streamStarted()
        return isQueued ? updated() : streamStateChanged(to: .connecting, now: now)
    }

    /// The stream's thread has ended.
    /// - Parameter failure: `nil` when it ended as asked.
    public mutating func streamEnded(_ failure: FaultBook.Failure?, now: MediaTimestamp) -> [Action] {
        faultBook.streamEnded()
        guard let failure else {
            return streamStateChanged(to: .disconnected, now: now) + faultsChanged(now: now) { $0.streamStopped() }
        }
        guard failure.fault == .server else {
            return streamStateChanged(to: .disconnected, now: now)
                + faultsChanged(now: now) { $0.streamFailed(failure, now: now) }
        }
        // No other attempt: whoever started it sees that the server does not take it.
        wantsStream = false
        faultBook.streamFailed(failure, now: now)
        return streamStateChanged(to: .error, now: now)
    }

    public mutating func streamStateChanged(to next: StreamState, now: MediaTimestamp) -> [Action] {
        stream = next
        if next == .disconnected || next == .error {
            torch.streamEnded()
            isPaused = isPaused && wantsStream
        }
        if next != .connected { isDegraded = false }
        if next == .connected { faultBook.streamConnected() }
        let actions = updated()
        return powerOff != nil && !streamIsRunning ? actions + finishedPowerOff() : actions
    }

    public mutating func qualityChanged(isLowered: Bool, now: MediaTimestamp) -> [Action] {
        isDegraded = isLowered && stream == .connected
        return updated()
    }

    /// The stream reports that it is paused, or goes on.
    public mutating func streamPaused(_ isPaused: Bool, now: MediaTimestamp) -> [Action] {
        self.isPaused = isPaused
        return updated()
    }

    public mutating func webcamChanged(to use: WebcamUse, now: MediaTimestamp) -> [Action] {
        webcam = use
        return updated()
    }

    public mutating func timerFired(now: MediaTimestamp) -> [Action] {
        if let powerOff { return powerOff.deadline <= now ? finishedPowerOff() : [] }
        guard let deadline = clock.deadline, deadline <= now else { return [] }
        return clockSet(now: now)
    }

    // MARK: Derived

    public var isPoweringOff: Bool { powerOff != nil }

    /// Nothing is live, nor wanted, nor under way, for a computer either.
    public var isIdle: Bool {
        isLoaded && !isLoading && !wantsStream && !streamIsRunning && powerOff == nil && webcam == .none
    }

    private var streamIsRunning: Bool {
        switch stream {
        case .connecting, .connected, .reconnecting, .disconnecting: true
        case .unknown, .disconnected, .error: false
        }
    }

    private var preventingFault: ApplianceFault? { faults.first(where: \.preventsStreaming) }

    /// Whether a stream that is wanted is held back until the time of day is known.
    public var isWaitingForClock: Bool { mayStart && needsClock && clock.isAwaited }

    private var mayStart: Bool { wantsStream && isLoaded && preventingFault == nil && !streamIsRunning }

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

    /// Shows what has changed.
    mutating func updated() -> [Action] {
        var actions: [Action] = []
        let next = derivedState
        if next != state {
            state = next
            actions.append(.show(next))
        }
        let light = powerOff == nil && torch.isWanted(whileLive: stream == .connected)
        if light != isTorchLit {
            isTorchLit = light
            actions.append(.setTorch(isLit: light))
        }
        return actions
    }

    /// What is live is shown as live whatever else is wrong: that is what a tally light is for.
    private var derivedState: ApplianceState {
        if powerOff != nil { return .shutdown }
        switch stream {
        case .connected: return liveState
        case .disconnecting: return .stopping
        case .reconnecting: return .reconnecting
        case .connecting: return connectingState
        case .unknown, .disconnected, .error: if isWaitingForClock { return connectingState }
        }
        if !isLoaded { return .boot }
        switch webcam {
        case .active: return .webcam
        // Somebody has to know, whatever is wrong for streams.
        case .waiting: return .asked
        case .none, .withoutCamera: break
        }
        if isLoading { return .updating }
        return faults.first.map { .fault($0) } ?? .ready
    }

    /// The uplink may be better in a minute, a dead encoder not: it is said first.
    private var liveState: ApplianceState {
        if isPaused { return .paused }
        if faultBook.current.contains(.hardwareEncoder) { return .liveInSoftware }
        return isDegraded ? .degraded : .live
    }

    /// Network before server: without the one the other cannot be known.
    private var connectingState: ApplianceState {
        let faults = faultBook.current
        if faults.contains(.network) { return .fault(.network) }
        return faults.contains(.server) ? .fault(.server) : .connecting
    }
}
