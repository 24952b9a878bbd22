import ApplianceLogic
import Filters
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime

/// The whole appliance around scripted streams: what a person does, and how the device reacts.
@Suite(.serialized) struct StreamLifeTests {
    private let time = VirtualTime()
    private static let board =
        #"{"name": "Bench", "button": {"line": "button"}, "flashLED": {"line": "flash"}}"#
    private let camera: Camera

    init() throws {
        camera = try Camera(board: Self.board)
        try camera.write("device", #"{"camera": "synthetic", "torch": "live"}"#)
        try time.run {
            try camera.start()
            try waitForState("ready", orWithoutNetwork: true)
        }
    }

    private var streams: ScriptedStreams { camera.streams }

    /// - Parameter orWithoutNetwork: whether a machine without a network, which shows that instead, is acceptable.
    private func waitForState(
        _ state: String, orWithoutNetwork: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let states = [state] + (orWithoutNetwork ? ["no network"] : [])
        try camera.waitUntil({ states.contains(try camera.state()) }, sourceLocation: sourceLocation)
    }

    /// Starts a stream like a person, and makes it live.
    private func goLive() throws -> ScriptedStreams.Run {
        try camera.liveRun { camera.press() }
    }

    private func wrong(_ error: CommandError) -> String { refused(.command(.command(error))) }

    @Test func pressStartsAStreamAndTheNextPressEndsIt() throws {
        try time.run {
            camera.press()
            try camera.waitUntil { streams.runs.count == 1 }
            let run = streams.runs[0]
            #expect(run.request.description?.destination.hasPrefix("rtmp://127.0.0.1:9/live") == true)
            #expect(run.request.sources.device.camera == "synthetic")
            try waitForState("connecting", orWithoutNetwork: true)
            #expect(camera.flash.states.last != true)
            run.goLive()
            try waitForState("live")
            try camera.waitUntil { camera.flash.states.last == true }

            camera.press()
            try camera.waitUntil { run.isStopped }
            try waitForState("ready", orWithoutNetwork: true)
            try camera.waitUntil { camera.flash.states.last == false }
            #expect(streams.runs.count == 1)
            try camera.end()
            #expect(
                camera.read("state/events").contains(
                    StreamEvent.publishing(destination: "the server").text ?? "no text"))
        }
    }

    @Test func failedCameraIsReportedAndRetried() throws {
        try time.run {
            let run = try goLive()
            run.end(StreamFailure(.cameraUnavailable, "/dev/video0 is gone"))
            try waitForState("fault")
            let status = try camera.status()
            #expect(status.faults == [4] && status.details.contains { $0.contains("/dev/video0 is gone") })
            try camera.waitUntil { camera.read("boot/faults.txt").contains("/dev/video0 is gone") }
            #expect(camera.read("boot/faults.txt").contains(#""camera": "/dev/video7""#), "what there is")
            #expect(try camera.eventCount("(\(EventCode.cameraUnavailable.rawValue)): /dev/video0 is gone") == 1)
            // The stream is still wanted, so no press is needed.
            try camera.waitUntil(within: FaultBook.retryInterval + .seconds(20)) { streams.runs.count == 2 }
            #expect(camera.read("boot/faults.txt").contains("/dev/video0 is gone"), "it may still be broken")
            streams.runs[1].goLive()
            try waitForState("live")
            try camera.waitUntil { camera.read("boot/faults.txt").isEmpty }
            try camera.end()
        }
    }

    @Test(arguments: [
        nil, StreamFailure(.cameraUnavailable, "it hangs"), StreamFailure(.connectRejected, "no such user"),
    ])
    func pressWhileAHangingStreamEndsCountsAfterItsEnd(failure: StreamFailure?) throws {
        try time.run {
            let run = try goLive()
            run.isHanging.withLock { $0 = true }
            run.say(.source(.interrupted(.video, source: "/dev/video0", reason: "it hangs")))
            try camera.waitUntil { try camera.status().faults.contains(4) }
            camera.press()
            try camera.waitUntil { run.isStopped }
            run.say(.stateChanged(.disconnecting), .stateChanged(.disconnected))
            try waitForState("fault")
            camera.press()
            try camera.waitUntil { try camera.status().isStreamWanted }
            #expect(streams.runs.count == 1)
            run.end(failure)
            try camera.waitUntil { streams.runs.count == 2 }
            streams.runs[1].goLive()
            try waitForState("live")
            try camera.end()
        }
    }

    @Test func refusalByTheServerStopsRetriesUntilTheNextPress() throws {
        try time.run {
            camera.press()
            try camera.waitUntil { streams.runs.count == 1 }
            streams.runs[0].end(StreamFailure(.connectRejected, "no such user"))
            try waitForState("fault", orWithoutNetwork: true)
            #expect(try !camera.status().isStreamWanted)
            #expect(try camera.status().faults.contains(7))
            #expect(try goLive() === streams.runs[1])
            #expect(try camera.status().faults.isEmpty)
            try camera.end()
        }
    }

    @Test func refusedStreamKeyIsLocatedInTheFile() throws {
        try camera.write("stream", #"{"url": "rtmp://127.0.0.1:9/live", "key": "wrong-key"}"#)
        try time.run {
            try camera.waitUntil { try camera.hasTold(.filesChanged) }
            camera.press()
            try camera.waitUntil { streams.runs.count == 1 }
            streams.runs[0].end(StreamFailure(.netStreamFailed, "ended when the stream key was sent"))
            try camera.waitUntil { camera.read("boot/faults.txt").contains("ended when the stream key was sent") }
            let text = camera.read("boot/faults.txt")
            #expect(text.contains("key:     key\r\n") && text.contains(#"example: "key": ""#), "\(text)")
            #expect(!text.contains("wrong-key"))
            try camera.end()
        }
    }

    @Test func unreachableServerIsShownByBlinksAfterThreeAttempts() throws {
        try time.run {
            camera.press()
            try camera.waitUntil { streams.runs.count == 1 }
            let run = streams.runs[0]
            let refused = ConnectionFailure(code: -1001, text: "127.0.0.1:9 refuses")
            run.say(.stateChanged(.connecting), .retry(refused, .connect), .retry(refused, .connect))
            try camera.waitUntil { try camera.ask("events 50").contains("(2 times") }
            #expect(try !camera.status().faults.contains(7))
            run.say(.retry(refused, .connect))
            // A machine without a network shows that first.
            try camera.waitUntil { try !Set(camera.status().faults).isDisjoint(with: [6, 7]) }
            run.goLive()
            try waitForState("live")
            try camera.end()
        }
    }

    @Test func lightShowsTheTargetThatLeads() throws {
        try time.run {
            let (main, other) = (TargetID(0, name: "main"), TargetID(1, name: "other"))
            let refused = ConnectionFailure(code: -1001, text: "127.0.0.1:9 refuses")
            camera.press()
            try camera.waitUntil { streams.runs.count == 1 }
            let run = streams.runs[0]
            for target in [main, other] { run.say(.stateChanged(.connecting), of: target) }
            run.lead(other)
            run.say(.stateChanged(.live), of: other)
            try waitForState("live")
            for _ in 1...3 { run.say(.retry(refused, .connect), of: main) }
            run.say(.stateChanged(.reconnecting), of: main)
            try camera.waitUntil { try camera.status().faults.contains(7) }
            #expect(try camera.state() == "live")
            #expect(try camera.status().details.contains { $0.contains("main: 127.0.0.1:9 refuses") })
            // The leading one is live after all.
            run.lead(main)
            run.say(.stateChanged(.live), of: main)
            try camera.waitUntil { try camera.status().faults.isEmpty }
            run.say(.stateChanged(.reconnecting), of: other)
            #expect(try camera.state() == "live")
            run.say(.stateChanged(.reconnecting), of: main)
            try waitForState("reconnecting")
            // Another one is live already when it leads.
            run.say(.stateChanged(.live), of: other)
            run.lead(other)
            try waitForState("live")
            try camera.end()
        }
    }

    @Test func microphoneLostWhileLiveIsReportedUntilItReturns() throws {
        try time.run {
            let run = try goLive()
            run.say(.source(.interrupted(.audio, source: "hw:1", reason: "hw:1 is unplugged")))
            try camera.waitUntil { try camera.status().faults.contains(5) }
            #expect(try camera.status().details.contains { $0.contains("hw:1 is unplugged") })
            #expect(try camera.state() == "live")
            run.say(.source(.returned(.audio, source: "hw:1", after: .seconds(2))))
            try camera.waitUntil { try camera.status().faults.isEmpty }
            #expect(try camera.hasTold(.source(.returned(.audio, source: "hw:1", after: .seconds(2)))))
            try camera.end()
        }
    }

    @Test func longPressEndsTheStreamAndThenTheMachine() throws {
        try time.run {
            let run = try goLive()
            camera.press(for: ButtonGestures.longPress + .milliseconds(500))
            try camera.waitUntil { camera.hasEnded }
            #expect(run.isStopped)
            let events = camera.read("state/events")
            for notice in [ApplianceNotice.held, .poweringOff] { #expect(events.contains("\(notice)"), "\(events)") }
        }
    }

    @Test func changedStreamFileMovesTheStream() throws {
        try time.run {
            let run = try goLive()
            try camera.write("stream", #"{"url": "rtmp://127.0.0.1:10/other/y"}"#)
            try camera.waitUntil { run.isStopped && streams.runs.count == 2 }
            #expect(streams.runs[1].request.description?.destination.hasPrefix("rtmp://127.0.0.1:10/other") == true)
            #expect(try camera.hasTold(.filesChanged))
            streams.runs[1].goLive()
            try waitForState("live")

            // A faulty file ends it, because there is no target.
            try camera.write("stream", #"{"url": "http://127.0.0.1"}"#)
            try waitForState("fault")
            #expect(streams.runs[1].isStopped && streams.runs.count == 2)
            #expect(try camera.status().isStreamWanted, "until the file is right")
            #expect(try camera.ask("stop").hasPrefix("ok\n"))
            #expect(try camera.ask("start").hasPrefix("error\n"))
            try camera.end()
        }
    }

    @Test func commandsAreAnsweredAndReachTheStream() throws {
        try time.run {
            #expect(try camera.ask("set quality Low1") == refused(.notLive))
            #expect(try camera.ask("start").hasPrefix("ok\n"))
            try camera.waitUntil { streams.runs.count == 1 }
            let run = streams.runs[0]
            run.goLive()
            try waitForState("live")
            #expect(try camera.ask("quality Low1") == "ok\nquality Low1\n")
            #expect(try camera.ask("set fps 15 mute on") == "ok\nfps 15\nmute on\n")
            try camera.waitUntil { run.changes.count == 2 }
            #expect(
                run.changes == [
                    [.quality(.low1)], [.frameRate(FrameRate(framesPerSecond: 15)), .mute(true)],
                ])
            #expect(try camera.ask("set nonsense 1").hasPrefix("error\n"))
            #expect(try camera.ask("set zoom 2 focus") == wrong(.usage(.set, on: .socket, meant: nil)))
            #expect(try camera.ask("set zoom 2 focus manual") == "ok\nzoom 2\nfocus manual\n")
            let controls = try camera.ask("controls")
            #expect(controls.contains("zoom 1 (1 to 4)\n") && controls.contains("lens: unavailable, it has none\n"))
            let zoom = #"{"name":"zoom","value":"1","minimum":1.0,"maximum":4.0}"#
            #expect(try camera.ask("controls json").contains(zoom))
            #expect(try camera.ask("dance") == wrong(.unknown("dance", on: .socket)))
            #expect(try camera.ask("statsu") == wrong(.unknown("statsu", on: .socket)))
            #expect(try camera.ask("camera") == wrong(.usage(.camera, on: .socket, meant: nil)))
            #expect(try camera.ask("mute off") == "ok\nmute off\n")
            #expect(try camera.ask("settings") == "ok\nquality Low1\nmute off\n")
            #expect(try camera.ask("begin") == wrong(.unavailable(.openTransaction)))
            #expect(try camera.ask("set mirror on mirror off") == refused(.command(.changes(.repeated("mirror")))))
            #expect(try camera.ask("help").contains("quality [NAME|RATE]"))
            #expect(try camera.ask("events 0").hasPrefix("error\n"))
            #expect(try camera.ask("stop").hasPrefix("ok\n"))
            try camera.waitUntil { run.isStopped }
            try waitForState("ready", orWithoutNetwork: true)
            try camera.end()
        }
    }

    @Test func statusShowsTheStreamsLastReport() throws {
        try time.run {
            let run = try goLive()
            #expect(try !camera.ask("status json").contains("framesPerSecond"))
            let filters = [
                FilterReading(FilterID(.smooth), frames: 70, nanoseconds: 9, isDropped: true),
                FilterReading(FilterID(.text), frames: 77, nanoseconds: 9, isDropped: false),
            ]
            run.say(.status(Camera.status(encoder: "v4l2:/dev/video11", filters: filters)))
            try camera.waitUntil { try camera.ask("quality").contains("encoder v4l2:/dev/video11") }
            #expect(
                try camera.ask("quality")
                    == "ok\nMedium1, 640x480, 30.0 fps, 500 of 640 kbit/s, 0.00 s buffered, "
                    + "encoder v4l2:/dev/video11\n")
            let json = try camera.ask("status json")
            for words in [
                #""quality":"Medium1","liveSeconds":0,"muted":false,"width":640,"height":480,"#,
                #""targetBitsPerSecond":640000,"videoFrames":0,"videoSkipped":0,"videoDropped":0,"videoDecimated":0,"#,
                #""framesPerSecond":30.0,"bitsPerSecond":500000,"bufferedSeconds":0.0,"#,
                #""encoder":"v4l2:/dev/video11","sources":{"sourceFrames":77,"sourceDropped":0,"#,
                #""audioInterruptions":0,"filters":["smooth-dropped","text"],"filterFrames":[70.0,77.0],"#,
            ] {
                #expect(json.contains(words), "\(json)")
            }
            #expect(try camera.ask("status").contains("camera:   77 frames, 0 missed"))
            #expect(try camera.ask("status").contains("\nfilters:  smooth (off: too slow), text\n"))
            // The next stream starts without it.
            run.end(nil)
            try camera.waitUntil { try !camera.ask("status json").contains("framesPerSecond") }
            try camera.end()
        }
    }
}
