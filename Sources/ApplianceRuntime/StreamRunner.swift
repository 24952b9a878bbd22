import ApplianceLogic
import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// What the stream's thread tells the main thread.
enum EngineEvent: Sendable {
    case said(StreamMessage)
    /// The camera was open for one snapshot, and is closed again.
    case still(SnapshotAnswer, Brightness?)
    case idlePreview(IdlePreviewEvent)
    /// The camera was open for the screen, and is closed again.
    /// - Parameter number: of the thread.
    case idlePreviewEnded(Int)
    /// The stream is over; nothing follows.
    /// - Parameter devices: where one was missing, those that there are, as the files name them.
    case ended(StreamFailure?, devices: [String] = [])
}

/// Runs the stream on a thread of its own, one after the other; while there is none, takes snapshots, and has the camera's frames
/// shown. One of these has the camera at a time. Used from the main thread.
final class StreamRunner {
    let reports: Mailbox<EngineEvent>
    let engine: StreamEngine
    private let stateDirectory: String
    private var running: (thread: JoinableThread, commands: Mailbox<PublisherCommand>)?
    /// Start as soon as the camera is free: when the present stream, the snapshot or the idle preview has ended.
    private var startsAgain = false
    private let idlePreview: IdlePreviewThread
    /// The camera while it is open for a snapshot; a stream has precedence.
    private var still: (stop: EventFD, deadline: MediaTimestamp?)?
    private var waitingStills: [StillRequest] = []
    /// A camera takes seconds to open and to see; one that gives nothing is closed again.
    private static let stillTimeout = Duration.seconds(8)

    init(_ engine: StreamEngine, stateDirectory: String) throws {
        reports = try Mailbox()
        self.engine = engine
        idlePreview = IdlePreviewThread(engine, reports: reports)
        self.stateDirectory = stateDirectory
    }

    var isRunning: Bool { running != nil }
    /// The camera is open for the screen.
    var isPreviewingIdle: Bool { idlePreview.request != nil }
    /// A stream that is started has to wait for its end.
    private var isCameraTaken: Bool { isRunning || still != nil || isPreviewingIdle }

    /// Starts a stream; as soon as the camera is free if it is not.
    /// - Parameter preview: where its frames are shown.
    func start(_ files: DescriptionFiles, preview: (any PreviewSink)?) throws {
        guard !isCameraTaken else {
            startsAgain = true
            still?.stop.signal()
            idlePreview.stop(now: MonotonicClock.now())
            return
        }
        guard let description = files.stream else { return }
        let commands = try Mailbox<PublisherCommand>()
        let request = StreamRequest(
            description: description, device: files.device, board: files.board, country: files.network.country,
            stateDirectory: stateDirectory, preview: preview)
        running = (try Self.thread(request, engine, commands: commands, reports: reports), commands)
    }

    /// Asks the stream for something, if there is one.
    func send(_ command: PublisherCommand) { running?.commands.send(command) }

    /// - Returns: whether there was only one that waited for the camera: no end of it will be reported.
    func stop() -> Bool {
        defer { startsAgain = false }
        running?.commands.send(.stop)
        return startsAgain && running == nil
    }

    func restart() {
        startsAgain = startsAgain || running != nil
        running?.commands.send(.stop)
    }

    /// The thread has reported its end.
    /// - Returns: whether a new stream is to start.
    func ended() -> Bool {
        running?.thread.join()
        running = nil
        defer { startsAgain = false }
        return startsAgain
    }

    // MARK: Snapshots

    /// `EngineEvent` answers: the stream's, if there is one, else `still`.
    func takeSnapshot(_ request: SnapshotRequest, _ files: DescriptionFiles, now: MediaTimestamp) {
        guard running == nil else { return send(.takeSnapshot(request)) }
        waitingStills.append(StillRequest(snapshot: request, camera: IdleCameraDescription(files)))
        openForStill(now: now)
    }

    private func openForStill(now: MediaTimestamp) {
        guard let request = waitingStills.first else { return }
        idlePreview.stop(now: now)
        guard !isCameraTaken else { return }
        waitingStills.removeFirst()
        do throws(SystemCallError) {
            let stop = try EventFD()
            let (engine, reports) = (engine, reports)
            // A driver that hangs is left alone with it.
            _ = try NamedThread("still", mayBlock: true) {
                let (answer, brightness) = engine.takeStill(request, stop)
                reports.send(.still(answer, brightness))
            }
            still = (stop, now + Self.stillTimeout)
        } catch {
            reports.send(.still(.failed(request.snapshot, reason: "\(error)"), nil))
        }
    }

    /// When somebody has had the camera for too long.
    var nextDeadline: MediaTimestamp? { still.flatMap(\.deadline) ?? idlePreview.nextDeadline }

    /// - Returns: whether a stream is to start now.
    func timeReached(now: MediaTimestamp) -> Bool {
        if let still, let deadline = still.deadline, deadline <= now {
            still.stop.signal()
            self.still?.deadline = nil
        }
        return idlePreview.timeReached(now: now) && cameraFreed(now: now)
    }

    /// The thread has reported its answer.
    /// - Returns: whether a stream is to start now.
    func stillEnded(now: MediaTimestamp) -> Bool {
        still = nil
        return cameraFreed(now: now)
    }

    /// - Returns: whether a stream is to start now.
    private func cameraFreed(now: MediaTimestamp) -> Bool {
        guard startsAgain else {
            openForStill(now: now)
            return false
        }
        startsAgain = false
        for request in waitingStills {
            reports.send(.still(.failed(request.snapshot, reason: "a stream has started"), nil))
        }
        waitingStills = []
        return true
    }

    // MARK: The idle preview

    /// Has the camera's frames shown while nothing else needs it.
    /// - Parameter request: `nil` when that is not wanted.
    func previewIdle(_ request: IdlePreviewRequest?, now: MediaTimestamp) {
        if let present = idlePreview.request {
            if request?.isSame(as: present) != true { idlePreview.stop(now: now) }
            return
        }
        guard let request, !isCameraTaken else { return }
        // What lacks for a thread may be there the next time.
        try? idlePreview.start(request)
    }

    /// Its thread has reported its end.
    /// - Returns: whether a stream is to start now.
    func idlePreviewEnded(_ number: Int, now: MediaTimestamp) -> Bool {
        idlePreview.ended(number) && cameraFreed(now: now)
    }

    private static func thread(
        _ request: StreamRequest, _ engine: StreamEngine, commands: Mailbox<PublisherCommand>,
        reports: Mailbox<EngineEvent>
    ) throws(SystemCallError) -> JoinableThread {
        JoinableThread(
            try NamedThread("stream") {
                do {
                    try engine.run(request, commands, EventSink { reports.send(.said($0)) })
                    reports.send(.ended(nil))
                } catch {
                    let failure = error as? StreamFailure ?? StreamFailure(.system, "\(error)")
                    reports.send(.ended(failure, devices: engine.devices(ApplianceFault(failure))))
                }
            })
    }
}
