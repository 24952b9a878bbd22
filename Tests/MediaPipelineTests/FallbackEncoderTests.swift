import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import PipelineSupport
import SoftwareEncoding
import StreamLogic
import StreamQuality
import Synchronization
import Testing

@testable import Encoding
@testable import MediaPipeline

private struct Refusal: EncoderFailure {
    let isLackOfMemory = false
    var isRefusalOfSize = false
    var mayPassByItself: Bool { !isRefusalOfSize }
    let mayBeDeadFirmware = false
    var mayBeStale = false
}

/// A stream's encoder with scripted hardware and the real OpenH264.
@Suite(.serialized) struct FallbackEncoderTests {
    private let time = VirtualTime()
    private let node = unusedNode()
    private let hub: PacketHub
    private let queue: SinkBuffer
    private let counters = SharedCounters()
    private let reports: Mailbox<EncoderEvent>
    private let output: VideoOutput
    private let inUse = EncoderInUse()
    private let script: ScriptedEncoder.Script
    private let layout = FrameLayout(packed: .i420, size: FrameSize(width: 64, height: 48))
    private let configuration = VideoEncoderConfiguration(
        size: FrameSize(width: 64, height: 48), frameRate: FrameRate(framesPerSecond: 30),
        bitrate: Bitrate(kilobitsPerSecond: 264), profile: .baseline, level: .level3_0, keyframeInterval: 60)

    init() throws {
        let media = try HubWithTarget()
        (hub, queue) = (media.hub, media.target)
        hub.mediaStarted(at: .zero)
        reports = try Mailbox()
        output = VideoOutput(hub: hub, counters: counters, report: reports.send)
        script = try ScriptedEncoder.Script()
    }

    private func encoder(
        _ opening: FallbackEncoder.Opening = .now, refusal: Refusal? = nil, refusals: Int = .max
    ) throws -> FallbackEncoder {
        let script = script
        let refused = Mutex(0)
        return try FallbackEncoder(
            path: node, configuration: configuration,
            needs: EncoderNeeds(
                frames: SourceFrames(layouts: SourceLayouts(layout), memoryKind: .dmabuf), inUse: inUse,
                output: output, report: reports.send),
            opening: opening
        ) { _, _, _, _ in
            let count = refused.withLock { count in
                count += 1
                return count
            }
            if let refusal, count <= refusals { throw refusal }
            return ScriptedEncoder(script)
        }
    }

    private func frame() -> CapturedFrame {
        CapturedFrame(
            layout: layout, captureTime: MonotonicClock.now(), memory: ArrayFrame(layout.black))
    }

    /// Submits frames at 50 per second until the condition is true.
    private func submit(to encoder: FallbackEncoder, for limit: Duration, until condition: () -> Bool) throws {
        let end = MonotonicClock.now() + limit
        while !condition() {
            try #require(MonotonicClock.now() < end)
            counters.update { $0.capturedFrames += 1 }
            try encoder.submit(frame())
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
        }
    }

    private var events: [StreamEvent] {
        reports.takeAll().compactMap { if case .changed(let event) = $0 { event } else { nil } }
    }

    private func packets() -> [EncodedPacket] {
        var packets: [EncodedPacket] = []
        while let packet = queue.take() { packets.append(packet) }
        return packets
    }

    @Test func startFailsIfTheHardwareDoesNotStart() throws {
        try time.run { () throws in
            script.content.withLock { $0.failsAtStart = true }
            #expect(throws: ScriptedEncoder.Broken.self) { try encoder() }
        }
    }

    @Test func softwareBridgesAStallAndHardwareReturnsWithoutAGap() throws {
        try time.run {
            let encoder = try encoder()
            try submit(to: encoder, for: .seconds(5)) { counters.snapshot.encodedFrames > 10 }
            #expect(inUse.identity == .v4l2(node))
            // It delivers nothing any longer and closes slowly.
            script.content.withLock { content in
                content.isSilent = true
                content.closing = .milliseconds(2500)
            }
            var reported: [StreamEvent] = []
            try submit(to: encoder, for: .seconds(10)) {
                reported += events
                return reported.contains { if case .softwareEncoderInUse = $0 { true } else { false } }
            }
            #expect(inUse.identity == .software)
            script.content.withLock { content in
                content.isSilent = false
                content.closing = .zero
            }
            _ = packets()
            try submit(to: encoder, for: .seconds(10)) { inUse.identity.isHardware }
            let before = counters.snapshot.encodedFrames
            try submit(to: encoder, for: .seconds(5)) { counters.snapshot.encodedFrames > before + 10 }
            let times = packets().filter { $0.kind != .videoHeader }.map(\.decodeTime)
            let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
            #expect(
                (gaps.max() ?? .zero) < .milliseconds(300), "software and hardware go on from one frame to the next")
            try encoder.finish()
        }
    }

    @Test func everyFrameComesOutOrIsCountedAsSkipped() throws {
        try time.run {
            script.content.withLock { content in
                content.frameTime = .milliseconds(45)
                content.room = 4
            }
            let encoder = try encoder()
            // Taken continuously, because the send buffer holds only three seconds.
            var taken = 0
            try submit(to: encoder, for: .seconds(30)) {
                taken += packets().count { $0.kind != .videoHeader }
                return counters.snapshot.capturedFrames == 80
            }
            #expect(encoder.pendingFrameCount <= 5)
            try encoder.finish()
            #expect(encoder.pendingFrameCount == 0)
            taken += packets().count { $0.kind != .videoHeader }
            let encoded = counters.snapshot.encodedFrames
            #expect(encoded > 10 && encoded <= 80 && encoded == taken)
        }
    }

    @Test func streamWithoutItsHardwareStartsInSoftware() throws {
        try time.run {
            let encoder = try encoder(.failed(Refusal()))
            try submit(to: encoder, for: .seconds(5)) { counters.snapshot.encodedFrames > 3 }
            #expect(inUse.identity == .software && script.content.withLock { $0.starts } == 0)
            #expect(packets().first?.kind == .videoHeader)
            #expect(events.count == 1)
            try encoder.finish()
        }
    }

    /// After a firmware problem, a driver delivers nothing at the next opening and works at the one after that.
    @Test func streamStartsInHardwareThatWasSilentOnce() throws {
        try time.run {
            let encoder = try encoder(.persistently, refusal: Refusal(mayBeStale: true), refusals: 1)
            try submit(to: encoder, for: .seconds(5)) { counters.snapshot.encodedFrames > 3 }
            #expect(inUse.identity == .v4l2(node) && events.isEmpty)
            try encoder.finish()
        }
    }

    @Test(arguments: [(stale: true, refusals: 2), (stale: false, refusals: 1)])
    func streamFailsToStartWithHardwareThatStaysSilentOrRefuses(stale: Bool, refusals: Int) throws {
        try time.run { () throws in
            #expect(throws: Refusal.self) {
                try encoder(.persistently, refusal: Refusal(mayBeStale: stale), refusals: refusals)
            }
        }
    }

    @Test func anotherEncoderThatIsOpeningDelaysNobody() throws {
        try time.run {
            let start = MonotonicClock.now()
            let encoder = try encoder(.meanwhile)
            #expect(MonotonicClock.now() - start < .milliseconds(200))
            try submit(to: encoder, for: .seconds(5)) { counters.snapshot.encodedFrames > 3 }
            #expect(inUse.identity == .v4l2(node) && events.isEmpty)
            try encoder.finish()
        }
    }

    /// If the stream was restarted for this size, it goes back; until then, software encodes.
    @Test func hardwareReportsAnUnsupportedSize() throws {
        try time.run {
            let encoder = try encoder(.meanwhile, refusal: Refusal(isRefusalOfSize: true))
            try submit(to: encoder, for: .seconds(5)) { counters.snapshot.encodedFrames > 3 }
            let refused = reports.takeAll().compactMap {
                if case .sizeNotOpened(_, let size) = $0 { size } else { nil }
            }
            #expect(Set(refused) == [configuration.size])
            #expect(inUse.identity == .software)
            try encoder.finish()
        }
    }
}
