import ApplianceLogic
import BoardIO
import Filters
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Synchronization
import Testing

@testable import ApplianceRuntime
@testable import BoardRuntime
@testable import CardStorage
@testable import DeviceStreams
@testable import StreamQuality

/// The socket's answer to a command that is refused.
func refused(_ refusal: ApplianceRefusal) -> String { "error\n\(refusal)\n" }

/// The socket's answer to a command that is done.
func done(_ text: some CustomStringConvertible) -> String { "ok\n\(text)\n" }

/// `tallycam run` on its own thread, with its files, card and control socket. Lines and streams come from the test.
final class Camera {
    private final class Shared: Sendable {
        let reports = Mutex<Mailbox<EngineEvent>?>(nil)
        let hasEnded = Mutex(false)
    }

    static let reason = "STREAMON: the firmware has not answered"

    let streams: ScriptedStreams
    let button = FakeLine(on: Bus(), hasEdges: try? EventFD())
    let flash = FakeLine(on: Bus())
    private let directory: TemporaryDirectory
    private var shared = Shared()
    private var thread: JoinableThread?

    init(board: String) throws {
        directory = try TemporaryDirectory()
        streams = try ScriptedStreams()
        for name in ["boot", "state", "network"] { mkdir(directory.file(name), 0o755) }
        try write("board", board)
        try write("device", #"{"camera": "synthetic"}"#)
        try write("stream", #"{"url": "rtmp://127.0.0.1:9/live/x"}"#)
    }

    deinit {
        if thread != nil, !hasEnded { _ = try? ask("poweroff") }
        thread?.join()
    }

    func write(_ name: String, _ json: String) throws {
        _ = try directory.write(Array(json.utf8), to: "boot/\(name).json")
    }

    /// In the folder next to the boot partition.
    func writeFile(_ text: String, to name: String) throws { try writeFile(Array(text.utf8), to: name) }
    func writeFile(_ bytes: [UInt8], to name: String) throws { _ = try directory.write(bytes, to: name) }

    func read(_ path: String) -> String {
        (try? readFile(directory.file(path), limit: 1 << 22)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private var settings: ApplianceSettings {
        var settings = ApplianceSettings()
        settings.bootDirectory = directory.file("boot")
        settings.stateDirectory = directory.file("state")
        settings.networkDirectory = directory.file("network")
        settings.socketPath = directory.file("socket")
        settings.simulatesPower = true
        return settings
    }

    /// A device on the test's own thread, where nothing happens by itself.
    func makeDevice() throws -> ApplianceDevice {
        let device = try ApplianceDevice(
            settings: settings, streams: streams, board: BoardDevices(openers: openers))
        device.perform(device.appliance.networkChanged(isUp: true, now: MonotonicClock.now()))
        device.load(device.card.firstFiles.value)
        return device
    }

    /// Starts it like init does.
    func start() throws {
        let (settings, engine, openers) = (settings, streams, openers)
        let shared = Shared()
        self.shared = shared
        thread = JoinableThread(
            try NamedThread("camera", stackSize: 8 << 20) {
                do {
                    let runner = try ApplianceRunner(
                        settings: settings, streams: engine, board: BoardDevices(openers: openers))
                    runner.device.encoderHealth = HardwareEncoderHealth(idleTime: .zero)
                    shared.reports.withLock { $0 = runner.device.stream.reports }
                    try runner.run()
                } catch {
                    Issue.record("\(error)")
                }
                shared.hasEnded.withLock { $0 = true }
            })
        try waitUntil { try !state().isEmpty }
        // The first write to the card deletes temporary files, even one that a test is writing at that moment.
        MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
    }

    var hasEnded: Bool { shared.hasEnded.withLock { $0 } }

    private var openers: BoardDevices.Openers {
        var openers = BoardDevices.Openers()
        openers.button = { [button] _ throws(BoardIOError) in button }
        openers.lamp = { [flash] _ throws(BoardIOError) in flash }
        return openers
    }

    /// Presses the button for this long.
    func press(for duration: Duration = .milliseconds(80)) {
        button.move(isPressed: true, at: MonotonicClock.now())
        MonotonicClock.sleep(until: MonotonicClock.now() + duration)
        button.move(isPressed: false, at: MonotonicClock.now())
    }

    /// A report from the stream's thread.
    func reported(_ event: StreamEvent) { reported(.said(.event(event))) }
    func reported(_ report: EngineEvent) { shared.reports.withLock { $0?.send(report) } }

    func reportedStatus(encoder: String) { reported(.status(Self.status(encoder: encoder))) }

    static func status(encoder: String, filters: [FilterReading] = []) -> StreamStatus {
        var snapshot = snapshot(live: .zero)
        snapshot.encoded.filters = filters
        snapshot.encoder = EncoderIdentity(name: encoder, isHardware: true)
        let rates = StreamRates(
            videoFramesPerSecond: 30, audioPacketsPerSecond: 43, total: Bitrate(kilobitsPerSecond: 500))
        return StreamStatus(snapshot, rates: rates)
    }

    /// - Parameter duration: time since the stream went live.
    static func snapshot(live duration: Duration) -> StreamSnapshot {
        let configuration = LiveConfiguration(
            settings: QualitySettings(videoQuality: .standard, audioQuality: .standard), dimension: .standard)
        let point = OperatingPoint(
            videoQuality: .standard, videoBitrate: VideoQuality.standard.bitrate,
            frameRate: VideoQuality.standard.frameRate, audioQuality: .standard)
        var counters = EncodedCounters()
        counters.videoSource.capturedFrames = 77
        var snapshot = StreamSnapshot(
            time: .zero + duration, target: "the server", state: .live, encoded: counters, sent: SentCounters(),
            configuration: configuration, point: point)
        snapshot.start = .zero
        return snapshot
    }

    func path(_ name: String) -> String { directory.file(name) }

    func ask(_ command: String) throws -> String { String(decoding: try askForBytes(command), as: UTF8.self) }

    func ask(_ command: [UInt8]) throws -> String { String(decoding: try answer(on: connect(command)), as: UTF8.self) }

    func askForBytes(_ command: String) throws -> [UInt8] { try answer(on: try connect(command)) }

    /// Reads only available data, so that time can advance in between. An answer may come part by part.
    func answer(on connection: borrowing OwnedFileDescriptor) throws -> [UInt8] {
        var answer: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            if !answer.isEmpty { awaitEnd(of: connection) }
            var entries = [PollEntry(connection.rawValue)]
            try poll(&entries, until: nil)
            let count = try block.withMutableBytes { bytes throws(SystemCallError) in
                try connection.read(into: bytes)
            }
            guard count > 0 else { return answer }
            answer += block[..<count]
        }
    }

    /// The end follows an answer at once, unless a child that another test is starting has a copy of the connection for a moment.
    /// Time must not advance meanwhile.
    private func awaitEnd(of connection: borrowing OwnedFileDescriptor) {
        var end = pollfd(fd: connection.rawValue, events: Int16(POLLIN), revents: 0)
        _ = Glibc.poll(&end, 1, 50)
    }

    func text(on connection: borrowing OwnedFileDescriptor) throws -> String {
        String(decoding: try answer(on: connection), as: UTF8.self)
    }

    /// For an answer that comes later.
    func connect(_ command: String) throws -> OwnedFileDescriptor { try connect(Array(command.utf8)) }

    private func connect(_ command: [UInt8]) throws -> OwnedFileDescriptor {
        let connection = try connectLocal(directory.file("socket"))
        try connection.writeAll(command + [UInt8(ascii: "\n")])
        return connection
    }

    func waitUntil(
        within timeout: Duration = .seconds(20), _ condition: () throws -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let limit = MonotonicClock.now() + timeout
        while (try? condition()) != true {
            try #require(
                MonotonicClock.now() < limit, "\((try? ask("status")) ?? "")\(read("state/events"))",
                sourceLocation: sourceLocation)
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
        }
    }

    /// How often the stored events have this text.
    func eventCount(_ text: some CustomStringConvertible) throws -> Int {
        try ask("events 200").split(separator: "\n").count { $0.contains(text.description) }
    }

    /// Whether the stored events have this text.
    func hasTold(_ notice: ApplianceNotice) throws -> Bool { try eventCount(notice) > 0 }
    func hasTold(_ event: StreamEvent) throws -> Bool { try eventCount(event.text ?? "no text") > 0 }

    func goLive() {
        reported(.stateChanged(.connecting))
        reported(.stateChanged(.live))
    }

    /// - Returns: the stream started by `start`, live.
    func liveRun(startedBy start: () throws -> Void) throws -> ScriptedStreams.Run {
        let count = streams.runs.count
        try start()
        try waitUntil { streams.runs.count == count + 1 }
        let run = streams.runs[count]
        run.goLive()
        try waitUntil { try state() == "live" }
        return run
    }

    func end() throws {
        _ = try ask("poweroff")
        try waitUntil { hasEnded }
    }
}
