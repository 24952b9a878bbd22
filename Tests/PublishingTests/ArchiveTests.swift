import Encoding
import LinuxIO
import Media
import MediaTestSupport
import StreamQuality
import Synchronization
import Testing
import Transport
import WireSupport

@testable import Publishing

/// Keeps what a stream's hub passes on, and what servers have acknowledged.
private final class KeptPackets: PacketArchive {
    struct Content {
        var packets: [EncodedPacket] = []
        var acknowledged: [String: [Range<MediaTimestamp>]] = [:]
        var hasEnded = false
    }

    private let content = Mutex(Content())

    var kept: Content { content.withLock { $0 } }
    var frames: [EncodedPacket] { kept.packets.filter { $0.isVideo && !$0.isHeader } }

    func append(_ packets: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] {
        content.withLock { $0.packets += packets }
        return []
    }

    func restart(headers: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] { append(headers, now: now) }
    func epochStarted() {}
    func mediaEnded() { content.withLock { $0.hasEnded = true } }
    func wake(_ events: [SendBufferEvent]) {}

    func acknowledged(by target: String, _ range: Range<MediaTimestamp>) {
        content.withLock { $0.acknowledged[target, default: []].append(range) }
    }
}

/// Streams whose packets are kept, with and without servers.
@Suite(.serialized) struct ArchiveTests {
    private let time = VirtualTime()
    private let archive = KeptPackets()

    @Test func streamWithoutServersIsOnlyKept() throws {
        try time.run {
            let stream = try StreamUnderTest(on: ScriptedServer(), to: nil, archive: archive)
            #expect(becomesTrue { archive.frames.count > 60 && archive.kept.packets.contains { $0.kind == .audio } })
            #expect(archive.kept.packets.first?.isHeader == true)
            #expect(archive.frames.first?.kind == .video(isKeyframe: true))
            try stream.stop()
            #expect(archive.kept.hasEnded && stream.recorder.states == [])
        }
    }

    @Test func viewerGetsWhatTheArchiveGets() throws {
        try time.run {
            let viewer = KeptPackets()
            let stream = try StreamUnderTest(on: ScriptedServer(), to: nil, archive: archive, viewer: viewer)
            #expect(becomesTrue { viewer.frames.count > 30 })
            try stream.stop()
            #expect(viewer.kept.hasEnded && viewer.kept.packets.first?.isHeader == true)
            #expect(viewer.frames.map(\.decodeTime) == archive.frames.map(\.decodeTime))
        }
    }

    @Test func viewerAloneIsEnoughForAStreamWithoutServers() throws {
        try time.run {
            let viewer = KeptPackets()
            let stream = try StreamUnderTest(on: ScriptedServer(), to: nil, viewer: viewer)
            #expect(becomesTrue { viewer.frames.count > 30 })
            #expect(viewer.frames.first?.kind == .video(isKeyframe: true))
            try stream.stop()
            #expect(viewer.kept.hasEnded)
        }
    }

    @Test func recordedStreamDoesNotWaitForItsServer() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(
                on: server, connecting: .seconds(3), archive: archive, startsAtOnce: true)
            #expect(becomesTrue { server[1].tags.contains { $0.kind == .video && $0.body[1] == 1 } })
            // About 30 frames a second.
            #expect(archive.frames.count > 80)
            let frames = server[1].tags.filter { $0.kind == .video && $0.body[1] == 1 }
            // RTMP counts from the moment when the server accepted the stream.
            #expect(frames[0].timestamp < 200 && frames[0].body[0] == 0x17)
            try stream.stop()
        }
    }

    @Test func unrecordedStreamStartsWithItsServer() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server, connecting: .seconds(3), archive: archive)
            MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(2))
            #expect(archive.frames.isEmpty)
            stream.commands.send(.startMedia)
            #expect(becomesTrue { archive.frames.count > 5 })
            #expect(server[1].tags.isEmpty)
            try stream.stop()
        }
    }

    @Test func archiveLearnsWhatAServerHas() throws {
        try time.run {
            let server = try ScriptedServer()
            let stream = try StreamUnderTest(on: server, archive: archive)
            #expect(becomesTrue { archive.kept.acknowledged["stream"]?.count ?? 0 >= 3 })
            try stream.stop()
            let ranges = archive.kept.acknowledged["stream"] ?? []
            for (before, after) in zip(ranges, ranges.dropFirst()) { #expect(after.lowerBound <= before.upperBound) }
            let (first, last) = (archive.frames.first?.decodeTime, archive.frames.last?.decodeTime)
            #expect(ranges.first?.lowerBound == first)
            if let last, let end = ranges.last?.upperBound { #expect(last - end < .seconds(1)) }
        }
    }
}
