import ApplianceLogic
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime

/// Pauses a live stream with a command, combined with other events.
@Suite(.serialized) struct PauseTests {
    private let time = VirtualTime()
    private let camera: Camera

    init() throws { camera = try Camera(board: #"{"name": "Bench", "button": {"line": "button"}}"#) }

    private func waitForState(_ state: String, _ sourceLocation: SourceLocation = #_sourceLocation) throws {
        try camera.waitUntil(
            { try camera.state() == state }, sourceLocation: sourceLocation)
    }

    @Test func commandPausesTheStreamAndStatusShowsIt() throws {
        try time.run {
            try camera.start()
            #expect(try camera.ask("pause on") == refused(.nothingToPause))
            _ = try camera.liveRun { _ = try camera.ask("start") }
            #expect(try !camera.status().isPaused)
            for command in ["pause", "pause maybe"] {
                #expect(try camera.ask(command) == refused(.command(.command(.usage(.pause, on: .socket, meant: nil)))))
            }
            #expect(try camera.ask("pause on") == "ok\npaused\n")
            try waitForState("paused")
            #expect(try camera.status().isPaused)
            #expect(try camera.ask("pause off") == "ok\nlive\n")
            try waitForState("live")
            #expect(try camera.hasTold(.paused(true)))
            try camera.end()
        }
    }

    /// The stream waits until its file is repaired.
    private func pauseAndTakeTheStreamAway() throws {
        try camera.start()
        let run = try camera.liveRun { _ = try camera.ask("start") }
        #expect(try camera.ask("pause on") == "ok\npaused\n")
        try camera.write("stream", #"{"url": "nowhere"}"#)
        try camera.waitUntil { run.isStopped }
        try camera.waitUntil { try camera.ask("pause on") == done(PauseNotice.already(true)) }
    }

    @Test func snapshotIsRefusedWhileAPausedStreamIsInterrupted() throws {
        try time.run {
            try pauseAndTakeTheStreamAway()
            #expect(try camera.status().isPaused)
            #expect(try camera.ask("snapshot") == refused(.hiddenByPause))
            try camera.end()
        }
    }

    @Test func pauseDuringAnInterruptionAppliesAfterwards() throws {
        try time.run {
            try pauseAndTakeTheStreamAway()
            #expect(try camera.ask("pause off") == done(PauseNotice.forNextStream(false)))
            #expect(try camera.ask("pause off") == done(PauseNotice.already(false)))
            #expect(try !camera.status().isPaused)
            #expect(try camera.hasTold(.paused(false)))
            #expect(try camera.ask("pause on") == done(PauseNotice.forNextStream(true)))
            _ = try camera.ask("pause off")
            try camera.write("stream", #"{"url": "rtmp://127.0.0.1:9/live/y"}"#)
            try camera.waitUntil { camera.streams.runs.count == 2 }
            #expect(!camera.streams.runs[1].request.isPaused)
            try camera.end()
        }
    }

    /// The stream fails or is stopped before it has seen the command.
    @Test func unansweredPauseAppliesToTheNextStream() throws {
        try time.run {
            try camera.start()
            let run = try camera.liveRun { _ = try camera.ask("start") }
            #expect(try camera.ask("pause on") == "ok\npaused\n")
            run.changeAnswer.withLock { $0 = .none }
            let asked = try camera.connect("pause off")
            try camera.waitUntil { run.pauses == [true, false] }
            run.end(StreamFailure(.cameraUnavailable, "it is gone"))
            let answer = String(decoding: try camera.answer(on: asked), as: UTF8.self)
            #expect(answer == done(PauseNotice.forNextStream(false)))
            // A failed camera is retried.
            try camera.waitUntil { camera.streams.runs.count == 2 }
            #expect(!camera.streams.runs[1].request.isPaused)
            try camera.end()
        }
    }

    @Test func missingPauseImageIsAFaultAndTheStreamGoesLive() throws {
        try time.run {
            let path = camera.path("slate.png")
            try camera.write("stream", #"{"url": "rtmp://127.0.0.1:9/live/x", "pauseImage": "\#(path)"}"#)
            try camera.start()
            try camera.waitUntil { camera.read("boot/faults.txt").contains("(3 blinks)") }
            let faults = camera.read("boot/faults.txt")
            for words in [
                "stream.json, line 1, column 52", "key:     pauseImage", "open \(path): No such file",
                "a pause shows the last frame instead", #"example: "pauseImage": "slate.png""#,
            ] {
                #expect(faults.contains(words), "\(faults)")
            }
            let run = try camera.liveRun { _ = try camera.ask("start") }
            try camera.writeFile(SolidPNG.red, to: "slate.png")
            try camera.waitUntil { camera.read("boot/faults.txt").isEmpty }
            try camera.waitUntil { run.pauseImageLoads == 1 }
            try camera.writeFile("GIF89a", to: "slate.png")
            try camera.waitUntil { try camera.status().faults.contains(3) }
            #expect(camera.streams.runs.count == 1 && !run.isStopped, "the stream need not start again")
            try camera.end()
        }
    }

    /// Nobody has asked to show the camera again.
    @Test func pausedStreamRestartedByAFileChangeStaysPaused() throws {
        try time.run {
            try camera.start()
            let run = try camera.liveRun { _ = try camera.ask("start") }
            #expect(!run.request.isPaused)
            #expect(try camera.ask("pause on") == "ok\npaused\n")
            try camera.write("stream", #"{"url": "rtmp://127.0.0.1:9/live/y", "pauseImage": "slate.png"}"#)
            try camera.waitUntil { camera.streams.runs.count == 2 }
            let next = camera.streams.runs[1]
            #expect(next.request.isPaused)
            #expect(next.request.description?.pauseImage == camera.path("boot/slate.png"))
            next.goLive()
            try waitForState("paused")
            #expect(try camera.ask("stop").hasPrefix("ok"))
            try camera.waitUntil { next.isStopped }
            _ = try camera.liveRun { _ = try camera.ask("start") }
            #expect(!camera.streams.runs[2].request.isPaused)
            try camera.end()
        }
    }
}
