import ApplianceLogic
import Controls
import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing
import USBVideo

@testable import ApplianceRuntime
@testable import BoardRuntime

/// The camera as a computer's webcam: who uses camera and microphones, and what people see of it.
@Suite(.serialized) struct WebcamTests: WebcamSuite {
    private let time = VirtualTime()
    let camera: Camera

    init() throws {
        camera = try Camera(
            board: #"{"name": "Bench", "button": {"line": "GPIO17"}, "statusLED": {"line": "GPIO27"}}"#)
    }

    @Test func webcamStaysOffByDefault() throws {
        try time.run {
            try start("false")
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(5))
            #expect(webcams.openings == 0 && idle.openings == 0)
            #expect(webcams.content.withLock { $0.formerRemoved } == 1)
            #expect(try camera.status().webcam == nil)
            try camera.end()
        }
    }

    @Test func gadgetIsCreatedWithTheCamerasControls() throws {
        try time.run {
            try startWithGadget(#""ask""#)
            let request = try #require(webcams.gadget?.request)
            #expect(request.asks && request.controls == Self.statuses && request.identity.name.hasPrefix("tallycam"))
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(5))
            #expect(idle.openings == 1, "no program uses the webcam")
            try camera.end()
            #expect(webcams.ended == 1)
        }
    }

    @Test func missingCameraDoesNotDelayTheGadget() throws {
        try time.run {
            try start()
            try camera.waitUntil { idle.isOpen }
            idle.events.send(.away(reason: "it was unplugged"))
            try camera.waitUntil { webcams.openings == 1 }
            #expect(webcams.gadget?.request.controls == [])
            try camera.end()
        }
    }

    @Test func cameraIsOpenWhileAProgramShowsTheWebcam() throws {
        try time.run {
            try startWithGadget()
            try look()
            try camera.waitUntil { idle.isOpen }
            #expect(try camera.state() == "webcam")
            try report(.attached(.high))
            try camera.waitUntil { !idle.isOpen }
            #expect(try camera.state() == "ready")
            try camera.end()
        }
    }

    @Test func microphoneIsOpenWhileAProgramRecords() throws {
        try time.run {
            try startWithGadget()
            webcams.report(.recorded(true))
            try camera.waitUntil { idleAudio.isOpen }
            #expect(!idle.isOpen)
            webcams.report(.recorded(false))
            try camera.waitUntil { !idleAudio.isOpen }
            try camera.end()
        }
    }

    @Test func streamTakesBothAndReturnsThemToTheComputer() throws {
        try time.run {
            try startWithGadget()
            try look()
            webcams.report(.recorded(true))
            try camera.waitUntil { idle.isOpen && idleAudio.isOpen }
            camera.press()
            try camera.waitUntil { runs.count == 1 }
            #expect(!idle.isOpen && !idleAudio.isOpen)
            #expect(runs[0].request.receivers.frames.count == 1 && runs[0].request.receivers.audio.count == 1)
            runs[0].request.receivers.frames[0].offer(Self.frame, colors: nil)
            #expect(webcams.gadget?.content.withLock { $0.frames } == 1)
            runs[0].goLive()
            try camera.waitUntil { try camera.state() == "live" }
            _ = try camera.ask("stop")
            try camera.waitUntil { idle.isOpen && idleAudio.isOpen }
            try camera.end()
        }
    }

    private static let frame = CapturedFrame(
        layout: FrameLayout(packed: .i420, size: FrameSize(width: 16, height: 16)), captureTime: .zero,
        memory: PooledFrame([UInt8](repeating: 0, count: 384)))

    @Test func hangingMicrophoneDoesNotBlockTheStream() throws {
        try time.run {
            try startWithGadget()
            webcams.report(.recorded(true))
            try camera.waitUntil { idleAudio.isOpen }
            idleAudio.content.withLock { $0.isHanging = true }
            _ = try camera.ask("start")
            try camera.waitUntil { runs.count == 1 }
            #expect(try camera.eventCount(IdleAudioEvent.away(reason: "").text) == 1)
            idleAudio.content.withLock { $0.isHanging = false }
            try camera.end()
        }
    }

    @Test func computersSettingsApplyAtEachOpening() throws {
        try time.run {
            try startWithGadget()
            // Before anything is open, and changed twice.
            for value in [0.1, 0.5] { webcams.report(.change(ControlChange(.brightness, .number(value)))) }
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(1))
            try look()
            try camera.waitUntil { idle.openings == 2 && idle.isOpen }
            let request = try #require(idle.content.withLock { $0.requests.last })
            var taken: [[ControlChange]] = []
            func isTaken(_ value: Double) -> Bool {
                taken += request.changes.takeAll()
                return taken.last == [ControlChange(.brightness, .number(value))]
            }
            try camera.waitUntil { isTaken(0.5) }
            webcams.report(.change(ControlChange(.brightness, .number(0.25))))
            try camera.waitUntil { isTaken(0.25) }
            #expect(taken.count == 2)
            camera.press()
            try camera.waitUntil { runs.count == 1 }
            runs[0].goLive()
            let settled = [ControlChange(.brightness, .number(0.25))]
            try camera.waitUntil { runs[0].controlChanges == settled }
            // The camera stays open while the connection is lost.
            runs[0].say(.stateChanged(.reconnecting))
            runs[0].goLive()
            try camera.waitUntil { try camera.state() == "live" }
            #expect(runs[0].controlChanges == settled)
            try camera.end()
        }
    }

    @Test func personsLaterSettingsAreNotOverridden() throws {
        try time.run {
            try startWithGadget()
            for name in [ControlName.brightness, .zoom] {
                webcams.report(.change(ControlChange(name, .number(name == .zoom ? 2 : 0.5))))
            }
            camera.press()
            try camera.waitUntil { runs.count == 1 }
            runs[0].goLive()
            try camera.waitUntil { runs[0].controlChanges.count >= 2 }
            #expect(try camera.ask("set brightness 0") == "ok\nbrightness 0\n")
            camera.press()
            try camera.waitUntil { try camera.state() == "ready" }
            camera.press()
            try camera.waitUntil { runs.count == 2 }
            runs[1].goLive()
            try camera.waitUntil { runs[1].controlChanges == [ControlChange(.zoom, .number(2))] }
            try camera.end()
        }
    }

    /// A refused setting does not affect the others, and a missing control is not set at all.
    @Test func computersSettingsAreAppliedOneByOne() throws {
        try time.run {
            try startWithGadget()
            for change in [
                ControlChange(.exposureTime, .number(20)), ControlChange(.zoom, .number(2)),
                ControlChange(.brightness, .number(0.5)),
            ] {
                webcams.report(.change(change))
            }
            camera.press()
            try camera.waitUntil { runs.count == 1 }
            runs[0].say(.stateChanged(.connecting))
            try camera.waitUntil { webcams.gadget?.content.withLock { $0.statuses.count } ?? 0 > 0 }
            runs[0].goLive()
            try camera.waitUntil { runs[0].controlChanges.count >= 2 }
            #expect(Set(runs[0].controlChanges.map(\.name)) == [.zoom, .brightness])
            #expect(runs[0].controlRequests.allSatisfy { $0.count == 1 })
            try camera.end()
        }
    }

    @Test func streamsMuteAppliesToAWebcamStartedLater() throws {
        try time.run {
            try start("false")
            camera.press()
            try camera.waitUntil { runs.count == 1 }
            runs[0].goLive()
            runs[0].say(.muted(true))
            _ = try camera.ask("webcam start")
            try camera.waitUntil { try camera.status().webcam?.isMuted == true }
            try camera.end()
        }
    }

    @Test func changedNameIsAppliedWhenNoProgramUsesTheWebcam() throws {
        try time.run {
            try startWithGadget()
            try look()
            try camera.write("network", #"{"hostName": "studio-2"}"#)
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(5))
            #expect(webcams.openings == 1 && webcams.ended == 0)
            webcams.report(.event(.changed(.attached(.high))))
            try camera.waitUntil { webcams.openings == 2 }
            #expect(webcams.gadget?.request.identity.name == "studio-2")
            try camera.end()
        }
    }

    @Test func pressAdmitsAWaitingComputer() throws {
        try time.run {
            try startWithGadget(#""ask""#)
            webcams.report(.event(.changed(Self.looking)))
            try camera.waitUntil { try camera.status().webcam?.waitsForPress == true }
            #expect(try camera.state() == ApplianceState.asked.name && !idle.isOpen)
            camera.press()
            try camera.waitUntil { webcams.gadget?.content.withLock { $0.allowances } == 1 }
            #expect(runs.isEmpty, "the press was an answer")
            try look()
            try camera.waitUntil { idle.isOpen }
            camera.press()
            try camera.waitUntil { runs.count == 1 }
            try camera.end()
        }
    }

    @Test func recordingComputerWaitsForAPressToo() throws {
        try time.run {
            try startWithGadget(#""ask""#)
            try report(.attached(.high))
            webcams.report(.recorded(true))
            try camera.waitUntil { try camera.status().webcam?.waitsForPress == true }
            #expect(!idleAudio.isOpen)
            camera.press()
            try camera.waitUntil { idleAudio.isOpen }
            #expect(try camera.state() == "webcam" && runs.isEmpty)
            // The next computer has to ask again.
            webcams.report(.recorded(false))
            try report(.notAttached)
            try camera.waitUntil { !idleAudio.isOpen }
            webcams.report(.recorded(true))
            try camera.waitUntil { try camera.status().webcam?.waitsForPress == true }
            #expect(!idleAudio.isOpen)
            try camera.end()
        }
    }

    /// A slider sends dozens of values per second.
    @Test func sliderIsFollowedAFewTimesPerSecond() throws {
        try time.run {
            try startWithGadget()
            _ = try camera.ask("start")
            try camera.waitUntil { runs.count == 1 }
            runs[0].goLive()
            for step in 1...30 {
                webcams.report(.change(ControlChange(.brightness, .number(Double(step) / 100))))
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(33))
            }
            let last = [ControlChange(.brightness, .number(0.3))]
            try camera.waitUntil { runs[0].controlChanges.suffix(1) == last }
            #expect((5...7).contains(runs[0].controlChanges.count))
            try camera.end()
        }
    }

    @Test func cameraLostWhileInUseIsReported() throws {
        try time.run {
            try startWithGadget()
            try look()
            try camera.waitUntil { try idle.isOpen && camera.state() == "webcam" }
            idle.events.send(.away(reason: "it was unplugged"))
            try camera.waitUntil { try camera.status().webcam?.cameraReason?.hasSuffix("it was unplugged") == true }
            #expect(try camera.state() == "ready", "no program shows the webcam")
            idle.events.send(.returned)
            try camera.waitUntil { try camera.state() == "webcam" }
            try camera.end()
        }
    }

    @Test func replacedCameraIsExaminedBeforeAProgramUsesIt() throws {
        try time.run {
            try startWithGadget()
            try camera.write("device", #"{"camera": "/dev/video7", "webcam": true}"#)
            try camera.waitUntil { idle.openings == 2 && idle.isOpen }
            idle.events.send(.controls([]))
            try camera.waitUntil { webcams.gadget?.content.withLock { $0.statuses.last } == [] && !idle.isOpen }
            #expect(webcams.openings == 1)
            try camera.end()
        }
    }

    @Test func consentMayBecomeRequiredLater() throws {
        try time.run {
            try startWithGadget()
            try camera.write("device", #"{"camera": "synthetic", "webcam": "ask"}"#)
            try camera.waitUntil { webcams.openings == 2 }
            #expect(webcams.ended == 1 && webcams.gadget?.request.asks == true)
            webcams.report(.event(.changed(Self.looking)))
            try camera.waitUntil { try camera.status().webcam?.waitsForPress == true }
            #expect(try camera.ask("webcam allow").hasPrefix("ok\n"))
            #expect(webcams.gadget?.content.withLock { $0.allowances } == 1)
            #expect(try camera.ask("webcam allow") == refused(.noWaitingProgram))
            try camera.end()
        }
    }

    @Test func hangingCameraDoesNotDelayTheGadget() throws {
        try time.run {
            try start()
            try camera.waitUntil { idle.isOpen }
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(8))
            #expect(webcams.openings == 0)
            try camera.waitUntil { webcams.openings == 1 }
            try camera.end()
        }
    }

    @Test func reportsOfAnEarlierGadgetAreIgnored() throws {
        try time.run {
            try startWithGadget()
            let late = try #require(webcams.content.withLock { $0.reports.last })
            _ = try camera.ask("webcam stop")
            _ = try camera.ask("set webcam on")
            try camera.waitUntil { webcams.openings == 2 }
            late(.event(.changed(Self.looking)))
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(1))
            #expect(try camera.status().webcam?.state == WebcamState.notAttached.name)
            #expect(try camera.ask("set webcam off").hasPrefix("ok\n"))
            #expect(try camera.status().webcam == nil)
            try camera.end()
        }
    }

    @Test func mutedComputerHearsNothing() throws {
        try time.run {
            try startWithGadget()
            webcams.report(.recorded(true))
            try camera.waitUntil { idleAudio.isOpen }
            let sink = try #require(idleAudio.content.withLock { $0.requests.last }).sink
            func heard() -> [Int16]? {
                sink.offer(
                    AudioBlock(samples: [7, 7], captureTime: .zero),
                    format: AudioFormat(sampleRate: 48_000, channelCount: 2))
                return webcams.gadget?.content.withLock { $0.samples }
            }
            #expect(heard() == [7, 7])
            #expect(try camera.ask("set mute on").hasPrefix("ok\n"))
            #expect(try camera.status().webcam?.isMuted == true)
            #expect(heard() == [0, 0])
            #expect(try camera.ask("set mute on brightness 1") == refused(.notLive))
            // It also applies to a recreated gadget, and to a stream from its start.
            _ = try camera.ask("webcam stop")
            _ = try camera.ask("webcam start")
            try camera.waitUntil { webcams.openings == 2 }
            #expect(try camera.ask("controls").contains("mute on"))
            _ = try camera.ask("start")
            try camera.waitUntil { runs.count == 1 }
            #expect(runs[0].request.isMuted)
            runs[0].goLive()
            runs[0].say(.muted(false))
            try camera.waitUntil { try camera.status().webcam?.isMuted == false }
            #expect(heard() == [7, 7])
            try camera.end()
        }
    }

    @Test func commandsStartAndStopTheWebcam() throws {
        try time.run {
            try start("false")
            #expect(
                try camera.ask("webcam on") == refused(.command(.command(.usage(.webcam, on: .socket, meant: nil)))))
            #expect(try camera.ask("webcam start").hasPrefix("ok\n"))
            #expect(try camera.status().webcam?.isAgainstFile == true)
            try camera.waitUntil { idle.isOpen }
            idle.events.send(.controls(Self.statuses))
            try camera.waitUntil { webcams.openings == 1 }
            // Reading the files again is not a command.
            try camera.write("device", #"{"camera": "synthetic", "webcam": false, "mirrored": true}"#)
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(5))
            #expect(webcams.ended == 0)
            #expect(try camera.ask("webcam stop").hasPrefix("ok\n"))
            #expect(webcams.ended == 1)
            try camera.end()
        }
    }

    @Test func statusTellsWhyThereIsNoWebcam() throws {
        webcams.content.withLock { $0.failure = "this board has no USB device port" }
        try time.run {
            try start()
            try camera.waitUntil { idle.isOpen }
            idle.events.send(.controls([]))
            try camera.waitUntil { try camera.status().webcam?.reason == "this board has no USB device port" }
            #expect(try camera.state() == "ready")
            try camera.end()
        }
    }
}
