import Bitstream
import FilePublishing
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
                        PublishedFile(path: path, path.hasSuffix(".mp4") ? .mp4 : .flv), settings: Self.settings(pace),
                        network: network, reporter: sink
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

    /// A recording with the tags' frames.
    private func movie() throws -> String {
        let set: [UInt8] = [0x67, 66, 0xC0, 0x1E, 0x8C, 0x68, 0x0A, 0x03, 0xDA, 0x01, 0xE1, 0x10, 0x8D, 0x40]
        let header = [1, 66, 0xC0, 0x1E, 0xFF, 0xE1, 0, UInt8(set.count)] + set + [1, 0, 4, 0x68, 0xCE, 0x3C, 0x80]
        let tracks = try MP4RecordedTracks(videoHeader: header, audioHeader: nil)
        var writer = MP4RecordingWriter(tracks, start: .zero, creation: nil)
        var steps = writer.begin()
        for tag in tags.dropFirst() {
            if let packet = try tag.packet(base: .zero) { _ = writer.append(packet) }
        }
        steps += writer.endFragment(nextFrame: nil, clock: nil) + writer.finish()
        var bytes: [UInt8] = []
        for case .write(let pieces, let offset) in steps {
            let content = pieces.flatMap { $0 }
            bytes.replaceSubrange(offset..<min(bytes.count, offset + content.count), with: content)
        }
        return try directory.write(bytes, to: "media.mp4")
    }

    @Test func movieArrivesAsItsFrames() throws {
        try time.run {
            let server = try ScriptedServer()
            let start = MonotonicClock.now()
            #expect(try publish(movie(), to: server, pace: .realtime) == nil)
            #expect(MonotonicClock.now() - start >= .milliseconds(960))
            let received = server[1].tags
            #expect(received.first?.isSequenceHeader == true)
            #expect(Array(received.dropFirst()) == Array(tags.dropFirst()))
        }
    }

    @Test func movieThatIsCutOffBothersNoServer() throws {
        try time.run {
            let server = try ScriptedServer()
            let whole = try readFile(movie(), limit: 1 << 20)
            let path = try directory.write(whole.dropLast(5), to: "cut.mp4")
            #expect(try publish(path, to: server)?.kind == .media)
            #expect(server.connectionCount == 0)
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
