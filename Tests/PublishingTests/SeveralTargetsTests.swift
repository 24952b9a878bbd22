import Bitstream
import DevicePorts
import Encoding
import LinuxIO
import Media
import MediaPipeline
import MediaTestSupport
import PipelineSupport
import RTMP
import StreamLogic
import StreamQuality
import Synchronization
import SyntheticSources
import Testing
import Transport
import WireSupport

@testable import Publishing

/// Several targets and a recording on one hub, in virtual time. The test is the thread `stream` and the encoders.
@Suite struct SeveralTargetsTests {
    private let time = VirtualTime()

    @Test func stalledTargetDisturbsNeitherTheOtherNorTheRecording() throws {
        try time.run {
            let alone = try Rig(targetCount: 1)
            try alone.start()
            try alone.send(seconds: 90)
            let rig = try Rig(targetCount: 2)
            let recording = rig.record()
            try rig.start()
            try rig.send(seconds: 10)
            rig.stallTheSecond()
            try rig.send(seconds: 60)
            rig.recoverTheSecond()
            try rig.send(seconds: 20)

            rig.expectThatTheFirstGotWhat(alone, seconds: 90)

            try rig.expectThatTheSecondResumed()
            #expect(rig.longestDurations[1] > .seconds(2) && rig.longestDurations[1] <= .milliseconds(3_250))
            #expect(rig.largestByteCounts[1] < 250_000)
            #expect(rig.keyframeRequests <= 75, "one a second at most")
            try rig.expectEveryPacket(in: recording)
        }
    }

    @Test func killedTargetDisturbsNeitherTheOtherNorTheRecording() throws {
        try time.run {
            let alone = try Rig(targetCount: 1)
            try alone.start()
            try alone.send(seconds: 60)
            let rig = try Rig(targetCount: 2)
            let recording = rig.record()
            try rig.start()
            try rig.send(seconds: 10)
            rig.killTheSecond()
            try rig.send(seconds: 50)

            rig.expectThatTheFirstGotWhat(alone, seconds: 60)
            #expect(rig.targets[1].session.state == .reconnecting)
            #expect(rig.largestByteCounts[1] < 250_000)
            try rig.expectEveryPacket(in: recording)
        }
    }
}

/// What a server got, to be compared.
private struct Received: Hashable {
    let kind: UInt8
    let timestamp: UInt32
    let body: [UInt8]

    init(_ tag: FLVTag) {
        kind = tag.kind.rawValue
        timestamp = tag.timestamp
        body = Array(tag.body)
    }
}

/// A hub with targets, each with a server of its own.
private final class Rig: TargetOwner {
    let metadata = StreamMetadata(
        video: .init(
            size: FrameSize(width: 64, height: 48), frameRate: FrameRate(framesPerSecond: 25),
            bitrate: Bitrate(kilobitsPerSecond: 400)), audio: nil)
    private(set) var targets: [PublishTarget] = []
    private(set) var longestDurations: [Duration] = []
    private(set) var largestByteCounts: [Int] = []
    private(set) var sent: [EncodedPacket] = []
    let servers: [ScriptedServer]
    private let hub: PacketHub
    private let away: Away
    private let requests: Requests
    private let reports: Mailbox<TargetReport>
    private var frameNumber = 0

    /// Servers that do not answer.
    private final class Away: Sendable { let hosts = Mutex<Set<String>>([]) }
    private final class Requests: Sendable { let count = Atomic(0) }

    init(targetCount: Int) throws {
        let (away, requests) = (Away(), Requests())
        (self.away, self.requests) = (away, requests)
        let hosts = (0..<targetCount).map { "server\($0).example" }
        servers = try hosts.map { host in
            try ScriptedServer { _ in
                away.hosts.withLock { $0.contains(host) } ? .unreachable(.timedOut(peer: host, .connect)) : .accept()
            }
        }
        hub = PacketHub(tracks: 2) { requests.count.add(1, ordering: .relaxed) }
        reports = try Mailbox()
        let media = MediaSettings(
            video: FakeCameraChoice.asAsked, audio: AudioSourceDescription.none, quality: .medium1,
            audioQuality: .standard, dimension: try VideoDimension(FrameSize(width: 64, height: 48)),
            encoder: FakeEncoderChoice.software)
        let destination = { (host: String) in
            PublishDestination(
                url: RTMPURL(scheme: .rtmp, host: host, application: "live", streamName: "key"))
        }
        let settings = PublishSettings(
            destinations: PublishDestinations([destination(hosts[0])]), media: media,
            quality: QualitySettings(videoQuality: .medium1, audioQuality: .standard), reconnectLimit: .endless)
        let network = ScriptedServer.network(Dictionary(uniqueKeysWithValues: zip(hosts, servers)))
        let surroundings = PublishTarget.Surroundings(
            settings: settings, network: network, hub: hub, reports: reports, reporter: EventSink { _ in })
        hub.append([EncodedPacket(kind: .audioHeader, decodeTime: .zero, payload: [0x12, 0x10])])
        targets = try hosts.enumerated().map { index, host in
            try PublishTarget(TargetID(index), to: destination(host), isLeading: index == 0, in: surroundings)
        }
        for target in targets { target.owner = self }
        longestDurations = targets.map { _ in .zero }
        largestByteCounts = targets.map { _ in 0 }
    }

    deinit { for target in targets { target.end() } }

    var keyframeRequests: Int { requests.count.load(ordering: .relaxed) }
    func happened(_ news: PublishTarget.News, to target: PublishTarget) {}

    func record() -> CollectingSink {
        let recording = CollectingSink()
        hub.add(recording)
        return recording
    }

    /// Until each server has taken the stream; media follows a second after the first of them has.
    func start() throws {
        for target in targets { target.start() }
        try #require(
            becomesTrue(within: .seconds(1)) {
                turn()
                return targets.allSatisfy(\.carriesMedia)
            })
    }

    /// Its server reads nothing more, and takes no other connection.
    func stallTheSecond() {
        away.hosts.withLock { _ = $0.insert("server1.example") }
        servers[1].perform(.stopReading, on: 1)
    }

    /// Its connection ends, and it takes no other one.
    func killTheSecond() {
        away.hosts.withLock { _ = $0.insert("server1.example") }
        servers[1].perform(.close, on: 1)
    }

    func recoverTheSecond() { away.hosts.withLock { _ = $0.remove("server1.example") } }

    /// 25 frames a second, a keyframe every 2 s, and as many audio packets.
    func send(seconds: Int) throws {
        let start = try #require(hub.start) + .seconds(1)
        for _ in 0..<seconds * 25 {
            let captured = start + .milliseconds(40) * frameNumber
            MonotonicClock.sleep(until: captured)
            if frameNumber == 0 { give([EncodedPacket(kind: .videoHeader, decodeTime: captured, payload: [1, 2, 3])]) }
            give([packet(.video(isKeyframe: frameNumber % 50 == 0), at: captured, byteCount: 2_000)])
            give([packet(.audio, at: captured, byteCount: 200)])
            frameNumber += 1
            turn()
        }
        // What is on its way arrives.
        MonotonicClock.sleep(until: start + .milliseconds(40) * frameNumber - .milliseconds(1))
        turn()
    }

    private func packet(_ kind: EncodedPacket.Kind, at time: MediaTimestamp, byteCount: Int) -> EncodedPacket {
        let number = (0..<4).map { UInt8(truncatingIfNeeded: frameNumber >> (8 * $0)) }
        return EncodedPacket(
            kind: kind, decodeTime: time, payload: number + [UInt8](repeating: 7, count: byteCount - 4))
    }

    private func give(_ packets: [EncodedPacket]) {
        sent += packets
        hub.append(packets)
    }

    /// As the thread `stream` does.
    private func turn() {
        for report in reports.takeAll() {
            let target = targets[report.target.number]
            switch report.content {
            case .connection(let event): target.connectionReported(event, links: nil)
            case .buffer(let events): target.bufferReported(events, isStalled: false)
            }
        }
        for (index, target) in targets.enumerated() {
            target.timePassed(now: MonotonicClock.now())
            longestDurations[index] = max(longestDurations[index], target.buffer.duration)
            largestByteCounts[index] = max(largestByteCounts[index], target.buffer.byteCount)
        }
    }

    /// The first server got what the server of a stream that has no other got.
    func expectThatTheFirstGotWhat(_ alone: Rig, seconds: Int) {
        let (expected, first) = (alone.servers[0][1], servers[0][1])
        #expect(expected.tags.count == seconds * 50 + 2 && servers[0].connectionCount == 1)
        #expect(first.tags.map(Received.init) == expected.tags.map(Received.init))
        #expect(first.receivedByteCount == expected.receivedByteCount)
        #expect(targets[0].buffer.sent.droppedFrames == 0 && longestDurations[0] <= .milliseconds(250))
    }

    /// Headers and a keyframe of the present, and every frame from there on.
    func expectThatTheSecondResumed() throws {
        let server = servers[1]
        let video = server[server.connectionCount].tags.filter { $0.kind == .video }
        try #require(video.count > 25 * 15)
        #expect(video[0].body[1] == 0 && Array(video[0].body.dropFirst(5)) == [1, 2, 3])
        #expect(video[1].body[0] == 0x17 && video[1].body[1] == 1)
        let numbers = video.dropFirst().map { tag in
            tag.body.dropFirst(5).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        #expect(numbers.first.map { $0 % 50 == 0 && $0 >= 70 * 25 } == true, "no older than the recovery")
        #expect(Array(numbers) == Array((numbers.first ?? 0)..<frameNumber))
    }

    func expectEveryPacket(in recording: CollectingSink) throws {
        let packets = recording.packets
        // It was there before the stream: the audio's header comes first.
        #expect(packets.first?.kind == .audioHeader)
        let media = packets.dropFirst()
        try #require(media.count == sent.count)
        #expect(zip(media, sent).allSatisfy { $0.kind == $1.kind && $0.decodeTime == $1.decodeTime })
        // The same bytes at the same place: nothing was copied.
        let isShared = zip(media, sent).allSatisfy { one, other in
            one.payload.withUnsafeBufferPointer { one in
                other.payload.withUnsafeBufferPointer { one.baseAddress == $0.baseAddress }
            }
        }
        #expect(isShared)
    }
}
