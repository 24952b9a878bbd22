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

/// Changes the frame size while hardware encodes. Each size has its own scripted hardware.
@Suite(.serialized) struct FallbackEncoderResizingTests {
    private let time = VirtualTime()
    private let node = unusedNode()
    private static let large = FrameSize(width: 160, height: 120)
    private static let small = FrameSize(width: 80, height: 60)

    private let hub: PacketHub
    private let queue: SinkBuffer
    private let counters = SharedCounters()
    private let reports: Mailbox<EncoderEvent>
    private let hardware = Hardware()

    /// The hardware that opens for a size, or why it does not.
    private final class Hardware: Sendable {
        struct Opening {
            let size: FrameSize
            let isProven: Bool
        }

        let openings = Mutex<[Opening]>([])
        let refusals = Mutex<[FrameSize: Refusal]>([:])
        let scripts = Mutex<[FrameSize: ScriptedEncoder.Script]>([:])
        /// Whether two encoders may be open at once.
        let allowsTwo = Mutex(true)

        func open(_ configuration: VideoEncoderConfiguration, isProven: Bool) throws -> any PolledVideoEncoder {
            let size = configuration.size
            openings.withLock { $0.append(Opening(size: size, isProven: isProven)) }
            if let refusal = refusals.withLock({ $0[size] }) { throw refusal }
            let others = scripts.withLock { $0.filter { $0.key != size }.values.map { $0 } }
            let isOpen = others.contains { other in other.content.withLock { $0.starts > 0 && !$0.isClosed } }
            if isOpen, !allowsTwo.withLock({ $0 }) { throw Refusal(isLackOfMemory: true) }
            let script = try ScriptedEncoder.Script()
            scripts.withLock { $0[size] = script }
            return ScriptedEncoder(script)
        }

        func inputs(_ size: FrameSize) -> Int {
            scripts.withLock { $0[size] }?.content.withLock { $0.inputs } ?? 0
        }
    }

    private struct Refusal: EncoderFailure, CustomStringConvertible {
        var isLackOfMemory = false
        let isRefusalOfSize = false
        let mayPassByItself = false
        let mayBeDeadFirmware = false
        var description: String { isLackOfMemory ? "no memory" : "no such size" }
    }

    init() throws {
        let media = try HubWithTarget()
        (hub, queue) = (media.hub, media.target)
        hub.mediaStarted(at: .zero)
        reports = try Mailbox()
    }

    private func configuration(_ size: FrameSize) -> VideoEncoderConfiguration {
        VideoEncoderConfiguration(
            size: size, frameRate: FrameRate(framesPerSecond: 30), bitrate: Bitrate(kilobitsPerSecond: 264),
            profile: .baseline, level: .level3_0, keyframeInterval: 60)
    }

    private func encoder() throws -> FallbackEncoder {
        let hardware = hardware
        return try FallbackEncoder(
            path: node, configuration: configuration(Self.large),
            needs: EncoderNeeds(
                frames: SourceFrames(
                    layouts: SourceLayouts(FrameLayout(packed: .i420, size: Self.large)), memoryKind: .pooled),
                inUse: EncoderInUse(), output: VideoOutput(hub: hub, counters: counters, report: reports.send),
                report: reports.send),
            opening: .now
        ) { configuration, _, _, isProven in try hardware.open(configuration, isProven: isProven) }
    }

    private func submit(to encoder: FallbackEncoder, for limit: Duration = .seconds(5), until condition: () -> Bool)
        throws
    {
        let layout = FrameLayout(packed: .i420, size: Self.large)
        let end = MonotonicClock.now() + limit
        while !condition() {
            try #require(MonotonicClock.now() < end)
            counters.update { $0.capturedFrames += 1 }
            try encoder.submit(
                CapturedFrame(layout: layout, captureTime: MonotonicClock.now(), memory: ArrayFrame(layout.black)))
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
        }
    }

    private var refusals: [String] {
        reports.takeAll().compactMap { if case .sizeRefused(let reason, _) = $0 { reason } else { nil } }
    }

    /// The encoded frames by the byte count of their input, and whether each is a keyframe.
    private func frames() -> [(isKeyframe: Bool, byte: UInt8, time: MediaTimestamp)] {
        var frames: [(isKeyframe: Bool, byte: UInt8, time: MediaTimestamp)] = []
        while let packet = queue.take() {
            if case .video(let isKeyframe) = packet.kind {
                frames.append((isKeyframe, packet.payload.first ?? 0, packet.decodeTime))
            }
        }
        return frames
    }

    private func byte(_ size: FrameSize) -> UInt8 {
        UInt8(truncatingIfNeeded: FrameLayout(packed: .i420, size: size).byteCount)
    }

    @Test func nextEncoderOpensInParallelAndNoFrameIsMissing() throws {
        try time.run {
            let encoder = try encoder()
            try submit(to: encoder) { counters.snapshot.encodedFrames > 5 }
            try encoder.resize(to: configuration(Self.small))
            try submit(to: encoder) { hardware.inputs(Self.small) > 10 }
            try encoder.finish()
            let frames = frames()
            // 160x120 and 80x60 differ in this byte. The first small frame is a keyframe, and all later ones are small.
            let first = try #require(frames.firstIndex { $0.byte == byte(Self.small) })
            #expect(frames[first].isKeyframe)
            #expect(frames[first...].allSatisfy { $0.byte == byte(Self.small) })
            #expect(frames.count == counters.snapshot.capturedFrames, "none is missing")
            #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.time < $1.time })
            #expect(hardware.openings.withLock { $0.map(\.isProven) } == [false, true])
            #expect(refusals == [])
        }
    }

    @Test func presentEncoderClosesFirstIfMemoryAllowsOnlyOne() throws {
        try time.run {
            hardware.allowsTwo.withLock { $0 = false }
            let encoder = try encoder()
            try submit(to: encoder) { counters.snapshot.encodedFrames > 5 }
            try encoder.resize(to: configuration(Self.small))
            try submit(to: encoder) { hardware.inputs(Self.small) > 5 }
            #expect(encoder.configuration.size == Self.small)
            #expect(refusals == [])
        }
    }

    @Test func refusedSizeIsReportedOnceAndTheStreamContinues() throws {
        try time.run {
            hardware.refusals.withLock { $0[Self.small] = Refusal() }
            let encoder = try encoder()
            try submit(to: encoder) { counters.snapshot.encodedFrames > 5 }
            try encoder.resize(to: configuration(Self.small))
            let before = hardware.inputs(Self.large)
            try submit(to: encoder) { hardware.inputs(Self.large) > before + 20 }
            #expect(refusals == ["no such size"])
            #expect(encoder.configuration.size == Self.large)
            #expect(hardware.openings.withLock { $0.count } == 2, "it is not tried again")
        }
    }

    @Test func lastOfSeveralSizesCounts() throws {
        try time.run {
            let encoder = try encoder()
            try submit(to: encoder) { counters.snapshot.encodedFrames > 5 }
            try encoder.resize(to: configuration(Self.small))
            try encoder.resize(to: configuration(Self.large))
            let before = hardware.inputs(Self.large)
            try submit(to: encoder) { hardware.inputs(Self.large) > before + 10 }
            #expect(encoder.configuration.size == Self.large)
            #expect(frames().allSatisfy { $0.byte == byte(Self.large) })
        }
    }

    @Test func settingsDuringTheChangeApplyToTheNextEncoder() throws {
        try time.run {
            let encoder = try encoder()
            try submit(to: encoder) { counters.snapshot.encodedFrames > 5 }
            try encoder.resize(to: configuration(Self.small))
            try encoder.setBitrate(Bitrate(kilobitsPerSecond: 200))
            try submit(to: encoder) { hardware.inputs(Self.small) > 5 }
            #expect(encoder.configuration.bitrate == Bitrate(kilobitsPerSecond: 200))
        }
    }

    @Test func softwareFallbackChangesItsSize() throws {
        try time.run {
            let encoder = try encoder()
            try submit(to: encoder) { counters.snapshot.encodedFrames > 5 }
            hardware.scripts.withLock { $0[Self.large] }?.content.withLock {
                $0.failsAt = 1; $0.isSilent = true
            }
            hardware.refusals.withLock { $0 = [Self.large: Refusal(), Self.small: Refusal()] }
            try submit(to: encoder, for: .seconds(15)) { encoder.isInSoftware }
            try encoder.resize(to: configuration(Self.small))
            try submit(to: encoder, for: .seconds(15)) { encoder.configuration.size == Self.small }
            _ = frames()
            let before = counters.snapshot.encodedFrames
            try submit(to: encoder) { counters.snapshot.encodedFrames > before + 5 }
            #expect(!frames().isEmpty)
            #expect(refusals == [])
        }
    }
}

extension FallbackEncoder {
    fileprivate var isInSoftware: Bool { recovery.usesSoftware && software != nil }
}
