import ApplianceLogic
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Synchronization
import Testing

@testable import ApplianceRuntime

/// `tallycam run` on a thread of its own, with its files, card and control socket; the stream's words are the test's.
private final class Camera {
    private final class Shared: Sendable {
        let reports = Mutex<Mailbox<StreamReport>?>(nil)
        let hasEnded = Mutex(false)
    }

    static let reason = "STREAMON: the firmware has not answered"

    private let directory: TemporaryDirectory
    private var shared = Shared()
    private var thread: JoinableThread?

    init(board: String) throws {
        directory = try TemporaryDirectory()
        for name in ["boot", "state", "network"] { mkdir(directory.file(name), 0o755) }
        try write("board", board)
        try write("device", #"{"camera": "synthetic"}"#)
        try write("stream", #"{"url": "rtmp://127.0.0.1:9/live/x"}"#)
    }

    deinit {
        if !hasEnded { _ = try? ask("poweroff") }
        thread?.join()
    }

    func write(_ name: String, _ json: String) throws {
        _ = try directory.write(Array(json.utf8), to: "boot/\(name).json")
    }

    func read(_ path: String) -> String {
        (try? readFile(directory.file(path), limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Begins it, as init does.
    func start() throws {
        var place = ApplianceSettings()
        place.bootDirectory = directory.file("boot")
        place.stateDirectory = directory.file("state")
        place.networkDirectory = directory.file("network")
        place.socketPath = directory.file("socket")
        place.simulatesPower = true
        let (settings, silent) = (place, Self.silent)
        let shared = Shared()
        self.shared = shared
        thread = JoinableThread(
            try NamedThread("camera", stackSize: 8 << 20) {
                do {
                    let runner = try ApplianceRunner(settings: settings, streams: silent)
                    runner.encoderHealth = HardwareEncoderHealth(idleTime: .zero)
                    shared.reports.withLock { $0 = runner.stream.reports }
                    try runner.run()
                } catch {
                    Issue.record("\(error)")
                }
                shared.hasEnded.withLock { $0 = true }
            })
        try waitUntil { try ask("status").contains("state:") }
    }

    var hasEnded: Bool { shared.hasEnded.withLock { $0 } }

    /// Streams that say nothing and live until they are stopped.
    private static let silent = StreamEngine(
        run: { _, commands, _ in
            while !commands.takeAll().contains(where: { if case .stop = $0 { true } else { false } }) {
                var entries = [PollEntry(commands.wakeup.fileDescriptor)]
                try poll(&entries, until: nil)
            }
        }, devices: { _ in [] })

    /// The stream's thread says this.
    func told(_ event: StreamEvent) { told(.said(.event(Event(event, destination: "the server")))) }
    func told(_ report: StreamReport) { shared.reports.withLock { $0?.send(report) } }

    func toldStatus(encoder: String) {
        told(
            .said(
                .event(
                    Event(
                        nil, code: EventCode.status.rawValue, text: "",
                        fields: [("encoder", .text(encoder)), ("videoFramesPerSecond", .number(30))]))))
    }

    func ask(_ command: String) throws -> String {
        let connection = try connectLocal(directory.file("socket"))
        try connection.writeAll(Array("\(command)\n".utf8))
        return String(decoding: try connection.readAll(limit: 1 << 20), as: UTF8.self)
    }

    func waitUntil(
        _ condition: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let limit = MonotonicClock.now() + .seconds(20)
        while try (try? condition()) != true {
            try #require(
                MonotonicClock.now() < limit, "\((try? ask("status")) ?? "")\(read("state/events"))",
                sourceLocation: sourceLocation)
            usleep(20_000)
        }
    }

    func goLive() {
        told(.stateChanged(.connecting))
        told(.stateChanged(.connected))
    }

    func end() throws {
        _ = try ask("poweroff")
        try waitUntil { hasEnded }
    }
}

@Suite(.serialized) struct DeadEncoderTests {
    @Test func itIsToldWhileLiveAndUntilItWorksAgain() throws {
        let camera = try Camera(board: #"{"name": "Bench"}"#)
        try camera.start()
        camera.goLive()
        try camera.waitUntil { try camera.ask("status").contains("state:    live\n") }
        camera.told(.hardwareEncoderDead(reason: Camera.reason))
        try camera.waitUntil { try camera.ask("status").contains("state:    live in software\n") }
        let status = try camera.ask("status")
        #expect(status.contains("(10 blinks)") && status.contains(Camera.reason), "\(status)")
        try camera.waitUntil { camera.read("boot/faults.txt").contains("(10 blinks)") }
        let faults = camera.read("boot/faults.txt")
        for words in [Camera.reason, "in software", "power off and on", "\"restartForEncoder\": true in board.json"] {
            #expect(faults.contains(words), "\(faults)")
        }
        #expect(try camera.ask("events 50").contains(EventCode.hardwareEncoderDead.meaning))

        // The next stream of this run of the machine.
        camera.told(.ended(nil))
        try camera.waitUntil { try camera.ask("status json").contains(#""isStreamWanted":false"#) }
        camera.goLive()
        try camera.waitUntil { try camera.ask("status").contains("state:    live in software\n") }
        camera.toldStatus(encoder: "v4l2:/dev/video11")
        camera.toldStatus(encoder: "v4l2:/dev/video11")
        try camera.waitUntil { try camera.ask("status").contains("state:    live\n") }
        try camera.waitUntil { camera.read("boot/faults.txt").isEmpty }
        // Nobody has allowed it.
        #expect(camera.read("state/restarts").isEmpty)
        try camera.end()
    }

    @Test func theMachineRestartsWhenNothingIsLiveAndBeginsNothing() throws {
        let camera = try Camera(board: #"{"name": "Bench", "restartForEncoder": true}"#)
        try camera.start()
        camera.goLive()
        camera.told(.hardwareEncoderDead(reason: Camera.reason))
        try camera.waitUntil { camera.read("boot/faults.txt").contains("by itself while nothing is live") }
        // Longer than between two looks.
        usleep(4_500_000)
        #expect(!camera.hasEnded)
        camera.told(.ended(nil))
        try camera.waitUntil { camera.hasEnded }
        #expect(camera.read("state/restarts").hasPrefix("off "))
        #expect(camera.read("state/events").contains("machineRestarting (2007): the hardware encoder is dead"))

        // It was stopped, and stays so.
        try camera.write("device", #"{"camera": "synthetic", "startAtBoot": true}"#)
        try camera.start()
        try camera.waitUntil { try camera.ask("events 50").contains("nothing begins by itself") }
        #expect(try camera.ask("status json").contains(#""isStreamWanted":false"#))
        #expect(camera.read("state/restarts").hasPrefix("none "))
        // A second time is too often.
        camera.goLive()
        camera.told(.hardwareEncoderDead(reason: Camera.reason))
        camera.told(.ended(nil))
        try camera.waitUntil { try camera.ask("events 50").contains("itself within an hour, and stands now") }
        usleep(4_500_000)
        #expect(!camera.hasEnded)
        #expect(try camera.ask("events 50").split(separator: "\n").count { $0.contains("and stands now") } == 1)
        try camera.end()
    }
}
