import ApplianceLogic
import Encoding
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import ApplianceRuntime
@testable import DeviceStreams

/// Recordings of live streams, and without a stream.
@Suite(.serialized) struct RecordTests {
    private let time = VirtualTime()
    private let camera: Camera

    init() throws { camera = try Camera(board: #"{"name": "Bench", "button": {"line": "button"}}"#) }

    private func useDevice(_ json: String) throws { try camera.write("device", json) }

    /// Two seconds of frames with a keyframe each second, as an encoder makes them.
    private func bring(to run: ScriptedStreams.Run) {
        guard let archive = run.request.receivers.archive else { return }
        let start = MonotonicClock.now()
        let header: [UInt8] =
            [1, 66, 0xC0, 0x1E, 0xFF, 0xE1, 0, 14] + [
                0x67, 66, 0xC0, 0x1E, 0x8C, 0x68, 0x0A, 0x03, 0xDA, 0x01, 0xE1, 0x10, 0x8D, 0x40,
            ] + [1, 0, 4, 0x68, 0xCE, 0x3C, 0x80]
        var packets = [EncodedPacket(kind: .videoHeader, decodeTime: start, payload: header)]
        for index in 0..<50 {
            packets.append(
                EncodedPacket(
                    kind: .video(isKeyframe: index % 25 == 0), decodeTime: start + .milliseconds(40 * Int64(index)),
                    payload: [0, 0, 0, 4, 0x65, 1, 2, 3]))
        }
        for packet in packets { archive.wake(archive.append([packet], now: packet.decodeTime)) }
    }

    /// The disk takes real time, which may be long on a busy machine, and files are looked at every two seconds of the camera's
    /// time: both pass here.
    private func wait(_ condition: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for _ in 0..<10_000 {
            if (try? condition()) == true { return }
            usleep(5000)
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
        }
        Issue.record("\((try? camera.ask("status")) ?? "")", sourceLocation: sourceLocation)
    }

    private func waitForRecording(_ state: String) throws {
        try wait { try camera.recordingState() == state }
    }

    private func recordedFiles() -> [String] {
        ((try? fileNames(in: camera.path("state/recordings"))) ?? []).filter { $0.hasSuffix(".mp4") }
    }

    @Test func liveStreamIsRecordedUntilItsEnd() throws {
        try useDevice(#"{"camera": "synthetic", "audio": {"source": "none"}, "record": "live"}"#)
        try time.run {
            try camera.start()
            #expect(try camera.recordingState() == "off")
            let run = try camera.liveRun { _ = try camera.ask("start") }
            #expect(!run.request.receivers.startsAtOnce)
            try waitForRecording("recording")
            bring(to: run)
            try wait { recordedFiles().count == 1 }
            #expect(try camera.ask("record mark second half") == "ok\nmarked\n")
            _ = try camera.ask("stop")
            try waitForRecording("off")
            try wait { try camera.state() == "ready" }
            try camera.end()
        }
        let journal = recordedFiles().first.map { "state/recordings/" + $0.dropLast(4) + ".jsonl" }
        #expect(camera.read(journal ?? "").contains("second half"))
    }

    /// The main thread has seen no event of the stream yet, as on a busy machine.
    @Test func firstFrameOfAStreamIsRecorded() throws {
        try useDevice(#"{"camera": "synthetic", "audio": {"source": "none"}, "record": "live"}"#)
        try time.run {
            try camera.start()
            #expect(try camera.ask("start") == done("connecting"))
            try wait { camera.streams.runs.count == 1 }
            bring(to: camera.streams.runs[0])
            try wait { recordedFiles().count == 1 }
            try camera.end()
        }
    }

    @Test func recordingNeedsNoStreamAndMakesRoomForOne() throws {
        try useDevice(#"{"camera": "synthetic", "audio": {"source": "none"}, "record": "always"}"#)
        try camera.write("stream", "{")
        try time.run {
            try camera.start()
            try wait { camera.streams.runs.count == 1 }
            let recorded = camera.streams.runs[0]
            #expect(recorded.request.description == nil)
            #expect(recorded.request.receivers.startsAtOnce)
            bring(to: recorded)
            try wait { try camera.state() == "recording" }
            try camera.write("stream", #"{"url": "rtmp://127.0.0.1:9/live/x"}"#)
            try wait { try camera.status().destination != nil }
            let live = try camera.liveRun { _ = try camera.ask("start") }
            #expect(recorded.isStopped)
            #expect(live.request.description != nil)
            #expect(live.request.receivers.startsAtOnce)
            #expect(try camera.recordingState() == "recording")
            // Afterwards, it is recorded without a stream again.
            _ = try camera.ask("stop")
            try wait { camera.streams.runs.count == 3 }
            #expect(camera.streams.runs[2].request.description == nil)
            try camera.end()
        }
    }

    /// The recorded stream takes its time to end.
    @Test func startThatIsTakenBackLeavesTheRecordingAlone() throws {
        try useDevice(#"{"camera": "synthetic", "audio": {"source": "none"}, "record": "always"}"#)
        try time.run {
            try camera.start()
            try wait { camera.streams.runs.count == 1 }
            try wait { try camera.state() == "recording" }
            #expect(try camera.ask("stop") == done("recording"))
            let recorded = camera.streams.runs[0]
            recorded.isHanging.withLock { $0 = true }
            #expect(try camera.ask("start") == done("connecting"))
            _ = try camera.ask("stop")
            recorded.end(nil)
            try wait { camera.streams.runs.count == 2 }
            #expect(camera.streams.runs[1].request.description == nil)
            try wait { try camera.state() == "recording" }
            #expect(try !camera.status().isStreamWanted)
            try camera.end()
        }
    }

    @Test func cameraThatReturnsIsNoFaultAnyLonger() throws {
        try useDevice(#"{"camera": "synthetic", "audio": {"source": "none"}, "record": "always"}"#)
        try time.run {
            try camera.start()
            try wait { camera.streams.runs.count == 1 }
            camera.streams.runs[0].end(StreamFailure(.media, code: .cameraUnavailable, "no camera"))
            try wait { try camera.status().details.contains { $0.contains("no camera") } }
            // Tried again after a while.
            try wait { camera.streams.runs.count == 2 }
            camera.streams.runs[1].say(
                .source(.started(.camera("Webcam", FrameSize(width: 640, height: 480), FrameRate(framesPerSecond: 30))))
            )
            try wait { try camera.status().details.isEmpty }
            try camera.end()
        }
    }

    @Test func commandsStartAndStopARecording() throws {
        try time.run {
            try camera.start()
            #expect(try camera.ask("record mark now") == refused(.nothingIsRecorded))
            #expect(try camera.ask("record stop") == done("nothing was being recorded"))
            #expect(try camera.ask("record start") == done("recording starts"))
            try waitForRecording("recording")
            #expect(try camera.ask("record start") == done("recording already"))
            try wait { camera.streams.runs.count == 1 }
            #expect(try camera.ask("record stop") == done("recording stops"))
            try waitForRecording("off")
            try wait { camera.streams.runs[0].isStopped }
            #expect(try camera.ask("record eject").hasPrefix("error\n"))
            try camera.end()
        }
    }

    @Test func buttonThatMayNotRecordIsAFault() throws {
        try useDevice(#"{"camera": "synthetic", "record": "off", "doublePress": "record"}"#)
        try time.run {
            try camera.start()
            try wait { try camera.faults() == [.settings] }
            try camera.end()
        }
    }

    @Test func deviceFileForbidsRecordings() throws {
        try useDevice(#"{"camera": "synthetic", "record": "off"}"#)
        try time.run {
            try camera.start()
            for command in ["record start", "record stop", "record eject"] {
                #expect(try camera.ask(command) == refused(.recordingIsOff))
            }
            let run = try camera.liveRun { _ = try camera.ask("start") }
            #expect(run.request.receivers.archive == nil)
            try camera.end()
        }
    }

    @Test func diskThatCannotBeUsedIsAFault() throws {
        try useDevice(#"{"camera": "synthetic", "record": {"when": "always", "folder": "/nowhere/at/all"}}"#)
        try time.run {
            try camera.start()
            try wait { try camera.faults() == [.recording] }
            try waitForRecording("waitingForDisk")
            try useDevice(#"{"camera": "synthetic", "record": "always"}"#)
            try waitForRecording("recording")
            try wait { try camera.faults() == [] }
            try camera.end()
        }
    }
}
