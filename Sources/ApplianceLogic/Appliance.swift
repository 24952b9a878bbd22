import Media
import StreamLogic

/// Decides what the device does: when it streams, what it shows, when it powers off.
///
/// It keeps facts (network, faults, the stream's state) and what the person wants, and derives the
/// rest, so that events may come in any order.
public struct Appliance: Sendable {
    public enum PowerOff: Hashable, Sendable {
        case halt
        case reboot
    }

    public enum Action: Hashable, Sendable {
        case startStream
        case stopStream
        /// End the stream in order and begin anew with the new settings.
        case restartStream
        /// Read all files again and report `configurationLoaded`.
        case loadConfiguration
        /// The state and with it the LED's rhythm.
        case show(ApplianceState)
        case setFlashLED(isLit: Bool)
        /// Write down what must survive and end the machine; nothing comes after it.
        case powerOff(PowerOff)
        /// A start was asked for and cannot be.
        case refuseStart(ApplianceFault)
        /// Call `timerFired` then; replaces the timer before, `nil` ends it.
        case setTimer(MediaTimestamp?)
    }

    public enum FlashLEDMode: Sendable {
        case off
        case on
        case whileLive
    }

    /// What the files say that matters here.
    public struct Configuration: Sendable {
        /// Which of the files are at fault: streamFile, settings, board.
        public var faults: Set<ApplianceFault>
        public var startsAtBoot: Bool
        public var flashLED: FlashLEDMode
        /// A stream that is live has to begin anew to follow the change.
        public var needsRestart: Bool
        /// The stream is signed or secured, and both need the time of day.
        public var needsClock: Bool

        public init(
            faults: Set<ApplianceFault> = [], startsAtBoot: Bool = false, flashLED: FlashLEDMode = .off,
            needsRestart: Bool = false, needsClock: Bool = false
        ) {
            self.faults = faults
            self.startsAtBoot = startsAtBoot
            self.flashLED = flashLED
            self.needsRestart = needsRestart
            self.needsClock = needsClock
        }
    }

    /// A stream stops within a second; a power-off waits no longer than this for it.
    private static let shutdownLimit: Duration = .seconds(2)
    private static let fileFaults: Set<ApplianceFault> = [.streamFile, .settings, .board]
    /// What only a stream finds out.
    private static let streamFaults: Set<ApplianceFault> = [.camera, .microphone, .encoder, .server]

    public private(set) var state = ApplianceState.boot
    /// Everything that is wrong now, most severe kinds first.
    public var faults: [ApplianceFault] { currentFaults.sorted() }

    private var currentFaults: Set<ApplianceFault> = []
    private var isLoaded = false
    private var isLoading = false
    /// The files changed again while they were being read.
    private var isLoadStale = false
    /// Whether a stream is wished for, whatever stands in its way now.
    public private(set) var wantsStream = false
    private var flashLEDMode = FlashLEDMode.off
    private var isFlashLit = false
    private var stream = StreamState.unknown
    private var isDegraded = false
    private var powerOff: (kind: PowerOff, deadline: MediaTimestamp)?
    private var isPoweredOff = false
    private var needsClock = false
    private var clock: ClockWait

    /// - Parameter awaitsClock: the clock is not set yet, and `clockSet` will be told.
    public init(awaitsClock: Bool = false) { clock = ClockWait(isAwaited: awaitsClock) }

    // MARK: What people ask for

    public mutating func shortPressed(now: MediaTimestamp) -> [Action] {
        wantsStream ? stopRequested(now: now) : startRequested(now: now)
    }

    public mutating func longPressed(now: MediaTimestamp) -> [Action] { powerOffRequested(.halt, now: now) }

    public mutating func startRequested(now: MediaTimestamp) -> [Action] {
        guard powerOff == nil, !wantsStream else { return [] }
        if let fault = preventingFault { return [.refuseStart(fault)] }
        wantsStream = true
        // The person has seen it and tries again.
        currentFaults.remove(.server)
        guard isLoaded else { return updated() }
        // One that is just ending begins again after its end.
        return (streamIsRunning ? [.startStream] : beginningIfWanted(now: now)) + updated()
    }

    public mutating func stopRequested(now: MediaTimestamp) -> [Action] {
        guard powerOff == nil, wantsStream else { return [] }
        wantsStream = false
        return (isLoaded ? [.stopStream] : []) + updated()
    }

    public mutating func powerOffRequested(_ kind: PowerOff, now: MediaTimestamp) -> [Action] {
        guard powerOff == nil else { return [] }
        wantsStream = false
        powerOff = (kind, now + Self.shutdownLimit)
        guard streamIsRunning else { return updated() + finishedPowerOff() }
        return [.stopStream] + updated() + [.setTimer(now + Self.shutdownLimit)]
    }

    // MARK: What happens

    /// The files were read, at boot or after `loadConfiguration`.
    public mutating func configurationLoaded(_ configuration: Configuration, now: MediaTimestamp) -> [Action] {
        currentFaults = currentFaults.subtracting(Self.fileFaults)
            .union(configuration.faults.intersection(Self.fileFaults))
        // Whatever the server disliked, or was not found, may be what was changed.
        if configuration.needsRestart { currentFaults.subtract(Self.streamFaults) }
        flashLEDMode = configuration.flashLED
        needsClock = configuration.needsClock
        let isFirst = !isLoaded
        isLoaded = true
        isLoading = isLoadStale
        var actions: [Action] = isLoadStale ? [.loadConfiguration] : []
        isLoadStale = false
        guard powerOff == nil else { return updated() }
        if isFirst {
            wantsStream = wantsStream || configuration.startsAtBoot
            actions += beginningIfWanted(now: now)
        } else if wantsStream {
            if !streamIsRunning {
                actions += beginningIfWanted(now: now)
            } else if currentFaults.contains(.streamFile) {
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
            return faultRaised(.network, now: now)
        }
        guard currentFaults.contains(.network) else { return isWaitingForClock ? beginningIfWanted(now: now) : [] }
        return faultCleared(.network, now: now)
    }

    /// The time of day is known.
    public mutating func clockSet(now: MediaTimestamp) -> [Action] {
        let wasWaiting = isWaitingForClock
        clock.ended()
        // What is shown stays: the stream reports that it connects.
        return wasWaiting ? beginningIfWanted(now: now) : []
    }

    public mutating func faultRaised(_ fault: ApplianceFault, now: MediaTimestamp) -> [Action] {
        currentFaults.insert(fault)
        return updated()
    }

    /// Heals by itself: a stream that is wanted and does not run begins, whichever fault had ended it.
    public mutating func faultCleared(_ fault: ApplianceFault, now: MediaTimestamp) -> [Action] {
        guard currentFaults.remove(fault) != nil else { return [] }
        return beginningIfWanted(now: now) + updated()
    }

    public mutating func streamStateChanged(to next: StreamState, now: MediaTimestamp) -> [Action] {
        stream = next
        if next != .connected { isDegraded = false }
        if next == .connected { currentFaults.remove(.server) }
        if next == .error {
            wantsStream = false
            currentFaults.insert(.server)
        }
        let actions = updated()
        return powerOff != nil && !streamIsRunning ? actions + finishedPowerOff() : actions
    }

    public mutating func qualityChanged(isLowered: Bool, now: MediaTimestamp) -> [Action] {
        isDegraded = isLowered && stream == .connected
        return updated()
    }

    public mutating func timerFired(now: MediaTimestamp) -> [Action] {
        if let powerOff { return powerOff.deadline <= now ? finishedPowerOff() : [] }
        guard let deadline = clock.deadline, deadline <= now else { return [] }
        return clockSet(now: now)
    }

    // MARK: Derived

    /// Nothing is live, nor wanted, nor under way.
    public var isIdle: Bool { isLoaded && !isLoading && !wantsStream && !streamIsRunning && powerOff == nil }

    private var streamIsRunning: Bool {
        switch stream {
        case .connecting, .connected, .reconnecting, .disconnecting: true
        case .unknown, .disconnected, .error: false
        }
    }

    private var preventingFault: ApplianceFault? { faults.first(where: \.preventsStreaming) }

    /// Whether a stream that is wanted is held back until the time of day is known.
    public var isWaitingForClock: Bool { mayBegin && needsClock && clock.isAwaited }

    private var mayBegin: Bool { wantsStream && isLoaded && preventingFault == nil && !streamIsRunning }

    private mutating func beginningIfWanted(now: MediaTimestamp) -> [Action] {
        guard isWaitingForClock else { return mayBegin ? [.startStream] : [] }
        clock.began(networkIsUp: !currentFaults.contains(.network), now: now)
        return clock.deadline.map { [.setTimer($0)] } ?? []
    }

    private mutating func finishedPowerOff() -> [Action] {
        guard let powerOff, !isPoweredOff else { return [] }
        isPoweredOff = true
        return [.setTimer(nil), .powerOff(powerOff.kind)]
    }

    /// Shows what has changed.
    private mutating func updated() -> [Action] {
        var actions: [Action] = []
        let next = derivedState
        if next != state {
            state = next
            actions.append(.show(next))
        }
        let flash =
            switch flashLEDMode {
            case .off: false
            case .on: powerOff == nil
            case .whileLive: stream == .connected && powerOff == nil
            }
        if flash != isFlashLit {
            isFlashLit = flash
            actions.append(.setFlashLED(isLit: flash))
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
        if isLoading { return .updating }
        return faults.first.map { .fault($0) } ?? .ready
    }

    /// The uplink may be better in a minute, a dead encoder not: it is said first.
    private var liveState: ApplianceState {
        if currentFaults.contains(.hardwareEncoder) { return .liveInSoftware }
        return isDegraded ? .degraded : .live
    }

    /// Network before server: without the one the other cannot be known.
    private var connectingState: ApplianceState {
        if currentFaults.contains(.network) { return .fault(.network) }
        return currentFaults.contains(.server) ? .fault(.server) : .connecting
    }
}
