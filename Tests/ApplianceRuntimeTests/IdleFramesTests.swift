import ApplianceLogic
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime
@testable import DeviceStreams

/// The camera while it is open for the screen without a stream: who uses it, and when.
@Suite(.serialized) struct IdleFramesTests {
    private let time = VirtualTime()
    private let camera: Camera

    init() throws { camera = try Camera(board: #"{"name": "Bench", "button": {"line": "GPIO17"}}"#) }

    private var idle: ScriptedIdleDevice<IdleFramesRequest, IdleFramesEvent> { camera.streams.idleFrames }
    private var runs: [ScriptedStreams.Run] { camera.streams.runs }
    private var page: ScreenPage? { camera.streams.preview.record.pages.last }

    private func start(_ preview: String = #"{"display": "hdmi", "camera": "always"}"#) throws {
        try camera.write("device", #"{"camera": "synthetic", "preview": \#(preview)}"#)
        try camera.write("network", #"{"country": "NZ"}"#)
        try camera.start()
        try camera.waitUntil { page?.headline == "ready" }
    }

    private func startWithCamera() throws {
        try start()
        try camera.waitUntil { idle.isOpen }
    }

    private func events(with text: String) throws -> Int {
        try camera.ask("events 50").split(separator: "\n").count { $0.hasSuffix(text) }
    }

    @Test(arguments: [#""hdmi""#, #"{"display": "hdmi"}"#, #"{"display": "off", "camera": "always"}"#])
    func cameraIsOpenOnlyIfConfigured(preview: String) throws {
        try time.run {
            try camera.write("device", #"{"camera": "synthetic", "preview": \#(preview)}"#)
            try camera.start()
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(5))
            #expect(idle.openings == 0)
            try camera.end()
        }
    }

    @Test func streamGetsTheCameraAndReturnsItToTheScreen() throws {
        try time.run {
            try startWithCamera()
            let request = idle.content.withLock { $0.requests[0] }
            #expect(
                request.sinks.first === camera.streams.preview && request.sinks.count == 1
                    && request.camera.country == "NZ")
            #expect(request.camera.device.camera == "synthetic")
            camera.press()
            try camera.waitUntil { runs.count == 1 }
            #expect(!idle.isOpen)
            runs[0].goLive()
            try camera.waitUntil { try camera.ask("status").contains("live") }
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(5))
            #expect(idle.openings == 1)
            _ = try camera.ask("stop")
            try camera.waitUntil { idle.isOpen }
            #expect(idle.openings == 2 && page?.headline == "ready")
            try camera.end()
            #expect(!idle.isOpen)
        }
    }

    @Test func waitingStartIsShownAndCanBeCanceled() throws {
        try time.run {
            try startWithCamera()
            idle.content.withLock { $0.isHanging = true }
            #expect(try camera.ask("start") == "ok\nconnecting\n")
            try camera.waitUntil { page?.headline == "connecting" }
            _ = try camera.ask("stop")
            try camera.waitUntil { page?.headline == "ready" }
            idle.content.withLock { $0.isHanging = false }
            try camera.waitUntil { idle.openings == 2 }
            #expect(runs.isEmpty)
            try camera.end()
        }
    }

    @Test func newSettingsApplyToAWaitingStart() throws {
        try time.run {
            try startWithCamera()
            idle.content.withLock { $0.isHanging = true }
            _ = try camera.ask("start")
            try camera.write("device", #"{"camera": "synthetic", "mirrored": true}"#)
            try camera.waitUntil { try events(with: ApplianceNotice.filesChanged.description) == 1 }
            idle.content.withLock { $0.isHanging = false }
            try camera.waitUntil { runs.count == 1 }
            #expect(runs[0].request.sources.device.mirrored)
            try camera.end()
        }
    }

    @Test func hangingDriverDoesNotBlockTheStream() throws {
        try time.run {
            try startWithCamera()
            idle.content.withLock { $0.isHanging = true }
            let start = MonotonicClock.now()
            _ = try camera.ask("start")
            try camera.waitUntil { runs.count == 1 }
            #expect((.seconds(10) ... .seconds(11)).contains(MonotonicClock.now() - start))
            #expect(
                try camera.eventCount(IdleFramesEvent.away(reason: "").text ?? "no text")
                    == 1)
            _ = try camera.ask("stop")
            try camera.waitUntil { page?.headline == "ready" }
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(5))
            #expect(idle.openings == 1, "another one would hang, too")
            idle.content.withLock { $0.isHanging = false }
            try camera.waitUntil { idle.openings == 2 }
            try camera.end()
        }
    }

    @Test func snapshotTakesItsTurn() throws {
        try time.run {
            try startWithCamera()
            #expect(try camera.ask("snapshot").hasPrefix("ok\n"))
            #expect(camera.streams.stills.content.withLock { $0.requests.count } == 1)
            try camera.waitUntil { idle.openings == 2 && idle.isOpen }
            try camera.end()
        }
    }

    @Test func missingCameraIsReportedOnceAndShownOnTheScreen() throws {
        try time.run {
            try startWithCamera()
            let problem = "camera unavailable while idle: it was unplugged"
            idle.events.send(.away(reason: "it was unplugged"))
            try camera.waitUntil { page?.lines.contains(problem) == true }
            #expect(page?.headline == "ready", "a press would tell")
            idle.events.send(.returned)
            try camera.waitUntil { page?.lines.contains(problem) == false }
            #expect(try events(with: problem) == 1 && events(with: IdleFramesEvent.returned.text ?? "no text") == 1)
            try camera.end()
        }
    }

    @Test func changedSettingsReopenTheCamera() throws {
        try time.run {
            try startWithCamera()
            try camera.write(
                "device",
                #"{"camera": "synthetic", "preview": {"display": "hdmi", "camera": "always"}, "mirrored": true}"#)
            try camera.waitUntil { idle.openings == 2 && idle.isOpen }
            #expect(idle.content.withLock { $0.requests[1].camera.device.mirrored })
            try camera.write("device", #"{"camera": "synthetic", "preview": "hdmi"}"#)
            try camera.waitUntil { !idle.isOpen }
            try camera.end()
            #expect(idle.openings == 2)
        }
    }
}
