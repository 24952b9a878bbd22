import Media
import StreamLogic

/// Who has found what wrong, in which words, and when it is worth another attempt. The light, the console, the status
/// and faults.txt all read it here.
public struct FaultBook: Sendable {
    /// Why a stream did not come about, or ended.
    public struct Failure: Hashable, Sendable {
        public let fault: ApplianceFault
        /// For people, without secrets.
        public let text: String
        /// `nil` for what the list of codes does not have.
        public let code: EventCode?
        /// Where a device was missing, those that there are, as the files name them.
        public let choices: [String]

        public init(_ fault: ApplianceFault, _ text: String, code: EventCode? = nil, choices: [String] = []) {
            self.fault = fault
            self.text = text
            self.code = code
            self.choices = choices
        }
    }

    /// What has changed since it was last asked for.
    public struct News: Sendable {
        public let report: FaultReport
        /// The lines of `report` that are new.
        public let raised: [String]
    }

    /// A device that a running stream has lost; of microphones there may be several.
    private struct Interruption {
        let fault: ApplianceFault
        let source: String
        let text: String
    }

    /// Attempts that fail before the server is said to be at fault.
    public static let patience = 3
    /// A camera or encoder that failed is tried again; between, the light has time to count.
    public static let retryInterval = Duration.seconds(15)

    private var fileFaults: [FileFault] = []
    private var wirelessFaults: [FileFault] = []
    private var hardwareFaults: [FileFault] = []
    /// A stream that is connected can do without what is wrong with stream.json.
    private var isStreamFileTolerated = false
    private var isNetworkUp = true
    /// Why no commands can be taken.
    private var programFailure: String?
    /// The program dies of its stream, which nobody has started again since.
    private var crash: String?
    public private(set) var cardFailures: [String] = []
    /// Why the hardware encoder is dead, and what helps.
    public private(set) var deadEncoder: String?
    /// Why camera, microphone, encoder or server failed last, as long as that counts.
    private var failures: [ApplianceFault: Failure] = [:]
    /// Those of `failures` that are tried again: the light shows them no more, faults.txt keeps them until the outcome
    /// is known, for the card is not to be written twice for each attempt.
    private var forgiven: Set<ApplianceFault> = []
    /// Cameras and microphones that a running stream has lost, and waits for.
    private var interruptions: [Interruption] = []
    /// Failures in a row of a stream that has not been up yet.
    private var vainAttempts = 0
    private var hasBeenUp = false
    /// When what failed for a camera, microphone or encoder is to be tried again.
    public private(set) var retryTime: MediaTimestamp?
    /// What faults.txt says; `nil` while it may still be of the last time, before the files were mended elsewhere.
    private var reported: FaultReport?

    public init() {}

    /// What the light counts out, and what decides whether a stream can be.
    public var current: Set<ApplianceFault> {
        var current = Set((fileFaults + hardwareFaults).filter { !$0.fault.isWarning }.map(\.kind))
        if isStreamFileTolerated { current.remove(.streamFile) }
        // Out of reach is no fault beside a cable.
        if wirelessFaults.contains(where: { $0.kind == .settings }) { current.insert(.settings) }
        if !isNetworkUp { current.insert(.network) }
        if programFailure != nil || crash != nil || !cardFailures.isEmpty { current.insert(.board) }
        if deadEncoder != nil { current.insert(.hardwareEncoder) }
        return current.union(Set(failures.keys).subtracting(forgiven)).union(interruptions.map(\.fault))
    }
}

// What is found.
extension FaultBook {
    /// - Parameters:
    ///   - isTolerated: what is connected can do without what is wrong with stream.json.
    ///   - isOther: stream.json or device.json has changed. Whatever the server disliked, or was not found, may be what
    ///     was changed.
    public mutating func filesRead(_ faults: [FileFault], isTolerated: Bool = false, isOther: Bool) {
        fileFaults = faults
        isStreamFileTolerated = isTolerated
        guard isOther else { return }
        failures = [:]
        forgiven = []
    }

    /// - Parameters:
    ///   - hardware: what board.json names and what is not there, or does not work.
    ///   - program: why no commands can be taken.
    public mutating func boardChecked(hardware: [FileFault], program: String?, card: [String]) {
        hardwareFaults = hardware
        programFailure = program
        cardFailures = card
    }

    public mutating func hardwareChecked(_ faults: [FileFault]) { hardwareFaults = faults }

    public mutating func wirelessChecked(_ faults: [FileFault]) { wirelessFaults = faults }

    public mutating func networkChanged(isUp: Bool) { isNetworkUp = isUp }

    /// - Parameter text: `nil` when it works, or is not wanted.
    public mutating func hardwareEncoderChecked(_ text: String?) { deadEncoder = text }

    /// The program has died of its stream too often, which stands.
    public mutating func streamStands(_ text: String) { crash = text }

    // MARK: The stream

    /// One starts. What becomes of it is the answer.
    public mutating func streamStarted() {
        crash = nil
        removeFailure(.server)
    }

    /// A server that a start does not reach is a mistake more often than bad luck: it is reported and counted out while
    /// the attempts go on. A stream that was up shows that it reconnects, and without a network nobody knows.
    public mutating func attemptFailed(_ failure: ConnectionFailure, at stage: StreamEvent.RetryStage) {
        guard stage != .close, !hasBeenUp, isNetworkUp else { return }
        vainAttempts += 1
        guard vainAttempts >= Self.patience else { return }
        add(Failure(.server, failure.text, code: EventCode(rawValue: failure.code)))
    }

    /// It is live: nothing that failed before counts.
    public mutating func streamConnected() {
        failures = [:]
        forgiven = []
        vainAttempts = 0
        hasBeenUp = true
    }

    /// A camera or microphone that was lost while the stream goes on, or has come back.
    public mutating func sourceChanged(_ event: SourceEvent) {
        switch event {
        // What was lost reports its return itself.
        case .started: break
        case .interrupted(let track, let source, _):
            let fault = ApplianceFault(lost: track)
            interruptions.removeAll { $0.fault == fault && $0.source == source }
            interruptions.append(Interruption(fault: fault, source: source, text: event.text))
        case .returned(let track, let source, _):
            interruptions.removeAll { $0.fault == ApplianceFault(lost: track) && $0.source == source }
        }
    }

    /// Its thread has ended; `streamFailed` or `streamStopped` says how. The next stream finds out what is there by then,
    /// and what this one did not find wrong is right.
    public mutating func streamEnded() {
        interruptions = []
        vainAttempts = 0
        hasBeenUp = false
        for fault in ApplianceFault.media { removeFailure(fault) }
    }

    public mutating func streamFailed(_ failure: Failure, now: MediaTimestamp) {
        add(failure)
        isStreamFileTolerated = false
        if failure.fault != .server { retryTime = now + Self.retryInterval }
    }

    /// Stopped by the person, who knows.
    public mutating func streamStopped() {
        removeFailure(.server)
        isStreamFileTolerated = false
    }

    // MARK: Another attempt

    /// A camera, microphone or encoder that failed may work now.
    public mutating func mediaForgiven() { forgiven.formUnion(failures.keys.filter(ApplianceFault.media.contains)) }

    /// The person has seen it and tries again.
    public mutating func serverForgiven() { if failures[.server] != nil { forgiven.insert(.server) } }

    /// - Returns: whether `retryTime` has come; once.
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

// What is reported.
extension FaultBook {
    /// What the console and the status say, a line each: as of the last news, and the card, which cannot be written to.
    public var lines: [String] { (reported?.lines ?? []) + cardFailures }

    /// - Parameter place: where a file can mend a failure.
    /// - Returns: what faults.txt is to say from now on; `nil` when that has not changed.
    public mutating func takeNews(placing place: (Failure) -> FileFault) -> News? {
        var report = FaultReport()
        report.files = fileFaults + wirelessFaults + hardwareFaults
        report.files += failures.values.sorted { $0.fault < $1.fault }.map(place)
        report.others = interruptions.sorted { ($0.fault, $0.source) < ($1.fault, $1.source) }
            .map { FaultReport.Entry(fault: $0.fault, text: $0.text) }
        if let deadEncoder { report.others.append(FaultReport.Entry(fault: .hardwareEncoder, text: deadEncoder)) }
        report.others += [crash, programFailure].compactMap { $0 }.map { FaultReport.Entry(fault: .board, text: $0) }
        guard report != reported else { return nil }
        let earlier = Set(reported?.lines ?? [])
        reported = report
        return News(report: report, raised: report.lines.filter { !earlier.contains($0) })
    }
}
