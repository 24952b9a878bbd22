import Bitstream
import Media
import MediaTestSupport
import PipelineSupport
import StreamLogic
import StreamQuality
import Testing
import WireSupport

@testable import Publishing

/// Pauses of a whole live stream, from a fake camera, whose frames are gray, to a scripted server.
@Suite struct PauseTests {
    private let time = VirtualTime()
    /// 4x3 pixels of pure red, which is 81 in BT.601.
    private static let red: [UInt8] = [
        137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 4,
        0, 0, 0, 3, 8, 2, 0, 0, 0, 59, 150, 57, 145, 0, 0, 0, 16, 73, 68, 65,
        84, 120, 156, 99, 248, 207, 192, 0, 71, 12, 56, 57, 0, 245, 49, 11, 245, 53, 123, 251,
        130, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
    ]

    /// Waits for so many more frames.
    private func framesPass(_ preview: RecordedPreview, _ count: Int = 15) {
        let target = preview.record.lumas.count + count
        #expect(becomesTrue { preview.record.lumas.count >= target })
    }

    @Test func pauseIsAnsweredReportedAndEnded() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server, isWatched: true)
            #expect(becomesTrue { server[1].tags.count > 40 })
            for (number, isPaused, text) in [
                (1, true, "paused: sending a still frame and silence"), (2, true, "the stream is paused already"),
                (3, false, "no longer paused"), (4, false, "the stream is not paused"),
            ] {
                let id = CommandID(UInt64(number))
                stream.commands.send(.pause(isPaused, id))
                #expect(becomesTrue { stream.recorder.answers[id] == .done([text]) })
            }
            stream.commands.send(.togglePause)
            #expect(becomesTrue { stream.recorder.events("paused").count == 3 })
            #expect(becomesTrue { stream.recorder.snapshots.last?.isPaused == true })
            let statuses = stream.recorder.events("status").count
            #expect(becomesTrue { stream.recorder.events("status").count > statuses })
            #expect(stream.recorder.field("paused", of: "status") == "true")
            #expect(stream.recorder.texts(of: "status").last?.hasPrefix("paused, ") == true)
            try stream.stop()
            #expect(stream.recorder.count(.paused) == 3)
        }
    }

    @Test func slateAndSilenceGoOutAtTheSamePace() throws {
        try time.run {
            let directory = try TemporaryDirectory()
            let path = try directory.write(Self.red, to: "slate.png")
            let (server, preview) = (try ScriptedServer(), RecordedPreview())
            let stream = try StreamUnderTest(on: server, preview: preview, pauseImage: path)
            #expect(becomesTrue { server[1].tags.count > 40 })
            #expect(preview.record.lumas.allSatisfy { $0 == 128 })
            stream.commands.send(.pause(true))
            #expect(becomesTrue { preview.record.lumas.last == 81 })
            framesPass(preview, 45)
            stream.commands.send(.pause(false))
            #expect(becomesTrue { preview.record.lumas.last == 128 })
            framesPass(preview)
            try stream.stop()

            let lumas = preview.record.lumas
            let first = try #require(lumas.firstIndex(of: 81))
            let last = try #require(lumas.lastIndex(of: 81))
            #expect(lumas[first...last].allSatisfy { $0 == 81 }, "not one frame of the camera")
            #expect(server.connectionCount == 1)
            for kind in [FLVTag.Kind.video, .audio] {
                let times = server[1].tags.filter { $0.kind == kind && $0.body[1] == 1 }.map(\.timestamp)
                let steps = zip(times, times.dropFirst()).map { Int64($1) - Int64($0) }
                #expect(steps.allSatisfy { (1..<120).contains($0) }, "\(kind) \(times)")
            }
            // The first one of the pause and the first one behind it, beside those that come every two seconds.
            let keyframes = server[1].tags.filter { $0.kind == .video && $0.body[1] == 1 && $0.body[0] == 0x17 }
            #expect(keyframes.count >= 3)
        }
    }

    @Test(arguments: ["missing", "broken"])
    func pauseImageThatCannotBeUsedIsAnEventAndTheLastFrameIsShown(kind: String) throws {
        try time.run {
            let directory = try TemporaryDirectory()
            let path =
                kind == "missing"
                ? directory.file("no.png") : try directory.write(Array(Self.red.dropLast(25)), to: "cut.png")
            let (server, preview) = (try ScriptedServer(), RecordedPreview())
            let stream = try StreamUnderTest(on: server, preview: preview, pauseImage: path)
            #expect(becomesTrue { stream.recorder.count(.pauseImageUnusable) == 1 })
            #expect(stream.recorder.field("reason", of: "pauseImageUnusable")?.contains(path) == true)
            #expect(becomesTrue { server[1].tags.count > 40 })
            stream.commands.send(.pause(true))
            #expect(becomesTrue { stream.recorder.count(.paused) == 1 })
            framesPass(preview)
            #expect(preview.record.lumas.allSatisfy { $0 == 128 })
            try stream.stop()
        }
    }

    /// The card was prepared in the wrong order, or a person has repaired it.
    @Test func pauseImageThatComesLaterIsShown() throws {
        try time.run {
            let directory = try TemporaryDirectory()
            let (server, preview) = (try ScriptedServer(), RecordedPreview())
            let stream = try StreamUnderTest(on: server, preview: preview, pauseImage: directory.file("slate.png"))
            #expect(becomesTrue { stream.recorder.count(.pauseImageUnusable) == 1 })
            _ = try directory.write(Self.red, to: "slate.png")
            stream.commands.send(.loadPauseImage)
            #expect(becomesTrue { server[1].tags.count > 40 })
            stream.commands.send(.pause(true))
            #expect(becomesTrue { preview.record.lumas.last == 81 })
            // A slate that is shown stays.
            _ = try directory.write(Array("GIF89a".utf8), to: "slate.png")
            stream.commands.send(.loadPauseImage)
            #expect(becomesTrue { stream.recorder.count(.pauseImageUnusable) == 2 })
            framesPass(preview)
            #expect(preview.record.lumas.last == 81)
            stream.commands.send(.pause(false))
            #expect(becomesTrue { preview.record.lumas.last == 128 })
            // The next pause has none.
            let statuses = stream.recorder.count(.paused)
            stream.commands.send(.pause(true))
            #expect(becomesTrue { stream.recorder.count(.paused) == statuses + 1 })
            framesPass(preview)
            #expect(preview.record.lumas.last == 128)
            try stream.stop()
        }
    }

    @Test func pauseEndsWhileTheStreamReconnects() throws {
        try time.run {
            let (server, preview) = (try ScriptedServer(), RecordedPreview())
            let stream = try StreamUnderTest(on: server, preview: preview, isPaused: true)
            #expect(becomesTrue { server[1].tags.count > 40 })
            server.perform(.reset, on: 1)
            #expect(becomesTrue { stream.recorder.count(.reconnecting) == 1 })
            stream.commands.send(.pause(false, CommandID(1)))
            #expect(becomesTrue { stream.recorder.answers[CommandID(1)] == .done(["no longer paused"]) })
            #expect(becomesTrue(within: .seconds(40)) { server.connectionCount >= 2 && server[2].tags.count > 40 })
            #expect(becomesTrue { preview.record.lumas.last == 128 })
            try stream.stop()
        }
    }

    @Test func streamThatStartsPausedIsBlackUntilThePauseEnds() throws {
        try time.run {
            let (server, preview) = (try ScriptedServer(), RecordedPreview())
            let stream = try StreamUnderTest(on: server, preview: preview, isPaused: true)
            #expect(becomesTrue { server[1].tags.count > 40 })
            #expect(stream.recorder.events("paused") as? [StreamEvent] == [.paused(true)])
            #expect(preview.record.lumas.allSatisfy { $0 == 16 })
            stream.commands.send(.pause(false))
            #expect(becomesTrue { preview.record.lumas.last == 128 })
            try stream.stop()
        }
    }

    @Test func pauseOutlivesAReconnectionARestartAndAnotherCamera() throws {
        try time.run {
            let directory = try TemporaryDirectory()
            let path = try directory.write(Self.red, to: "slate.png")
            let (server, preview) = (try ScriptedServer(), RecordedPreview())
            let stream = try StreamUnderTest(
                on: server, cameras: ["front", "back"], preview: preview, pauseImage: path)
            #expect(becomesTrue { server[1].tags.count > 40 })
            stream.commands.send(.pause(true))
            #expect(becomesTrue { preview.record.lumas.last == 81 })
            let start = preview.record.lumas.count

            stream.commands.send(.switchCamera(.named("back"), CommandID(1)))
            #expect(becomesTrue { stream.recorder.answers[CommandID(1)] != nil })
            stream.commands.send(.apply(RequestedChanges(configuration: [.quality(.low1)])))
            framesPass(preview)
            server.perform(.reset, on: 1)
            #expect(becomesTrue(within: .seconds(40)) { server.connectionCount >= 2 && server[2].tags.count > 40 })
            stream.commands.send(.apply(RequestedChanges(configuration: [.policy(.restart)])))
            stream.commands.send(.apply(RequestedChanges(configuration: [.quality(.high1)])))
            #expect(becomesTrue(within: .seconds(40)) { server.connectionCount >= 3 && server[3].tags.count > 40 })
            #expect(preview.record.lumas[start...].allSatisfy { $0 == 81 })
            stream.commands.send(.pause(false))
            #expect(becomesTrue { preview.record.lumas.last == 128 })
            try stream.stop()
        }
    }
}
