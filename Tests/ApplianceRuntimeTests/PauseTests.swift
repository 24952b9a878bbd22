import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime

/// A live stream is paused by a command, and what else happens to it meanwhile.
@Suite(.serialized) struct PauseTests {
    private let time = VirtualTime()
    private let camera: Camera

    init() throws { camera = try Camera(board: #"{"name": "Bench", "button": {"line": "button"}}"#) }

    private func waitForState(_ state: String, _ sourceLocation: SourceLocation = #_sourceLocation) throws {
        try camera.waitUntil(
            { try camera.ask("status").hasPrefix("ok\nstate:    \(state)\n") }, sourceLocation: sourceLocation)
    }

    @Test func commandPausesTheStreamAndStatusSaysSo() throws {
        try time.run {
            try camera.start()
            #expect(try camera.ask("pause on") == "error\nnot live: there is nothing to pause\n")
            _ = try camera.liveRun { _ = try camera.ask("start") }
            #expect(try camera.ask("status json").contains(#""isPaused":false"#))
            for command in ["pause", "pause maybe"] {
                #expect(try camera.ask(command) == "error\nusage: pause on|off\n")
            }
            #expect(try camera.ask("pause on") == "ok\npaused\n")
            try waitForState("paused")
            #expect(try camera.ask("status json").contains(#""isPaused":true"#))
            #expect(try camera.ask("pause off") == "ok\nlive\n")
            try waitForState("live")
            #expect(try camera.ask("events 50").contains("paused: a still frame and silence go out"))
            try camera.end()
        }
    }

    /// The stream waits for its file to be repaired.
    @Test func snapshotIsRefusedWhileAPausedStreamIsAway() throws {
        try time.run {
            try camera.start()
            let run = try camera.liveRun { _ = try camera.ask("start") }
            #expect(try camera.ask("pause on") == "ok\npaused\n")
            try camera.write("stream", #"{"url": "nowhere"}"#)
            try camera.waitUntil { run.isStopped }
            try camera.waitUntil { try camera.ask("pause on") == "error\nnot live: there is nothing to pause\n" }
            #expect(try camera.ask("status json").contains(#""isPaused":true"#))
            #expect(try camera.ask("snapshot").hasPrefix("error\nthe stream is paused"))
            try camera.end()
        }
    }

    /// Nobody has asked for the camera to be seen again.
    @Test func changedFileRestartsAPausedStreamPaused() throws {
        try time.run {
            try camera.start()
            let run = try camera.liveRun { _ = try camera.ask("start") }
            #expect(!run.request.isPaused)
            #expect(try camera.ask("pause on") == "ok\npaused\n")
            try camera.write("stream", #"{"url": "rtmp://127.0.0.1:9/live/y", "pauseImage": "slate.png"}"#)
            try camera.waitUntil { camera.streams.runs.count == 2 }
            let next = camera.streams.runs[1]
            #expect(next.request.isPaused)
            #expect(next.request.description.pauseImage == camera.path("boot/slate.png"))
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
