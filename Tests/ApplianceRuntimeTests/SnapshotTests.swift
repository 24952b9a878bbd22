import ApplianceLogic
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime

/// Snapshots: who receives them, where they are saved, and how failures are reported.
@Suite(.serialized) struct SnapshotTests {
    private let time = VirtualTime()
    private let camera: Camera

    init() throws { camera = try Camera(board: #"{"name": "Bench", "flashLED": {"line": "flash"}}"#) }

    private var streams: ScriptedStreams { camera.streams }
    private var stills: ScriptedStills { camera.streams.stills }

    private func start(_ device: String = "") throws {
        try camera.write("device", #"{"camera": "synthetic"\#(device.isEmpty ? "" : ", ")\#(device)}"#)
        try camera.start()
    }

    private func goLive() throws -> ScriptedStreams.Run {
        try camera.liveRun { _ = try camera.ask("start") }
    }

    private func answer(_ run: ScriptedStreams.Run) throws {
        let request = try #require(run.snapshots.last)
        run.say(.snapshot(.taken(request, ScriptedStills.snapshot)))
    }

    private var kept: [String] {
        ((try? fileNames(in: camera.path("state/snapshots"))) ?? []).filter { $0 > ".." }.sorted()
    }

    @Test func withoutAStreamTheCameraIsOpenedAndTheSnapshotSaved() throws {
        try time.run {
            try start(#""snapshots": {"quality": 70, "count": 2}"#)
            for number in 1...3 {
                let answer = try camera.ask("snapshot")
                #expect(answer == "ok\n\(camera.path("state/snapshots/snapshot-00000\(number).jpg"))\n")
            }
            #expect(kept == ["snapshot-000002.jpg", "snapshot-000003.jpg"], "the newest two")
            #expect(camera.read("state/snapshots/snapshot-000003.jpg").utf8.count == 2_000_000)
            #expect(stills.content.withLock { $0.requests.map(\.snapshot.quality) } == [70, 70, 70])
            #expect(streams.runs.isEmpty)
        }
    }

    /// More than a socket's buffer holds, for a slow client.
    @Test func socketReturnsTheFile() throws {
        try time.run {
            try start()
            let answer = try camera.askForBytes("snapshot send 55")
            #expect(answer == Array("ok\n".utf8) + ScriptedStills.snapshot.bytes)
            #expect(stills.content.withLock { $0.requests.first?.snapshot.quality } == 55)
            #expect(kept == [], "whoever has it keeps it")
        }
    }

    @Test func streamDeliversItsOwnFrame() throws {
        try time.run {
            try start()
            let run = try goLive()
            let connection = try camera.connect("snapshot")
            try camera.waitUntil { run.snapshots.count == 1 }
            try answer(run)
            #expect(String(decoding: try camera.answer(on: connection), as: UTF8.self).hasPrefix("ok\n/"))
            #expect(kept == ["snapshot-000001.jpg"])
            #expect(stills.content.withLock { $0.requests.isEmpty })
        }
    }

    @Test func streamTakesPrecedence() throws {
        try time.run {
            try start()
            stills.content.withLock { $0.isSilent = true }
            let connection = try camera.connect("snapshot")
            try camera.waitUntil { stills.content.withLock { $0.requests.count == 1 } }
            _ = try camera.ask("start")
            #expect(try camera.text(on: connection) == refused(.snapshot(.cameraTaken)))
            try camera.waitUntil { streams.runs.count == 1 }
        }
    }

    @Test func silentCameraIsClosed() throws {
        try time.run {
            try start()
            stills.content.withLock { $0.isSilent = true }
            #expect(try camera.ask("snapshot") == refused(.snapshot(.cameraTaken)))
            stills.content.withLock { $0.isSilent = false }
            #expect(try camera.ask("snapshot").hasPrefix("ok\n"))
        }
    }

    @Test func hangingDriverBlocksNoLaterStart() throws {
        try time.run {
            try start()
            stills.content.withLock { $0.isHanging = true }
            let connection = try camera.connect("snapshot")
            try camera.waitUntil { stills.content.withLock { $0.requests.count == 1 } }
            _ = try camera.ask("start")
            #expect(try camera.answer(on: connection).starts(with: Array("error\n".utf8)))
            try camera.waitUntil { streams.runs.count == 1 }
            stills.content.withLock { $0.isHanging = false }
        }
    }

    @Test func snapshotsLostWithAStreamAreReported() throws {
        try time.run {
            try start()
            let run = try goLive()
            let connection = try camera.connect("snapshot send")
            try camera.waitUntil { run.snapshots.count == 1 }
            run.end(nil)
            #expect(try camera.text(on: connection) == refused(.snapshot(.streamEnded)))
        }
    }

    @Test func unwritableFolderIsNamed() throws {
        try time.run {
            try start(#""snapshots": {"folder": "/dev/full/snapshots"}"#)
            #expect(try camera.ask("snapshot").hasPrefix(refused(.snapshot(.file(reason: "mkdir"))).dropLast()))
            #expect(try camera.ask("snapshot send").hasPrefix("ok\n"))
            #expect(try camera.status().faults.isEmpty, "this is not a fault of the card")
        }
    }

    @Test func snapshotLargerThanTheFolderLimitIsNotSaved() throws {
        try time.run {
            try start(#""snapshots": {"megabytes": 1}"#)
            #expect(try camera.ask("snapshot").contains(SystemCallError.reason(of: EFBIG)))
            #expect(kept == [])
        }
    }

    @Test func wrongCommandsAreRefused() throws {
        try time.run {
            try start()
            for command in ["snapshot 0", "snapshot 101", "snapshot best", "snapshot send best", "torch dim"] {
                #expect(try camera.ask(command).hasPrefix("error\n"), "\(command)")
            }
            #expect(
                try camera.ask("torch lve") == refused(.command(.command(.usage(.torch, on: .socket, meant: "live")))))
            #expect(try camera.ask("torch dim") == refused(.command(.command(.usage(.torch, on: .socket, meant: nil)))))
            #expect(try camera.ask("set torch dim") == refused(.unknownTorchMode("dim")))
            #expect(try camera.ask("set torch 5%").hasPrefix("error\n"))
            #expect(try camera.ask("filter") == refused(.command(.command(.usage(.filter, on: .socket, meant: nil)))))
            let title = Array("filter text text=Caf".utf8)
            // Encoded in Latin-1.
            #expect(try camera.ask(title + [0xE9]) == refused(.notUTF8))
            #expect(try camera.ask(title + [0xC3, 0xA9]) == refused(.notLive))
        }
    }

    // MARK: Light

    @Test func lightStaysOnDuringTheSnapshot() throws {
        try time.run {
            try start(#""snapshots": {"flash": "on"}"#)
            let run = try goLive()
            #expect(camera.flash.states.last != true)
            let connection = try camera.connect("snapshot")
            try camera.waitUntil { run.snapshots.count == 1 && camera.flash.states.last == true }
            #expect(run.snapshots[0].awaitsExposure)
            try answer(run)
            _ = try camera.answer(on: connection)
            try camera.waitUntil { camera.flash.states.last == false }
        }
    }

    @Test func darkSnapshotIsRetakenWithLight() throws {
        try time.run {
            try start(#""snapshots": {"flash": "auto"}"#)
            stills.content.withLock { $0.brightness = [.luma(12), .luma(90)] }
            #expect(try camera.ask("snapshot").hasPrefix("ok\n"))
            #expect(stills.content.withLock { $0.requests.map(\.snapshot.awaitsExposure) } == [false, true])
            #expect(camera.flash.states.contains(true))
            try camera.waitUntil { camera.flash.states.last == false }
            stills.content.withLock { $0.brightness = [.luma(120)] }
            #expect(try camera.ask("snapshot").hasPrefix("ok\n"))
            #expect(stills.content.withLock { $0.requests.count } == 3, "bright enough")
        }
    }

    @Test func torchFollowsTheStreamsBrightness() throws {
        try time.run {
            try start(#""torch": "auto""#)
            let run = try goLive()
            try camera.waitUntil { run.watchesBrightness }
            for _ in 0..<4 {
                run.tell(.lux(2))
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(500))
            }
            try camera.waitUntil { camera.flash.states.last == true }
            #expect(try camera.ask("torch off") == "ok\ndark\n")
            try camera.waitUntil { camera.flash.states.last == false && !run.watchesBrightness }
            #expect(try camera.ask("set torch on") == "ok\nlit\n")
        }
    }
}

/// The configurable action of a double press.
@Suite(.serialized) struct DoublePressTests {
    private let time = VirtualTime()
    private let camera: Camera

    init() throws {
        camera = try Camera(
            board: #"{"name": "Bench", "button": {"line": "button"}, "flashLED": {"line": "flash"}}"#)
    }

    private func start(_ doublePress: String) throws {
        try camera.write("device", #"{"camera": "synthetic", "doublePress": "\#(doublePress)"}"#)
        try camera.start()
    }

    private func goLive() throws -> ScriptedStreams.Run {
        try camera.liveRun { camera.press() }
    }

    private func pressTwice() {
        camera.press()
        MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(100))
        camera.press()
    }

    @Test func doublePressTakesASnapshot() throws {
        try time.run {
            try start("snapshot")
            pressTwice()
            try camera.waitUntil { camera.read("state/snapshots/snapshot-000001.jpg").utf8.count == 2_000_000 }
            #expect(camera.streams.runs.isEmpty)
        }
    }

    @Test func doublePressTogglesTheTorch() throws {
        try time.run {
            try start("torch")
            pressTwice()
            try camera.waitUntil { camera.flash.states.last == true }
            pressTwice()
            try camera.waitUntil { camera.flash.states.last == false }
        }
    }

    @Test func doublePressSwitchesTheLiveCamera() throws {
        try time.run {
            try camera.write("device", #"{"cameras": {"a": "synthetic", "b": "synthetic"}, "doublePress": "camera"}"#)
            try camera.start()
            let run = try goLive()
            pressTwice()
            try camera.waitUntil { run.cameraChoices == [.next] }
            #expect(!run.isStopped)
        }
    }

    @Test func doublePressPausesTheLiveStream() throws {
        try time.run {
            try start("pause")
            pressTwice()
            try camera.waitUntil { try camera.eventCount(ApplianceRefusal.nothingToPause) > 0 }
            let run = try goLive()
            pressTwice()
            try camera.waitUntil { run.pauseToggles == 1 }
            #expect(!run.isStopped)
        }
    }

    @Test func doublePressMutesAndASinglePressStillStops() throws {
        try time.run {
            try start("mute")
            let run = try goLive()
            pressTwice()
            try camera.waitUntil { run.mutings == 1 }
            #expect(!run.isStopped)
            camera.press()
            try camera.waitUntil { run.isStopped }
        }
    }
}
