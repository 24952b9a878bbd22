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
    /// The stream is over; nothing follows.
    /// - Parameter devices: where one was missing, those that there are, as the files name them.
    case ended(StreamFailure?, devices: [String] = [])
}

/// Runs the stream on a thread of its own, one after the other, and takes snapshots while there is none. Used from the main
/// thread.
final class StreamRunner {
    let reports: Mailbox<EngineEvent>
    let engine: StreamEngine
    private let stateDirectory: String
    private var running: (thread: JoinableThread, commands: Mailbox<PublisherCommand>)?
    /// Start again when the present one, or the snapshot, has ended.
    private var startsAgain = false
    /// The camera while it is open for a snapshot; a stream has precedence.
    private var still: (stop: EventFD, deadline: MediaTimestamp?)?
    private var waitingStills: [StillRequest] = []
    /// A camera takes seconds to open and to see; one that gives nothing is closed again.
    private static let stillTimeout = Duration.seconds(8)

    init(_ engine: StreamEngine, stateDirectory: String) throws {
        reports = try Mailbox()
        self.engine = engine
        self.stateDirectory = stateDirectory
    }

    var isRunning: Bool { running != nil }
    /// A stream that is started has to wait for its end.
    var isCameraTaken: Bool { running != nil || still != nil }

    /// Starts a stream; after the end of the present one if there is one.
    /// - Parameter preview: where its frames are shown.
    func start(_ files: DescriptionFiles, preview: (any PreviewSink)?) throws {
        guard !isCameraTaken else {
            startsAgain = true
            still?.stop.signal()
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

    func stop() {
        startsAgain = false
        running?.commands.send(.stop)
    }

    func restart() {
        startsAgain = running != nil
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
        waitingStills.append(
            StillRequest(
                snapshot: request, device: files.device, board: files.board, country: files.network.country))
        openForStill(now: now)
    }

    private func openForStill(now: MediaTimestamp) {
        guard !isCameraTaken, let request = waitingStills.first else { return }
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

    /// When the camera has been open for a snapshot for too long.
    var nextDeadline: MediaTimestamp? { still.flatMap(\.deadline) }

    func timeReached(now: MediaTimestamp) {
        guard let still, let deadline = still.deadline, deadline <= now else { return }
        still.stop.signal()
        self.still?.deadline = nil
    }

    /// The thread has reported its answer.
    /// - Returns: whether a stream is to start now.
    func stillEnded(now: MediaTimestamp) -> Bool {
        still = nil
        guard !startsAgain else {
            startsAgain = false
            for request in waitingStills {
                reports.send(.still(.failed(request.snapshot, reason: "a stream has started"), nil))
            }
            waitingStills = []
            return true
        }
        openForStill(now: now)
        return false
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
