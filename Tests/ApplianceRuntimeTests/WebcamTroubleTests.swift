import ApplianceLogic
import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing
import USBVideo

@testable import ApplianceRuntime
@testable import BoardRuntime

/// How the device reacts if the webcam, its camera or its microphone is missing, and while someone waits.
@Suite(.serialized) struct WebcamTroubleTests: WebcamSuite {
    private let time = VirtualTime()
    let camera: Camera

    init() throws {
        camera = try Camera(
            board: #"{"name": "Bench", "button": {"line": "GPIO17"}, "restartForEncoder": true}"#)
    }

    private func sleep(_ duration: Duration) { MonotonicClock.sleep(until: MonotonicClock.now() + duration) }

    private func waitUntilJSON(says text: String, _ isThere: Bool = true) throws {
        try camera.waitUntil { try camera.ask("status json").contains(text) == isThere }
    }

    private static let frame = CapturedFrame(
        layout: FrameLayout(packed: .i420, size: FrameSize(width: 16, height: 16)), captureTime: .zero,
        memory: PooledFrame([UInt8](repeating: 0, count: 384)))

    private func goLive() throws -> ScriptedStreams.Run {
        _ = try camera.ask("start")
        try camera.waitUntil { runs.count == 1 }
        runs[0].goLive()
        try camera.waitUntil { try camera.state() == "live" }
        return runs[0]
    }

    // MARK: The gadget

    @Test func failedGadgetIsRetriedAtGrowingIntervals() throws {
        webcams.content.withLock { $0.failure = "there is no thread for it" }
        try time.run {
            try start()
            try camera.waitUntil { idle.isOpen }
            idle.events.send(.controls(Self.statuses))
            try camera.waitUntil { try camera.status().webcam?.reason == "there is no thread for it" }
            // After 2, 4, 8, 16 and 32 s.
            sleep(.seconds(65))
            #expect(webcams.content.withLock { $0.failures } == 6)
            #expect(try camera.eventCount(WebcamEvent.failed(reason: "there is no thread for it").text) == 1)
            webcams.content.withLock { $0.failure = nil }
            try camera.waitUntil(within: .seconds(61)) { webcams.openings == 1 }
            #expect(try camera.status().webcam?.state == WebcamState.notAttached.name)
            try camera.end()
        }
    }

    @Test func commandReportsAtOnceThatTheBoardCannotBeAWebcam() throws {
        webcams.content.withLock { $0.absence = "this board has no USB device port" }
        try time.run {
            try start("false")
            #expect(
                try camera.ask("webcam start")
                    == refused(.webcam(reason: "this board has no USB device port")))
            // The webcam stays enabled all the same.
            try camera.waitUntil { try camera.status().webcam?.reason == "this board has no USB device port" }
            #expect(try camera.status().webcam?.isAgainstFile == true)
            try camera.waitUntil { idle.isOpen }
            idle.events.send(.controls(Self.statuses))
            try camera.waitUntil { webcams.openings == 1 }
            webcams.content.withLock { $0.absence = nil }
            #expect(try camera.ask("set webcam on").hasPrefix("ok\n"))
            webcams.report(.event(.failed(reason: "it is taken")))
            try camera.waitUntil { try camera.status().webcam?.reason == "it is taken" }
            #expect(try camera.ask("set webcam on") == refused(.webcam(reason: "it is taken")))
            #expect(try camera.ask("webcam stop").hasPrefix("ok\n"))
            try camera.end()
        }
    }

    @Test func nextGadgetWaitsForTheEndOfThePreviousOneButTheButtonDoesNot() throws {
        try time.run {
            try startWithGadget()
            webcams.content.withLock { $0.isSlowToEnd = true }
            _ = try camera.ask("set webcam off")
            _ = try camera.ask("webcam start")
            let start = MonotonicClock.now()
            camera.press()
            try camera.waitUntil { runs.count == 1 }
            #expect(MonotonicClock.now() - start < .seconds(1) && webcams.openings == 1)
            webcams.report(.ended)
            try camera.waitUntil { webcams.openings == 2 }
            #expect(MonotonicClock.now() - start < .seconds(1))
            webcams.content.withLock { $0.isSlowToEnd = false }
            try camera.end()
        }
    }

    @Test func waitForThePreviousGadgetEndsAfterTwoSeconds() throws {
        try time.run {
            try startWithGadget()
            webcams.content.withLock { $0.isSlowToEnd = true }
            let start = MonotonicClock.now()
            // A client is answered when the gadget is gone.
            #expect(try camera.ask("webcam stop").hasPrefix("ok\n"))
            #expect(MonotonicClock.now() - start >= .seconds(2))
            webcams.content.withLock { $0.isSlowToEnd = false }
            _ = try camera.ask("webcam start")
            try camera.waitUntil { webcams.openings == 2 }
            try camera.end()
        }
    }

    // MARK: Microphone and camera

    @Test func statusTellsWhyAComputerHearsNothing() throws {
        let words = #""microphoneReason":"it was unplugged""#
        try time.run {
            try startWithGadget()
            webcams.report(.recorded(true))
            try camera.waitUntil { idleAudio.isOpen }
            idleAudio.events.send(.away(reason: "it was unplugged"))
            try waitUntilJSON(says: words)
            #expect(try camera.status().webcam?.microphoneReason == "it was unplugged")
            idleAudio.events.send(.returned)
            try waitUntilJSON(says: words, false)
            #expect(try camera.eventCount(IdleAudioEvent.returned.text) == 1)
            idleAudio.events.send(.away(reason: "it was unplugged"))
            try waitUntilJSON(says: words)
            // A stream takes the microphone.
            let run = try goLive()
            try waitUntilJSON(says: words, false)
            run.say(.source(.interrupted(.audio, source: "hw:1", reason: "it was unplugged")))
            try waitUntilJSON(says: words)
            run.say(.source(.returned(.audio, source: "hw:1", after: .seconds(1))))
            try waitUntilJSON(says: words, false)
            run.say(.source(.interrupted(.audio, source: "hw:1", reason: "it was unplugged")))
            try waitUntilJSON(says: words)
            _ = try camera.ask("stop")
            try waitUntilJSON(says: words, false)
            try camera.end()
        }
    }

    @Test func streamWithoutAudioIsGivenAsTheReason() throws {
        try camera.write("device", #"{"camera": "synthetic", "webcam": true, "audio": {"source": "none"}}"#)
        try time.run {
            try camera.start()
            try camera.waitUntil { idle.isOpen }
            idle.events.send(.controls(Self.statuses))
            try camera.waitUntil { webcams.openings == 1 && !idle.isOpen }
            _ = try goLive()
            #expect(try !camera.ask("status json").contains("microphoneReason"), "no program is recording")
            webcams.report(.recorded(true))
            try waitUntilJSON(says: #""microphoneReason":"device.json names none""#)
            try camera.end()
        }
    }

    @Test func statusTellsWhyAComputerSeesAFrozenFrame() throws {
        let words = #""cameraReason":"it was unplugged; repeating the last frame until the camera is back""#
        let lost = StreamEvent.source(.interrupted(.video, source: "the camera", reason: "it was unplugged"))
        try time.run {
            try startWithGadget()
            try look()
            let run = try goLive()
            run.say(lost)
            try waitUntilJSON(says: words)
            run.say(.source(.returned(.video, source: "the camera", after: .seconds(1))))
            try waitUntilJSON(says: words, false)
            run.say(lost)
            try waitUntilJSON(says: words)
            run.say(.cameraSwitched(from: "front", to: "back", after: .zero))
            try waitUntilJSON(says: words, false)
            run.say(lost)
            try waitUntilJSON(says: words)
            _ = try camera.ask("stop")
            try waitUntilJSON(says: words, false)
            try camera.end()
        }
    }

    // MARK: Waiting for a press

    @Test func screenAsksForAPress() throws {
        try camera.write("device", #"{"camera": "synthetic", "webcam": "ask", "preview": "hdmi"}"#)
        try time.run {
            try camera.start()
            try camera.waitUntil { idle.isOpen }
            idle.events.send(.controls(Self.statuses))
            try camera.waitUntil { webcams.openings == 1 && !idle.isOpen }
            var page: ScreenPage? { camera.streams.preview.record.pages.last }
            webcams.report(.event(.changed(Self.looking)))
            var asking = AppliancePage()
            asking.state = .asked
            try camera.waitUntil { page?.headline == asking.page.headline }
            #expect(page?.lines.first == asking.page.lines.first)
            #expect(try camera.state() == ApplianceState.asked.name)
            let run = try goLive()
            let question = "a computer requests the camera: press the button to allow video and audio"
            try camera.waitUntil { page?.lines.contains(question) == true }
            // Before that, the computer does not get the stream's frames.
            let sink = run.request.receivers.frames[0]
            sink.offer(Self.frame, colors: nil)
            #expect(!sink.wantsFrames && webcams.gadget?.content.withLock { $0.frames } == 0)
            camera.press()
            try camera.waitUntil { page?.lines.contains(question) == false }
            sink.offer(Self.frame, colors: nil)
            #expect(sink.wantsFrames && webcams.gadget?.content.withLock { $0.frames } == 1)
            #expect(!run.isStopped, "the press was an answer")
            try camera.end()
        }
    }

    // MARK: A dead encoder

    @Test func machineDoesNotRestartDuringACall() throws {
        try time.run {
            try startWithGadget()
            try look()
            try camera.waitUntil { try camera.state() == "webcam" }
            camera.reported(.hardwareEncoderDead(reason: Camera.reason))
            // Longer than the interval between two checks.
            sleep(.seconds(5))
            #expect(!camera.hasEnded)
            // The last frame is still visible.
            idle.events.send(.away(reason: "it was unplugged"))
            sleep(.seconds(5))
            #expect(!camera.hasEnded)
            webcams.report(.recorded(true), .event(.changed(.attached(.high))))
            sleep(.seconds(5))
            #expect(!camera.hasEnded)
            webcams.report(.recorded(false))
            try camera.waitUntil { camera.hasEnded }
        }
    }
}
