import ApplianceLogic
import CardStorage
import Controls
import DevicePorts
import LinuxIO
import Media
import Settings
import StreamLogic
import USBVideo
import WebcamService

/// Messages from the stream's thread to the main thread.
package enum EngineEvent: Sendable {
    case said(StreamMessage)
    /// The result of a snapshot for which the camera was opened separately.
    case still(SnapshotAnswer, Brightness?)
    /// The camera was open for one snapshot and is closed again.
    /// - Parameter number: of the thread.
    case stillEnded(Int)
    case idleFrames(IdleFramesEvent)
    /// - Parameter 0: number of the reporting gadget.
    case webcam(Int, WebcamReport)
    /// The camera was open for a screen or a computer and is closed again.
    /// - Parameter number: of the thread.
    case idleFramesEnded(Int)
    case idleAudio(IdleAudioEvent)
    case idleAudioEnded(Int)
    /// Answers `list`.
    case listed(CommandID, DeviceList.Kind, DeviceList)
    /// The stream has ended; nothing follows.
    /// - Parameter devices: if a device was missing, the available ones as the files name them.
    case ended(StreamFailure?, devices: [String] = [])
}

/// Runs streams on their own thread, one at a time. Without a stream, takes snapshots and lets camera and microphones feed a
/// screen or a computer. Only one of these uses a device at a time. Used from the main thread.
package final class StreamRunner {
    package let reports: Mailbox<EngineEvent>
    package let engine: any StreamEngine
    private let stateDirectory: String
    private let card: CardCalls
    private struct Running {
        let thread: JoinableThread
        let commands: Mailbox<PublisherCommand>
        /// `nil` for a stream with servers.
        let idle: IdleStream?
        var isEnding = false
    }

    private var running: Running?
    /// Start as soon as camera and microphones are free: after the present stream, snapshot or idle use has ended.
    private(set) var startsAgain = false
    let idleFrames: IdleThread<IdleFramesRequest>
    let idleAudio: IdleThread<IdleAudioRequest>
    /// The camera while it is open for a snapshot. A stream takes precedence.
    private let stills: IdleThread<StillRequest>
    /// Time limit of the present snapshot.
    private var stillDeadline: MediaTimestamp?
    private var waitingStills: [StillRequest] = []
    /// A camera needs seconds to open and adjust. One that delivers nothing is closed again.
    private static let stillTimeout = Duration.seconds(8)
    /// The lists that a thread is making.
    var listing: Set<DeviceList.Kind> = []

    package init(_ engine: any StreamEngine, stateDirectory: String, card: CardCalls) throws {
        let reports = try Mailbox<EngineEvent>()
        self.reports = reports
        self.engine = engine
        idleFrames = IdleThread("idle-frames") { request, stop in
            engine.feedIdle(request, stop: stop) { reports.send(.idleFrames($0)) }
        } ended: {
            reports.send(.idleFramesEnded($0))
        }
        idleAudio = IdleThread("idle-audio") { request, stop in
            engine.feedIdleAudio(request, stop: stop) { reports.send(.idleAudio($0)) }
        } ended: {
            reports.send(.idleAudioEnded($0))
        }
        stills = IdleThread("still") { request, stop in
            let (answer, brightness) = engine.takeStill(request, stop: stop)
            reports.send(.still(answer, brightness))
        } ended: {
            reports.send(.stillEnded($0))
        }
        self.stateDirectory = stateDirectory
        self.card = card
    }

    package var isRunning: Bool { running != nil }
    /// Whether the present stream has no servers.
    package var isIdle: Bool { running?.idle != nil }
    /// Whether there is a stream with servers.
    package var isPublishing: Bool { isRunning && !isIdle }
    /// Whether camera or microphones are open for a screen or a computer.
    package var isFeedingIdle: Bool { idleFrames.request != nil || idleAudio.request != nil }
    package var isCameraTaken: Bool { isRunning || stills.request != nil || idleFrames.request != nil }
    /// Whether a stream or a computer has the microphones.
    package var areMicrophonesTaken: Bool { isRunning || idleAudio.request != nil }
    /// Whether a new stream has to wait for something to end.
    package var isTaken: Bool { isCameraTaken || idleAudio.request != nil }

    /// Starts a stream, possibly after its devices have become free.
    /// - Parameters:
    ///   - receivers: get its frames and audio, too.
    ///   - isMuted, isPaused: the initial state.
    package func start(
        _ files: DescriptionFiles, _ receivers: StreamReceivers, isMuted: Bool, isPaused: Bool
    ) throws {
        guard !isTaken else {
            startsAgain = true
            if isIdle { endIdle() }
            stills.stop(now: MonotonicClock.now())
            idleFrames.stop(now: MonotonicClock.now())
            idleAudio.stop(now: MonotonicClock.now())
            return
        }
        guard let description = files.stream else { return }
        try open(description, files, receivers, isMuted: isMuted, isPaused: isPaused)
    }

    /// - Parameter description: `nil` for an idle stream.
    private func open(
        _ description: StreamDescription?, _ files: DescriptionFiles, _ receivers: StreamReceivers, isMuted: Bool,
        isPaused: Bool
    ) throws {
        let commands = try Mailbox<PublisherCommand>()
        let request = StreamRequest(
            description: description, sources: SourceDescription(files),
            storage: StreamStorage(stateDirectory: stateDirectory, card: card, knownFilters: files.filters),
            receivers: receivers, isMuted: isMuted, isPaused: isPaused)
        running = Running(
            thread: try Self.thread(request, engine, commands: commands, reports: reports), commands: commands,
            idle: description == nil ? IdleStream(files, for: receivers) : nil)
    }

    /// Runs a stream without servers, for a recording or the page, while nothing else needs camera and microphones.
    /// - Parameter receivers: `nil` to stop.
    /// - Returns: whether it starts with this call.
    package func runIdle(
        _ files: DescriptionFiles, _ receivers: StreamReceivers?, isMuted: Bool, now: MediaTimestamp
    ) throws -> Bool {
        if let running {
            if let idle = running.idle, receivers.map({ IdleStream(files, for: $0) != idle }) ?? true { endIdle() }
            return false
        }
        // Those who wait for a snapshot get it first.
        guard let receivers, !startsAgain, waitingStills.isEmpty else { return false }
        guard !isTaken else {
            idleFrames.stop(now: now)
            idleAudio.stop(now: now)
            return false
        }
        try open(nil, files, receivers, isMuted: isMuted, isPaused: false)
        return true
    }

    private func endIdle() {
        guard running?.isEnding == false else { return }
        running?.isEnding = true
        running?.commands.send(.stop)
    }

    /// Sends a command to the stream, if there is one.
    package func send(_ command: PublisherCommand) { running?.commands.send(command) }

    /// Whether a camera is open without a stream, or opening, and will stay so.
    package var hasIdleCamera: Bool { idleFrames.request != nil && idleFrames.nextDeadline == nil }

    /// Changes controls of a camera that is open without a stream.
    package func changeIdle(_ changes: [ControlChange]) { idleFrames.request?.changes.send(changes) }

    /// - Returns: whether a stream was only waiting for the camera; its end will not be reported.
    package func stop() -> Bool {
        // An idle stream is not what was started.
        if !isIdle { running?.commands.send(.stop) }
        let wasWaiting = startsAgain && (running == nil || isIdle)
        startsAgain = false
        if wasWaiting { openForStill(now: MonotonicClock.now()) }
        return wasWaiting
    }

    package func restart() {
        startsAgain = startsAgain || running != nil
        running?.commands.send(.stop)
    }

    /// The thread has reported its end.
    /// - Returns: whether to start a new stream.
    package func ended() -> Bool {
        running?.thread.join()
        running = nil
        defer { startsAgain = false }
        return startsAgain
    }

    // MARK: Snapshots

    /// The answer is an `EngineEvent`: the stream's, if there is one, otherwise `still`.
    package func takeSnapshot(_ request: SnapshotRequest, _ files: DescriptionFiles, now: MediaTimestamp) {
        guard running == nil else { return send(.takeSnapshot(request)) }
        waitingStills.append(StillRequest(snapshot: request, camera: SourceDescription(files)))
        openForStill(now: now)
    }

    private func openForStill(now: MediaTimestamp) {
        // A stream that waits for the devices comes first; its start answers the snapshots.
        guard !waitingStills.isEmpty, !startsAgain else { return }
        idleFrames.stop(now: now)
        guard !isCameraTaken else { return }
        let request = waitingStills.removeFirst()
        do throws(SystemCallError) {
            try stills.start(request)
        } catch {
            fail(request, because: .system(reason: "\(error)"))
            return openForStill(now: now)
        }
        guard stills.request == nil else {
            stillDeadline = now + Self.stillTimeout
            return
        }
        for request in [request] + waitingStills {
            fail(request, because: .cameraHangs)
        }
        waitingStills = []
    }

    private func fail(_ request: StillRequest, because failure: SnapshotFailure) {
        reports.send(.still(.failed(request.snapshot, failure), nil))
    }

    /// When the next time limit for using the camera or microphones expires.
    package var nextDeadline: MediaTimestamp? {
        [stillDeadline, stills.nextDeadline, idleFrames.nextDeadline, idleAudio.nextDeadline].compactMap { $0 }.min()
    }

    /// - Returns: whether to start a stream now.
    package func timeReached(now: MediaTimestamp) -> Bool {
        if let deadline = stillDeadline, deadline <= now {
            stillDeadline = nil
            stills.stop(now: now)
        }
        let still = stills.request
        let hasLostStill = stills.timeReached(now: now)
        let (hasLostCamera, hasLostAudio) = (idleFrames.timeReached(now: now), idleAudio.timeReached(now: now))
        let reason = "its driver has not released it for \(IdleThread<IdleFramesRequest>.closingTimeout)"
        if hasLostCamera { reports.send(.idleFrames(.away(reason: reason))) }
        if hasLostAudio { reports.send(.idleAudio(.away(reason: reason))) }
        if hasLostStill, let still { fail(still, because: .camera(reason: reason)) }
        return (hasLostCamera || hasLostAudio || hasLostStill) && devicesFreed(now: now)
    }

    /// The thread has reported its end.
    /// - Returns: whether to start a stream now.
    package func stillEnded(_ number: Int, now: MediaTimestamp) -> Bool {
        guard stills.ended(number) else { return false }
        stillDeadline = nil
        return devicesFreed(now: now)
    }

    /// - Returns: whether to start a stream now.
    func devicesFreed(now: MediaTimestamp) -> Bool {
        guard startsAgain else {
            openForStill(now: now)
            return false
        }
        guard !isTaken else { return false }
        startsAgain = false
        for request in waitingStills { fail(request, because: .streamStarted) }
        waitingStills = []
        return true
    }

    private static func thread(
        _ request: StreamRequest, _ engine: any StreamEngine, commands: Mailbox<PublisherCommand>,
        reports: Mailbox<EngineEvent>
    ) throws(SystemCallError) -> JoinableThread {
        JoinableThread(
            try NamedThread("stream") {
                do {
                    try engine.run(request, commands: commands, reporter: EventSink { reports.send(.said($0)) })
                    reports.send(.ended(nil))
                } catch {
                    let failure = error as? StreamFailure ?? StreamFailure(.system, "\(error)")
                    reports.send(.ended(failure, devices: devices(insteadOf: ApplianceFault(failure), engine)))
                }
            })
    }
}
