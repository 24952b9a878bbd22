import Bitstream
import LinuxIO
import Media
import MediaPipeline
import MediaTestSupport
import PipelineSupport
import StreamLogic
import StreamQuality
import SyntheticSources
import Testing
import Transport
import WireSupport

@testable import Publishing

/// An FLV file on its way to a scripted server.
@Suite struct FilePublisherTests {
    private let time = VirtualTime()
    private let directory: TemporaryDirectory
    private let recorder = EventRecorder()
    /// A header, then a frame every 40 ms.
    private let tags: [FLVTag]

    init() throws {
        directory = try TemporaryDirectory()
        var tags = [FLVTag(kind: .video, timestamp: 0, body: [0x17, 0, 0, 0, 0, 1, 2, 3])]
        for number in 0..<25 {
            let start: [UInt8] = [number % 10 == 0 ? 0x17 : 0x27, 1, 0, 0, 0]
            let payload = [UInt8](repeating: UInt8(number), count: 3000)
            tags.append(FLVTag(kind: .video, timestamp: UInt32(number) * 40, body: start + payload))
        }
        self.tags = tags
    }

    private func file(_ tags: [FLVTag], damage: [UInt8] = []) throws -> String {
        let bytes = try tags.reduce(FLVWriter.header(hasAudio: false, hasVideo: true)) {
            try $0 + FLVWriter.bytes(of: $1)
        }
        return try directory.write(bytes + damage, to: "media.flv")
    }

    /// Publishes on a thread, which takes the process's signals for its own.
    /// - Returns: how it failed.
    private func publish(
        _ path: String, to server: ScriptedServer, pace: PublishSettings.Pace = .fast
    ) throws -> StreamFailure? {
        let ends = try Mailbox<StreamFailure?>()
        let (sink, network) = (recorder.sink, server.network())
        let thread = JoinableThread(
            try NamedThread("file") {
                do {
                    try FilePublisher(
                        path: path, settings: Self.settings(pace), network: network, reporter: sink
                    ).run()
                    ends.send(nil)
                } catch {
                    ends.send(error as? StreamFailure ?? StreamFailure(.system, "\(error)"))
                }
            })
        thread.join()
        return try #require(ends.takeAll().first)
    }

    private static func settings(_ pace: PublishSettings.Pace) throws -> PublishSettings {
        let media = MediaSettings(
            video: FakeCameraChoice.asAsked, audio: AudioSourceDescription.none, quality: .medium1,
            audioQuality: .standard, dimension: .standard, encoder: FakeEncoderChoice.software)
        var settings = PublishSettings(
            destinations: PublishDestinations([PublishDestination(url: testURL)]), media: media,
            quality: QualitySettings(videoQuality: .medium1, audioQuality: nil))
        settings.pace = pace
        return settings
    }

    @Test func everyTagArrivesAsItIs() throws {
        try time.run {
            let server = try ScriptedServer()
            #expect(try publish(file(tags), to: server) == nil)
            #expect(server[1].tags == tags)
            #expect(server[1].hasEnded && !server[1].isReset)
            #expect(recorder.states == [.connecting, .live, .disconnecting, .disconnected])
            #expect(recorder.names.last == "ended")
        }
    }

    @Test func tagsGoOutWhenTheirTimestampsSay() throws {
        try time.run {
            let server = try ScriptedServer()
            let start = MonotonicClock.now()
            #expect(try publish(file(tags), to: server, pace: .realtime) == nil)
            #expect(MonotonicClock.now() - start >= .milliseconds(960))
            #expect(server[1].tags == tags)
        }
    }

    @Test func aDamagedFileFailsBehindWhatIsGood() throws {
        try time.run {
            let server = try ScriptedServer()
            let failure = try publish(file(tags, damage: [0xFF, 0xFF, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]), to: server)
            #expect(failure?.kind == .media)
            #expect(server[1].tags == tags && server[1].hasEnded)
        }
    }

    @Test func aFileWithoutTagsBothersNoServer() throws {
        try time.run {
            let server = try ScriptedServer()
            #expect(try publish(file([]), to: server)?.kind == .media)
            #expect(server.connectionCount == 0)
        }
    }

    @Test(arguments: [
        (ScriptedServer.Answer.accept(.refusing(publish: "NetStream.Publish.BadName")), EventCode.netStreamFailed),
        (.unreachable(.timedOut(peer: "live.example:1935", .connect)), .timedOut),
    ]) func aRefusalEndsIt(answer: ScriptedServer.Answer, code: EventCode) throws {
        try time.run {
            let server = try ScriptedServer { _ in answer }
            let failure = try publish(file(tags), to: server)
            #expect(failure?.code == code && failure?.kind == .connection)
            #expect(recorder.states == [.connecting, .error])
        }
    }

    /// No second attempt follows: the file would start from its beginning.
    @Test func aConnectionThatIsCutEndsIt() throws {
        try time.run {
            let server = try ScriptedServer()
            let cutter = JoinableThread(
                try NamedThread("cutter") {
                    if becomesTrue({ server[1].tags.count > 3 }) { server.perform(.reset, on: 1) }
                })
            let failure = try publish(file(tags), to: server, pace: .realtime)
            cutter.join()
            #expect(failure?.code == .closedByPeer)
            #expect(server.connectionCount == 1)
        }
    }
}
