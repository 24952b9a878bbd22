import Controls
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Synchronization
import Testing
import USBVideo

@testable import ApplianceRuntime

/// Lines of `set` that partly concern the device: they take effect completely or not at all.
@Suite(.serialized) struct DeviceCommandTests {
    private let time = VirtualTime()
    private let camera: Camera

    init() throws { camera = try Camera(board: #"{"name": "Bench", "flashLED": {"line": "flash"}}"#) }

    private func goLive() throws -> ScriptedStreams.Run {
        try camera.liveRun { _ = try camera.ask("start") }
    }

    @Test func lineThatTheStreamRefusesChangesNothing() throws {
        try time.run {
            try camera.start()
            let run = try goLive()
            run.changeAnswer.withLock { $0 = .refused(.cameraIsBusy) }
            #expect(try camera.ask("set torch on webcam on zoom 99") == refused(.command(.cameraIsBusy)))
            #expect(try camera.ask("torch") == "ok\ndark\n")
            #expect(try camera.status().webcam == nil)
            #expect(!camera.flash.states.contains(true))
            try camera.end()
        }
    }

    @Test func answerListsAllChangesOfALine() throws {
        try time.run {
            try camera.start()
            _ = try goLive()
            #expect(try camera.ask("set torch on mirror on") == "ok\nmirror on\nlit\n")
            try camera.waitUntil { camera.flash.states.last == true }
            #expect(try camera.ask("set mirror off torch off") == "ok\nmirror off\ndark\n")
            try camera.waitUntil { camera.flash.states.last == false }
            try camera.end()
        }
    }

    @Test func lineThatTheStreamDoesNotAnswerChangesNothing() throws {
        try time.run {
            try camera.start()
            let run = try goLive()
            run.changeAnswer.withLock { $0 = .none }
            let connection = try camera.connect("set torch on mirror on")
            try camera.waitUntil { run.controlChanges.count == 1 }
            run.end(nil)
            #expect(try camera.text(on: connection) == refused(.streamEnded))
            #expect(try camera.ask("torch") == "ok\ndark\n")
            try camera.end()
        }
    }

    @Test func missingTorchIsRefused() throws {
        try time.run {
            try camera.write("board", #"{"name": "Bench", "flashLED": {"led": "nothing-here"}}"#)
            try camera.start()
            let missing = #"there is no LED "nothing-here""#
            #expect(try camera.ask("set torch on").hasPrefix("error\n\(missing)"))
            let run = try goLive()
            for command in ["torch", "torch on", "set torch on", "set torch on webcam on mirror on"] {
                #expect(try camera.ask(command).hasPrefix("error\n\(missing)"), "\(command)")
            }
            #expect(run.controlChanges.isEmpty)
            #expect(try camera.status().webcam == nil)
            #expect(try camera.ask("controls").contains("torch: unavailable, \(missing)"))
            try camera.end()
        }
    }

    @Test func computersOldValuesDoNotOverrideAPersons() throws {
        try time.run {
            try camera.write("device", #"{"camera": "synthetic", "webcam": true}"#)
            try camera.start()
            let (idle, webcams) = (camera.streams.idleFrames, camera.streams.webcams)
            try camera.waitUntil { idle.isOpen }
            let offers = [ControlOffer(.brightness, range: -1...1), ControlOffer(.zoom, range: 1...4)]
            idle.events.send(
                .controls(offers.map { ControlStatus($0, wished: nil, report: CameraReport()) }))
            try camera.waitUntil { webcams.openings == 1 && !idle.isOpen }
            let zoom = ControlChange(.zoom, .number(2))
            for change in [ControlChange(.brightness, .number(0.5)), zoom] { webcams.report(.change(change)) }
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(1))
            let first = try goLive()
            try camera.waitUntil { first.controlChanges.count == 2 }
            #expect(try camera.ask("set brightness 0.2").hasPrefix("ok\n"))
            _ = try camera.ask("stop")
            try camera.waitUntil { try camera.state() != "live" && !idle.isOpen }
            let second = try goLive()
            try camera.waitUntil { second.controlChanges == [zoom] }
            try camera.end()
        }
    }
}
