import Media
import StreamLogic

/// All present faults with their texts, and when to retry. The light, the console, the status and faults.txt all read
/// them here.
public struct FaultBook: Sendable {
    /// Why a stream failed to start, or ended.
    public struct Failure: Hashable, Sendable {
        public let fault: ApplianceFault
        /// For people, without secrets.
        public let text: String
        /// `nil` if the failure has no code.
        public let code: EventCode?
        /// If a device was missing: the available ones, as named in the files.
        public let choices: [String]
        /// The server that caused it; `nil` if none did.
        public let target: TargetID?

        /// Whether a change in a file may help. It does not if the system has refused something.
        var hasPlace: Bool { fault != .board }

        public init(
            _ fault: ApplianceFault, _ text: String, code: EventCode? = nil, choices: [String] = [],
            target: TargetID? = nil
        ) {
            self.fault = fault
            self.target = target
            self.text = target?.name.map { "\($0): \(text)" } ?? text
            self.code = code
            self.choices = choices
        }

        /// - Parameter choices: the available devices, if one was missing.
        public init(_ fault: ApplianceFault, _ failure: StreamFailure, choices: [String]) {
            self.init(fault, failure.text, code: failure.code, choices: choices, target: failure.target)
        }
    }

    /// Changes since the last call.
    public struct News: Sendable {
        public let report: FaultReport
        /// The new lines of `report`.
        public let raised: [String]
    }

    /// A device that a running stream has lost. There may be several lost microphones.
    private struct Interruption {
        let fault: ApplianceFault
        let source: String
        let text: String
    }

    private struct Attempts {
        /// Consecutive failures before the target was live.
        var vainCount = 0
        var hasBeenLive = false
    }

    /// Attempts that fail before the server counts as faulty.
    public static let patience = 3
    /// A failed camera or encoder is retried after this time, which is long enough for the light to blink the count.
    public static let retryInterval = Duration.seconds(15)

    private var fileFaults: [FileFault] = []
    private var wirelessFaults: [FileFault] = []
    private var hardwareFaults: [FileFault] = []
    /// A live stream can continue despite the faults in stream.json.
    private var isStreamFileTolerated = false
    private var isNetworkUp = true
    /// Why commands cannot be received.
    private var programFailure: String?
    /// Streaming keeps crashing the program, and it has not been started by a person since.
    private var crash: String?
    public private(set) var cardFailures: [String] = []
    /// Why the hardware encoder is dead, and what helps.
    public private(set) var deadEncoder: String?
    /// Why nothing can be recorded, although it should be.
    private var recordingFailure: String?
    /// The last failures of camera, microphone, encoder, server or system that still count.
    private var failures: [ApplianceFault: Failure] = [:]
    /// Targets that do not get the stream, until they are live or switched off. One without a name is in `failures`.
    private var failedTargets: [TargetID: Failure] = [:]
    /// Failures that are being retried. The light no longer shows them, but faults.txt keeps them until the outcome is
    /// known, so that the card is not written twice for each attempt.
    private var forgiven: Set<ApplianceFault> = []
    /// Cameras and microphones that a running stream has lost and waits for.
    private var interruptions: [Interruption] = []
    /// Of each of the stream's targets.
    private var attempts: [TargetID: Attempts] = [:]
    /// When to retry after a failure of a camera, microphone, encoder or the system.
    public private(set) var retryTime: MediaTimestamp?
    /// The contents of faults.txt; `nil` while unknown: the file may be from the last run, before the faults were
    /// repaired elsewhere.
    private var reported: FaultReport?

    public init() {}

    /// The faults that the light shows and that decide whether a stream can start.
    public var current: Set<ApplianceFault> {
        var current = Set((fileFaults + hardwareFaults).filter { !$0.fault.isWarning }.map(\.kind))
        if isStreamFileTolerated { current.remove(.streamFile) }
        // An unreachable Wi-Fi network does not count as a fault: there may be a cable.
        if wirelessFaults.contains(where: { $0.kind == .settings }) { current.insert(.settings) }
        if !isNetworkUp { current.insert(.network) }
        if programFailure != nil || crash != nil || !cardFailures.isEmpty { current.insert(.board) }
        if deadEncoder != nil { current.insert(.hardwareEncoder) }
        if recordingFailure != nil { current.insert(.recording) }
        if !failedTargets.isEmpty { current.insert(.server) }
        return current.union(Set(failures.keys).subtracting(forgiven)).union(interruptions.map(\.fault))
    }

    /// What will be left of `current` when the stream's thread has ended.
    var afterTheStream: Set<ApplianceFault> {
        var book = self
        book.streamEnded()
        return book.current
    }
}

// Detected faults.
extension FaultBook {
    /// - Parameters:
    ///   - isTolerated: the live connection can continue despite the faults in stream.json.
    ///   - isOther: stream.json or device.json has changed. The change may have repaired a refusal or a missing device.
    public mutating func filesRead(_ faults: [FileFault], isTolerated: Bool = false, isOther: Bool) {
        fileFaults = faults
        isStreamFileTolerated = isTolerated
        guard isOther else { return }
        failures = [:]
        forgiven = []
    }

    /// - Parameters:
    ///   - hardware: hardware that board.json names and that is missing or does not work.
    ///   - program: why commands cannot be received.
    public mutating func boardChecked(hardware: [FileFault], program: String?, card: [String]) {
        hardwareFaults = hardware
        programFailure = program
        cardFailures = card
    }

    public mutating func hardwareChecked(_ faults: [FileFault]) { hardwareFaults = faults }

    public mutating func wirelessChecked(_ faults: [FileFault]) { wirelessFaults = faults }

    public mutating func networkChanged(isUp: Bool) { isNetworkUp = isUp }

    /// - Parameter text: `nil` if it works or is not wanted.
    public mutating func hardwareEncoderChecked(_ text: String?) { deadEncoder = text }

    /// - Parameter text: `nil` if it works or is not wanted.
    public mutating func recordingChecked(_ text: String?) { recordingFailure = text }

    /// Camera, microphones and encoder work, and the system gave what they need.
    public mutating func mediaProved() { for fault in ApplianceFault.passing { removeFailure(fault) } }

    /// Streaming has crashed the program too often; it stays off.
    public mutating func streamStands(_ text: String) { crash = text }

    // MARK: The stream

    /// A stream starts; its result replaces the earlier faults.
    public mutating func streamStarted() {
        crash = nil
        removeFailure(.server)
    }

    /// If a new stream does not reach the server, the cause is more often a mistake than bad luck: the fault is
    /// reported and shown while the attempts continue. A stream that was live shows that it is reconnecting, and
    /// without a network the server's state is unknown.
    public mutating func attemptFailed(
        _ failure: ConnectionFailure, at stage: StreamEvent.RetryStage, of target: TargetID = TargetID(0)
    ) {
        var known = attempts[target] ?? Attempts()
        guard stage != .close, !known.hasBeenLive, isNetworkUp else { return }
        known.vainCount += 1
        attempts[target] = known
        guard known.vainCount >= Self.patience else { return }
        let code = EventCode(rawValue: failure.code)
        guard target.name == nil else { return targetFailed(target, code, failure.text) }
        add(Failure(.server, failure.text, code: code))
    }

    /// Live: earlier failures no longer count.
    public mutating func streamBecameLive() {
        failures = [:]
        forgiven = []
        attempts[TargetID(0)] = Attempts(hasBeenLive: true)
    }

    /// A target failed; the stream goes on to the others and tries it again.
    public mutating func targetFailed(_ target: TargetID, _ code: EventCode?, _ text: String) {
        failedTargets[target] = Failure(.server, text, code: code, target: target)
    }

    public mutating func targetBecameLive(_ target: TargetID) {
        failedTargets[target] = nil
        attempts[target] = Attempts(hasBeenLive: true)
    }

    public mutating func targetSwitchedOff(_ target: TargetID) {
        failedTargets[target] = nil
        attempts[target] = nil
    }

    /// A camera or microphone was lost during the stream, or has returned.
    public mutating func sourceChanged(_ event: SourceEvent) {
        switch event {
        // A lost source reports its return separately.
        case .started: break
        case .interrupted(let track, let source, _):
            let fault = ApplianceFault(lost: track)
            interruptions.removeAll { $0.fault == fault && $0.source == source }
            interruptions.append(Interruption(fault: fault, source: source, text: event.text))
        case .returned(let track, let source, _):
            interruptions.removeAll { $0.fault == ApplianceFault(lost: track) && $0.source == source }
        }
    }

    /// The stream's thread has ended; `streamFailed` or `streamStopped` follows. The next stream checks the devices
    /// again, and those that this one did not complain about are fine.
    public mutating func streamEnded() {
        interruptions = []
        failedTargets = [:]
        attempts = [:]
        mediaProved()
    }

    public mutating func streamFailed(_ failure: Failure, now: MediaTimestamp) {
        add(failure)
        isStreamFileTolerated = false
        if failure.fault != .server { retryTime = now + Self.retryInterval }
    }

    /// Stopped by a person, who knows the state.
    public mutating func streamStopped() {
        removeFailure(.server)
        isStreamFileTolerated = false
    }

    // MARK: Retries

    /// A camera, microphone or encoder that failed may work now, or the system may have memory again.
    public mutating func mediaForgiven() { forgiven.formUnion(failures.keys.filter(ApplianceFault.passing.contains)) }

    /// The person has seen the fault and tries again.
    public mutating func serverForgiven() { if failures[.server] != nil { forgiven.insert(.server) } }

    /// - Returns: whether `retryTime` has come. True only once.
    public mutating func takeRetry(now: MediaTimestamp) -> Bool {
        guard let retryTime, retryTime <= now else { return false }
        self.retryTime = nil
        return true
    }

    private mutating func add(_ failure: Failure) {
        failures[failure.fault] = failure
        forgiven.remove(failure.fault)
    }

    private mutating func removeFailure(_ fault: ApplianceFault) {
        failures[fault] = nil
        forgiven.remove(fault)
    }
}

// Reports.
extension FaultBook {
    /// The lines for console and status, as of the last report, plus the faults of the card, which cannot be written to
    /// it.
    public var lines: [String] { (reported?.lines ?? []) + cardFailures }

    /// What the server said when it refused the last stream; `nil` if it did not refuse it.
    public var refusal: String? {
        let failure = failures[.server] ?? failedTargets.min { $0.key.number < $1.key.number }?.value
        guard let failure, failure.code == .netStreamFailed || failure.code == .connectRejected else { return nil }
        return failure.text
    }

    /// - Parameter place: finds the place in a file where a failure can be repaired.
    /// - Returns: the new contents of faults.txt; `nil` if unchanged.
    public mutating func takeNews(placing place: (Failure) -> FileFault) -> News? {
        var report = FaultReport()
        let failures = failures.values.sorted { $0.fault < $1.fault }
        report.files = fileFaults + wirelessFaults + hardwareFaults + failures.filter(\.hasPlace).map(place)
        report.files += failedTargets.sorted { $0.key.number < $1.key.number }.map { place($0.value) }
        report.others = interruptions.sorted { ($0.fault, $0.source) < ($1.fault, $1.source) }
            .map { FaultReport.Entry(fault: $0.fault, text: $0.text) }
        if let deadEncoder { report.others.append(FaultReport.Entry(fault: .hardwareEncoder, text: deadEncoder)) }
        if let recordingFailure {
            report.others.append(FaultReport.Entry(fault: .recording, text: recordingFailure))
        }
        let system = [crash, programFailure].compactMap { $0 } + failures.filter { !$0.hasPlace }.map(\.text)
        report.others += system.map { FaultReport.Entry(fault: .board, text: $0) }
        guard report != reported else { return nil }
        let earlier = Set(reported?.lines ?? [])
        reported = report
        return News(report: report, raised: report.lines.filter { !earlier.contains($0) })
    }
}
