import ApplianceLogic
import Controls
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime
@testable import BoardRuntime
@testable import WebcamService

/// The camera's controls, changed by the computer's dialog and by people at the camera.
@Suite(.serialized) struct WebcamControlTests: WebcamSuite {
    private let time = VirtualTime()
    let camera: Camera

    init() throws { camera = try Camera(board: #"{"name": "Bench"}"#) }

    private static func brightness(_ value: Double) -> ControlChange { ControlChange(.brightness, .number(value)) }

    private static func statuses(brightness: Double? = nil) -> [ControlStatus] {
        [ControlOffer(.brightness, range: -1...1)].completed { _ in "it has none" }.map { offer in
            let wished = offer.name == .brightness ? brightness.map { ControlValue.number($0) } : nil
            return ControlStatus(offer, wished: wished, report: CameraReport())
        }
    }

    private func startLooking() throws {
        try startWithGadget()
        try look()
        try camera.waitUntil { idle.openings == 2 && idle.isOpen }
        idle.events.send(.controls(Self.statuses()))
        try camera.waitUntil { try camera.ask("controls json").contains(#"{"name":"zoom","missing":"it has none"}"#) }
    }

    private func goLive() throws -> ScriptedStreams.Run {
        let count = runs.count
        _ = try camera.ask("start")
        try camera.waitUntil { runs.count == count + 1 }
        runs[count].goLive()
        try camera.waitUntil { try camera.state() == "live" }
        return runs[count]
    }

    private func stop() throws {
        _ = try camera.ask("stop")
        try camera.waitUntil { try camera.state() != "stopping" && idle.isOpen }
    }

    private var changes: Mailbox<[ControlChange]>? { idle.content.withLock { $0.requests.last?.changes } }

    @Test func personCanAdjustTheCameraUsedByAComputer() throws {
        try time.run {
            try startLooking()
            #expect(try camera.ask("set brightness 0.5") == "ok\nbrightness 0.5\n")
            #expect(changes?.takeAll() == [[Self.brightness(0.5)]])
            idle.events.send(.controls(Self.statuses(brightness: 0.5)))
            try camera.waitUntil { try camera.ask("controls").contains("brightness 0.5 (-1 to 1)") }
            #expect(try camera.ask("controls").contains("webcam on"))
            #expect(try camera.ask("set mute on brightness 0.2").hasPrefix("ok\nbrightness 0.2\nwebcam: "))
            try camera.end()
        }
    }

    @Test func unsupportedChangesAreExplained() throws {
        try time.run {
            try startLooking()
            func control(_ error: ControlError) -> ApplianceRefusal { .command(.control(error, othersChanged: false)) }
            let missing = control(.missing(.zoom, reason: "it has none", offered: [.brightness]))
            for (command, answer) in [
                ("set brightness 3", control(.unusableValue(.brightness, value: "3", rule: "-1 to 1"))),
                ("set zoom 2", missing), ("set brightness 0.1 zoom 2", missing), ("set fps 15", .notLive),
                ("set microphone-gain 3", .notLive),
                ("set brightnes 0", .command(.changes(.unknownName("brightnes")))),
            ] as [(String, ApplianceRefusal)] {
                #expect(try camera.ask(command) == refused(answer))
            }
            #expect(changes?.takeAll() == [])
            // The program has closed the webcam, so no camera is open.
            try report(.attached(.high))
            try camera.waitUntil { !idle.isOpen }
            #expect(try camera.ask("set brightness 0.5") == refused(.notLive))
            #expect(
                try camera.ask("controls json").contains(#"{"name":"brightness","missing":"#))
            try camera.end()
        }
    }

    @Test func personsSettingsApplyUntilTheWebcamIsStopped() throws {
        try time.run {
            try startLooking()
            webcams.report(.change(Self.brightness(0.1)))
            try camera.waitUntil { changes?.takeAll() == [[Self.brightness(0.1)]] }
            // The slider's value is still waiting; it must be applied before the person's.
            webcams.report(.change(Self.brightness(0.2)))
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
            _ = try camera.ask("set brightness 0.5")
            #expect(changes?.takeAll() == [[Self.brightness(0.2)], [Self.brightness(0.5)]])
            let run = try goLive()
            try camera.waitUntil { run.controlChanges == [Self.brightness(0.5)] }
            try stop()
            try camera.waitUntil { changes?.takeAll() == [[Self.brightness(0.5)]] }
            _ = try camera.ask("webcam stop")
            let second = try goLive()
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(1))
            #expect(second.controlChanges == [])
            try camera.end()
        }
    }

    @Test func refusedCommandKeepsTheComputersValues() throws {
        try time.run {
            try startLooking()
            webcams.report(.change(Self.brightness(0.5)))
            let first = try goLive()
            try camera.waitUntil { first.controlChanges == [Self.brightness(0.5)] }
            first.changeAnswer.withLock { $0 = .refused(.cameraIsBusy) }
            #expect(try camera.ask("set brightness 0.9") == refused(.command(.cameraIsBusy)))
            try stop()
            let second = try goLive()
            try camera.waitUntil { second.controlChanges == [Self.brightness(0.5)] }
            #expect(try camera.ask("set brightness 0.9") == "ok\nbrightness 0.9\n")
            try stop()
            let third = try goLive()
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(1))
            #expect(third.controlChanges == [])
            try camera.end()
        }
    }

    @Test func computersChangesMeanwhileAreKept() {
        var settings = ComputerSettings()
        settings.add(Self.brightness(0.5))
        settings.add(ControlChange(.zoom, .number(2)))
        let former = settings.held(of: [.brightness, .zoom, .lens])
        settings.add(Self.brightness(0.25))
        settings.forget(former)
        #expect(settings.all == [Self.brightness(0.25)])
    }

    @Test func dialogLearnsOfTheCamerasRefusal() throws {
        try time.run {
            try startLooking()
            let run = try goLive()
            func looks() -> Int { webcams.gadget?.content.withLock { $0.statuses.count } ?? 0 }
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(1))
            let before = looks()
            run.say(.refused(.cameraIsBusy))
            try camera.waitUntil { looks() == before + 1 }
            try camera.end()
        }
    }
}
