import ApplianceLogic
import LinuxIO
import StreamLogic

/// What the stream's thread tells the main thread.
enum StreamReport: Sendable {
    case console(Console.Report)
    /// The stream is over; nothing follows.
    /// - Parameter devices: where one was missing, those that there are, as the files name them.
    case ended(StreamFailure?, devices: [String] = [])
}

/// Runs the stream on a thread of its own, one after the other. Used from the main thread.
final class StreamRunner {
    let reports: Mailbox<StreamReport>
    private let stateDirectory: String
    private var running: (thread: JoinableThread, remote: PublisherRemote)?
    /// Begin again when the present one has ended.
    private var startsAgain = false

    init(stateDirectory: String) throws {
        reports = try Mailbox()
        self.stateDirectory = stateDirectory
    }

    var isRunning: Bool { running != nil }

    /// Begins a stream; after the end of the present one if there is one.
    func start(_ files: DescriptionFiles) throws {
        guard running == nil else {
            startsAgain = true
            return
        }
        guard let description = files.stream else { return }
        let remote = try PublisherRemote()
        let request = StreamRequest(
            description: description, device: files.device, board: files.board, stateDirectory: stateDirectory)
        running = (try Self.thread(request, remote: remote, reports: reports), remote)
    }

    /// A change of the live stream, as `ConfigurationTransaction` takes it.
    func command(_ line: String) { running?.remote.command(line) }

    func stop() {
        startsAgain = false
        running?.remote.stop()
    }

    func restart() {
        startsAgain = running != nil
        running?.remote.stop()
    }

    /// The thread has reported its end.
    /// - Returns: whether a new stream is to begin.
    func ended() -> Bool {
        running?.thread.join()
        running = nil
        defer { startsAgain = false }
        return startsAgain
    }

    private static func thread(
        _ request: StreamRequest, remote: PublisherRemote, reports: Mailbox<StreamReport>
    ) throws(SystemCallError) -> JoinableThread {
        JoinableThread(
            try NamedThread("stream") {
                do {
                    let console = Console { reports.send(.console($0)) }
                    let options = try PublishOptions(request)
                    for warning in options.warnings { console.log("warning: \(warning)") }
                    _ = try LivePublisher(options: options, console: console, remote: remote).run()
                    reports.send(.ended(nil))
                } catch {
                    let failure = error as? StreamFailure ?? StreamFailure(.system, "\(error)")
                    reports.send(.ended(failure, devices: devicesInstead(of: ApplianceFault(failure))))
                }
            })
    }
}
