import ApplianceLogic
import Controls
import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Synchronization
import USBVideo

@testable import ApplianceRuntime
@testable import DeviceStreams

/// A publisher whose streams do what the test wants. A stopped stream ends properly.
final class ScriptedStreams: Sendable {
    /// One stream, from its start.
    final class Run: Sendable {
        enum Answer: Sendable {
            case done
            case refused(CommandRefusal)
            case none
        }

        let request: StreamRequest
        /// The answer to changes, and whether it applies to pauses.
        let changeAnswer = Mutex(Answer.done)
        /// A stop reaches it, but it ends only when the test ends it.
        let isHanging = Mutex(false)
        private let reporter: EventSink
        private let ends: Mailbox<StreamFailure?>
        private let received = Mutex<[PublisherCommand]>([])

        fileprivate init(_ request: StreamRequest, _ reporter: EventSink) throws {
            self.request = request
            self.reporter = reporter
            ends = try Mailbox()
        }

        /// The requested changes.
        var changes: [[LiveConfiguration.Change]] {
            received.withLock { commands in
                commands.compactMap { if case .apply(let changes, _) = $0 { changes.configuration } else { nil } }
            }
        }

        /// The camera's control changes, in order.
        var controlChanges: [ControlChange] { controlRequests.flatMap { $0 } }

        /// Each of these is applied completely by the camera.
        var controlRequests: [[ControlChange]] {
            received.withLock { commands in
                commands.compactMap { command -> [ControlChange]? in
                    guard case .apply(let changes, _) = command, !changes.controls.isEmpty else { return nil }
                    return changes.controls
                }
            }
        }

        var isStopped: Bool {
            received.withLock { $0.contains { if case .stop = $0 { true } else { false } } }
        }

        /// Events of the only server.
        func say(_ events: StreamEvent...) { for event in events { reporter.of(TargetID(0)).emit(event) } }

        func say(_ event: StreamEvent, of target: TargetID) { reporter.of(target).emit(event) }

        func lead(_ target: TargetID) { reporter.tell(leading: target) }

        func show(_ snapshot: StreamSnapshot?) { reporter.show(snapshot) }

        func goLive() {
            say(.stateChanged(.connecting), .connected(server: "127.0.0.1:9"), .publishing(destination: "the server"))
            say(.stateChanged(.live))
        }

        /// The requested snapshots.
        var snapshots: [SnapshotRequest] {
            received.withLock { commands in
                commands.compactMap { if case .takeSnapshot(let request) = $0 { request } else { nil } }
            }
        }

        var watchesBrightness: Bool {
            received.withLock { commands in
                commands.reduce(false) { if case .watchBrightness(let isWatched) = $1 { isWatched } else { $0 } }
            }
        }

        var cameraChoices: [CameraChoice] {
            received.withLock { commands in
                commands.compactMap { if case .switchCamera(let choice, _) = $0 { choice } else { nil } }
            }
        }

        var mutings: Int { received.withLock { commands in commands.count { $0 == .toggleMute } } }

        /// How often the button has toggled the pause.
        var pauseToggles: Int { received.withLock { commands in commands.count { $0 == .togglePause } } }

        /// The pause commands, in order.
        var pauses: [Bool] {
            received.withLock { commands in
                commands.compactMap { if case .pause(let isPaused, _) = $0 { isPaused } else { nil } }
            }
        }

        var pauseImageLoads: Int { received.withLock { commands in commands.count { $0 == .loadPauseImage } } }

        func tell(_ brightness: Brightness) { reporter.tell(brightness) }

        /// - Parameter failure: `nil` for a proper end.
        func end(_ failure: StreamFailure?) { ends.send(failure) }

        private func take(_ command: PublisherCommand) {
            received.withLock { $0.append(command) }
            switch command {
            case .pause(let isPaused, let id):
                if case .none = changeAnswer.withLock({ $0 }) { break }
                say(.paused(isPaused))
                if let id { reporter.answer(id, .done([isPaused ? "paused" : "live"])) }
            case .apply(let changes, let id?): answer(changes, for: id)
            case .listSettings(let id): reporter.answer(id, .done(["quality Low1", "mute off"]))
            case .listControls(let id):
                let own = [ControlOffer(.zoom, range: 1...4), ControlOffer(.brightness, range: -1...1)]
                let offers = own.completed { _ in "it has none" }
                reporter.answer(id, .controls(offers.map { ControlStatus($0, wished: nil, report: CameraReport()) }))
            default: break
            }
        }

        private func answer(_ changes: RequestedChanges, for id: CommandID) {
            switch changeAnswer.withLock({ $0 }) {
            case .done: reporter.answer(id, .done(changes.descriptions))
            case .refused(let refusal): reporter.answer(id, .refused(refusal))
            case .none: break
            }
        }

        fileprivate func run(_ commands: Mailbox<PublisherCommand>) throws {
            while true {
                var entries = [PollEntry(commands.wakeup.fileDescriptor), PollEntry(ends.wakeup.fileDescriptor)]
                try poll(&entries, until: nil)
                for command in commands.takeAll() { take(command) }
                if isStopped, !isHanging.withLock({ $0 }) {
                    say(.stateChanged(.disconnecting), .stateChanged(.disconnected))
                    return
                }
                guard let end = ends.takeAll().first else { continue }
                if let failure = end { throw failure }
                return
            }
        }
    }

    let stills = ScriptedStills()
    let idleFrames: ScriptedIdleDevice<IdleFramesRequest, IdleFramesEvent>
    let idleAudio: ScriptedIdleDevice<IdleAudioRequest, IdleAudioEvent>
    let webcams = ScriptedWebcams()
    private let started = Mutex<[Run]>([])
    /// Alternatives to a missing camera.
    private let cameras = ["/dev/video7"]
    /// What drivers answer about their devices.
    let drivers = ScriptedDrivers()
    /// The screen that device.json may enable.
    let preview = RecordedPreview()

    init() throws {
        idleFrames = try ScriptedIdleDevice()
        idleAudio = try ScriptedIdleDevice()
    }

    var runs: [Run] { started.withLock { $0 } }
}

extension ScriptedStreams: StreamEngine {
    func run(_ request: StreamRequest, commands: Mailbox<PublisherCommand>, reporter: EventSink) throws {
        let run = try Run(request, reporter)
        started.withLock { $0.append(run) }
        try run.run(commands)
    }

    func takeStill(_ request: StillRequest, stop: EventFD) -> (SnapshotAnswer, Brightness?) {
        stills.take(request, stop: stop)
    }

    func feedIdle(_ request: IdleFramesRequest, stop: EventFD, report: (IdleFramesEvent) -> Void) {
        idleFrames.run(request, stop: stop, report)
    }

    func feedIdleAudio(_ request: IdleAudioRequest, stop: EventFD, report: (IdleAudioEvent) -> Void) {
        idleAudio.run(request, stop: stop, report)
    }

    func devices(insteadOf fault: ApplianceFault) -> [String] { fault == .camera ? cameras : [] }

    func list(_ kind: DeviceList.Kind) -> DeviceList { drivers.list(kind) }

    func findEncoders() -> EncoderFinding { EncoderFinding(hardware: ["codec (/dev/video11)"]) }

    func problem(ofFileSource source: String) -> String? { nil }

    func openPreview(report: @escaping @Sendable (PreviewEvent) -> Void) throws -> any PreviewSink { preview }

    func openWebcam(
        _ request: WebcamRequest, report: @escaping @Sendable (WebcamReport) -> Void
    ) throws -> any WebcamSink {
        try webcams.open(request, report)
    }

    var webcamAbsence: String? { webcams.absence }

    func removeFormerWebcam() { webcams.removeFormer() }
}

/// Drivers that list their devices, if they answer at all.
final class ScriptedDrivers: Sendable {
    struct Content: Sendable {
        var isHanging = false
        /// What was asked for.
        var questions: [DeviceList.Kind] = []
    }

    static let cameras = DeviceList([ListedDevice("/dev/video7", label: "Webcam")])
    static let microphones = DeviceList([
        ListedDevice("hw:one,0", label: "First", aliases: ["hw:0,0"]),
        ListedDevice("hw:two,0", label: "Second", aliases: ["hw:1,0"]),
    ])

    let content = Mutex(Content())

    func list(_ kind: DeviceList.Kind) -> DeviceList {
        content.withLock { $0.questions.append(kind) }
        while content.withLock({ $0.isHanging }) {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(50))
        }
        return kind == .cameras ? Self.cameras : Self.microphones
    }
}

/// A camera that is opened for snapshots; each takes as long as the test wants.
final class ScriptedStills: Sendable {
    struct Content: Sendable {
        var requests: [StillRequest] = []
        /// The brightness of the next snapshots.
        var brightness: [Brightness] = []
        /// It delivers nothing until it is stopped.
        var isSilent = false
        /// The driver does not return, even if stopped.
        var isHanging = false
    }

    static let snapshot = Snapshot(
        size: FrameSize(width: 640, height: 480), bytes: [UInt8](repeating: 7, count: 2_000_000), byteCount: 2_000_000)

    let content = Mutex(Content())

    func take(_ request: StillRequest, stop: EventFD) -> (SnapshotAnswer, Brightness?) {
        let (isSilent, brightness) = content.withLock { content in
            content.requests.append(request)
            return (content.isSilent, content.brightness.isEmpty ? nil : content.brightness.removeFirst())
        }
        while content.withLock({ $0.isHanging }) {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(50))
        }
        guard !isSilent else {
            var entries = [PollEntry(stop.fileDescriptor)]
            _ = try? poll(&entries, until: nil)
            return (.failed(request.snapshot, .cameraTaken), nil)
        }
        // At least as long as a light takes to settle, so that the code under test has seen it lit.
        var entries: [PollEntry] = []
        if request.snapshot.awaitsExposure { _ = try? poll(&entries, until: MonotonicClock.now() + .milliseconds(300)) }
        return (.taken(request.snapshot, Self.snapshot), brightness)
    }
}

/// A camera or microphone that is open without a stream and reports what the test wants.
final class ScriptedIdleDevice<Request: Sendable, Event: Sendable>: Sendable {
    struct Content: Sendable {
        var requests: [Request] = []
        /// How many of them are not closed.
        var openCount = 0
        /// The driver does not close it.
        var isHanging = false
    }

    let content = Mutex(Content())
    /// Its next reports.
    let events: Mailbox<Event>

    init() throws { events = try Mailbox() }

    var isOpen: Bool { content.withLock { $0.openCount > 0 } }
    var openings: Int { content.withLock { $0.requests.count } }

    func run(_ request: Request, stop: EventFD, _ report: (Event) -> Void) {
        content.withLock { content in
            content.requests.append(request)
            content.openCount += 1
        }
        var waits: PollSet = ["stop": stop.fileDescriptor, "events": events.wakeup.fileDescriptor]
        while (try? waits.wait()) != nil, !waits.isReady("stop") {
            for event in events.takeAll() { report(event) }
        }
        while content.withLock({ $0.isHanging }) {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(50))
        }
        content.withLock { $0.openCount -= 1 }
    }
}
