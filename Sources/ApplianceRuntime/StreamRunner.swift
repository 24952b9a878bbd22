import ApplianceLogic
import LinuxIO
import StreamLogic

/// What the stream's thread tells the main thread.
enum EngineEvent: Sendable {
    case said(StreamMessage)
    /// The stream is over; nothing follows.
    /// - Parameter devices: where one was missing, those that there are, as the files name them.
    case ended(StreamFailure?, devices: [String] = [])
}

/// Runs the stream on a thread of its own, one after the other. Used from the main thread.
final class StreamRunner {
    let reports: Mailbox<EngineEvent>
    private let engine: StreamEngine
    private let stateDirectory: String
    private var running: (thread: JoinableThread, commands: Mailbox<PublisherCommand>)?
    /// Start again when the present one has ended.
    private var startsAgain = false

    init(_ engine: StreamEngine, stateDirectory: String) throws {
        reports = try Mailbox()
        self.engine = engine
        self.stateDirectory = stateDirectory
    }

    var isRunning: Bool { running != nil }

    /// Starts a stream; after the end of the present one if there is one.
    func start(_ files: DescriptionFiles) throws {
        guard running == nil else {
            startsAgain = true
            return
        }
        guard let description = files.stream else { return }
        let commands = try Mailbox<PublisherCommand>()
        let request = StreamRequest(
            description: description, device: files.device, board: files.board, country: files.network.country,
            stateDirectory: stateDirectory)
        running = (try Self.thread(request, engine, commands: commands, reports: reports), commands)
    }

    /// Changes the live stream.
    func apply(_ changes: [LiveConfiguration.Change]) { running?.commands.send(.apply(changes)) }

    func switchCamera(_ choice: CameraChoice) { running?.commands.send(.switchCamera(choice)) }

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
