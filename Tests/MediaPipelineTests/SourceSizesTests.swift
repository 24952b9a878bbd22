import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import PipelineSupport
import SoftwareEncoding
import StreamLogic
import StreamQuality
import Synchronization
import SyntheticSources
import Testing

@testable import Encoding
@testable import MediaPipeline

/// A camera that itself delivers two frame sizes, from opening to encoding, with scripted hardware for each size.
@Suite(.serialized) struct SourceSizesTests {
    private let time = VirtualTime()

    private static let large = FrameSize(width: 240, height: 144)
    private static let small = FrameSize(width: 120, height: 72)
    private static let smallest = FrameSize(width: 80, height: 48)
    private static let largeLayout = FrameLayout(packed: .nv12, size: large)
    private static let smallLayout = FrameLayout(packed: .i420, size: small)

    private let hub: PacketHub
    private let queue: SinkBuffer
    private let counters = SharedCounters()
    private let control = EncoderRequests()
    private let reports: Mailbox<TrackEvent>
    private let stop: EventFD
    private let script: FakeCamera.Script
    private let hardware = Hardware()

    init() throws {
        let media = try HubWithTarget()
        (hub, queue) = (media.hub, media.target)
        hub.mediaStarted(at: .zero)
        reports = try Mailbox()
        stop = try EventFD()
        script = FakeCamera.Script(layout: Self.largeLayout, memory: .dmabuf, stop: stop)
        script.content.withLock { $0.smaller = Self.smallLayout }
    }

    // MARK: The stream

    private func tracks(
        _ encoder: (any VideoEncoderChoice)? = nil, rotation: FrameRotation = FrameRotation(), mayResize: Bool = true,
        dimension: FrameSize = large, asked: AskedSizes = AskedSizes()
    ) throws -> MediaTracks {
        var settings = MediaSettings(
            video: FakeCameraChoice { [script] wish in
                asked.sizes.withLock { $0.append(wish.secondSize) }
                return script
            }, audio: AudioSourceDescription.none, quality: .medium1,
            audioQuality: .standard, dimension: try VideoDimension(dimension),
            encoder: encoder ?? scriptedChoice(hardware))
        settings.rotation = rotation
        settings.mayResize = mayResize
        let quality = QualitySettings(videoQuality: .medium1, audioQuality: nil)
        let point = QualityController(settings: quality, now: .zero).operatingPoint
        return try MediaTracks(
            settings: &settings, point: point, maximum: Bitrate(kilobitsPerSecond: 512),
            context: StreamContext(
                hub: hub, counters: counters, requests: control, reports: reports, stop: stop,
                reporter: EventSink { _ in }))
    }

    /// Waits while the sender takes packets.
    private func wait(_ frames: Frames, until condition: () -> Bool) throws {
        let end = MonotonicClock.now() + .seconds(10)
        while !condition() {
            try #require(MonotonicClock.now() < end)
            frames.take(from: queue)
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(5))
        }
    }

    private func resize(_ tracks: MediaTracks, to size: FrameSize) throws {
        var configuration = try #require(tracks.videoConfiguration)
        configuration.size = size
        control.perform([], resize: configuration)
    }

    /// Waits until the most recently opened hardware of a size encodes.
    private func waitForInputs(_ frames: Frames, _ size: FrameSize, opening: Int = 1, count: Int = 12) throws {
        try wait(frames) { hardware.inputs(size, opening: opening) >= count }
    }

    private func end(_ tracks: MediaTracks, _ frames: Frames) {
        stop.signal()
        tracks.join()
        frames.take(from: queue)
    }

    /// The sender's frames, identified by the last byte of the encoder input's byte count, with their capture times.
    private final class Frames {
        private(set) var all: [(isKeyframe: Bool, byte: UInt8, time: MediaTimestamp)] = []

        func take(from queue: SinkBuffer) {
            while let packet = queue.take() {
                guard case .video(let isKeyframe) = packet.kind else { continue }
                all.append((isKeyframe, packet.payload.first ?? 0, packet.decodeTime))
            }
        }

        /// The sequence of sizes.
        var sizes: [FrameSize?] {
            let known = [SourceSizesTests.large, SourceSizesTests.small].map { ($0, byte($0)) }
            return all.map(\.byte).reduce(into: [] as [UInt8]) { if $0.last != $1 { $0.append($1) } }
                .map { byte in known.first { $0.1 == byte }?.0 }
        }

        /// The first frame of each size is a keyframe.
        var startsWithKeyframes: Bool {
            zip(all, all.dropFirst()).allSatisfy { $0.byte == $1.byte || $1.isKeyframe }
        }

        private func byte(_ size: FrameSize) -> UInt8 {
            UInt8(truncatingIfNeeded: FrameLayout(packed: .i420, size: size).byteCount)
        }
    }

    private var notes: [String] {
        reports.takeAll().compactMap { if case .encoder(.note(let note)) = $0 { note } else { nil } }
    }

    private var selected: [FrameSize] { script.content.withLock { $0.selectedSizes } }

    // MARK: Tests

    @Test func cameraDeliversTheSmallerFramesAndTheLargerOnesAgain() throws {
        try time.run {
            let (tracks, frames) = (try tracks(), Frames())
            tracks.start(from: .zero, until: nil)
            try waitForInputs(frames, Self.large)
            try resize(tracks, to: Self.small)
            try waitForInputs(frames, Self.small)
            try resize(tracks, to: Self.large)
            try waitForInputs(frames, Self.large, opening: 2)
            end(tracks, frames)
            #expect(frames.sizes == [Self.large, Self.small, Self.large] && frames.startsWithKeyframes)
            // Every frame of the camera came out: none was dropped, none was mapped.
            #expect(counters.snapshot.encodedFrames == counters.snapshot.capturedFrames)
            #expect(counters.snapshot.conversions == 0)
            #expect(hardware.layouts == [Self.largeLayout, Self.smallLayout, Self.largeLayout])
            #expect(hardware.hasOnlyItsOwn && selected == [Self.small, Self.large] && notes == [])
        }
    }

    /// Unneeded frames are not even exposed.
    @Test func cameraIsAskedForTheQualitysFrameRate() throws {
        try time.run {
            let (tracks, frames) = (try tracks(), Frames())
            tracks.start(from: .zero, until: nil)
            try waitForInputs(frames, Self.large)
            for rate in [12, 30] {
                let wanted = FrameRate(framesPerSecond: rate)
                let bitrate = Bitrate(kilobitsPerSecond: 200)
                control.perform([.setVideo(bitrate: bitrate, frameRate: wanted, stretchesKeyframes: false)])
                try wait(frames) { script.content.withLock { $0.selectedRates.last } == wanted }
            }
            end(tracks, frames)
            #expect(script.content.withLock { $0.selectedRates.map(\.framesPerSecond) } == [30, 12, 30])
        }
    }

    /// As with the policy `restart`: another encoder replaces the present one.
    @Test func replacementEncoderGetsItsOwnSize() throws {
        try time.run {
            let (tracks, frames) = (try tracks(), Frames())
            tracks.start(from: .zero, until: nil)
            try waitForInputs(frames, Self.large)
            var configuration = try #require(tracks.videoConfiguration)
            configuration.size = Self.small
            control.perform([], replacement: configuration)
            try waitForInputs(frames, Self.small)
            configuration.size = Self.large
            control.perform([], replacement: configuration)
            try waitForInputs(frames, Self.large, opening: 2)
            end(tracks, frames)
            #expect(selected == [Self.small, Self.large])
            #expect(hardware.hasOnlyItsOwn && counters.snapshot.conversions == 0)
        }
    }

    @Test func evenSmallerFramesAreScaledFromTheCamerasSmallerOnes() throws {
        try time.run {
            let scaler = try ScriptedScaler.Script()
            let scaled = try Mailbox<FrameLayout>()
            let device = ScalingDevice(path: unusedNode()) { layout, size in
                scaled.send(layout)
                return try ScriptedScaler(scaler, from: layout, to: size)
            }
            let (tracks, frames) = (try tracks(scriptedChoice(hardware, device)), Frames())
            tracks.start(from: .zero, until: nil)
            try waitForInputs(frames, Self.large)
            try resize(tracks, to: Self.smallest)
            try waitForInputs(frames, Self.smallest)
            end(tracks, frames)
            #expect(scaled.takeAll() == [Self.smallLayout] && selected == [Self.small])
            #expect(hardware.hasOnlyItsOwn && counters.snapshot.conversions == 0)
        }
    }

    @Test func framesAreScaledIfTheCameraIgnoresTheSize() throws {
        try time.run {
            script.content.withLock { $0.ignoresSize = true }
            let (tracks, frames) = (try tracks(), Frames())
            tracks.start(from: .zero, until: nil)
            try waitForInputs(frames, Self.large)
            try resize(tracks, to: Self.small)
            try waitForInputs(frames, Self.small, opening: 2)
            #expect(hardware.inputs(Self.small, opening: 1) == 0, "it waits for frames that do not come")
            #expect(counters.snapshot.conversions >= 12)
            try resize(tracks, to: Self.large)
            try waitForInputs(frames, Self.large, opening: 2)
            try resize(tracks, to: Self.small)
            try waitForInputs(frames, Self.small, opening: 3)
            end(tracks, frames)
            #expect(
                notes.filter { $0.contains("does not deliver 120x72") }.count == 1, "it is not asked again")
            #expect(selected == [Self.small, Self.large] && hardware.sizesAreRight)
            #expect(counters.snapshot.encodedFrames == counters.snapshot.capturedFrames)
        }
    }

    @Test func returningCameraIsAskedForTheSameSize() throws {
        try time.run {
            let (tracks, frames) = (try tracks(), Frames())
            tracks.start(from: .zero, until: nil)
            try waitForInputs(frames, Self.large)
            try resize(tracks, to: Self.small)
            try waitForInputs(frames, Self.small)
            script.content.withLock { $0.isPluggedIn = false }
            try wait(frames) { script.content.withLock { $0.openings } >= 2 }
            script.content.withLock { $0.isPluggedIn = true }
            let before = script.content.withLock { $0.frames }
            try wait(frames) { script.content.withLock { $0.frames } > before + 12 }
            end(tracks, frames)
            #expect(selected == [Self.small, Self.small] && frames.sizes == [Self.large, Self.small])
            #expect(hardware.hasOnlyItsOwn && counters.snapshot.conversions == 0)
        }
    }

    /// The camera no longer offers a second size, so its frames are scaled and never encoded in the wrong size.
    @Test func returningCameraWithOneSizeIsScaled() throws {
        try time.run {
            let (tracks, frames) = (try tracks(), Frames())
            tracks.start(from: .zero, until: nil)
            try waitForInputs(frames, Self.large)
            try resize(tracks, to: Self.small)
            try waitForInputs(frames, Self.small)
            script.content.withLock { content in
                content.isPluggedIn = false
                content.smaller = nil
            }
            try wait(frames) { script.content.withLock { $0.openings } >= 2 }
            script.content.withLock { $0.isPluggedIn = true }
            try wait(frames) { counters.snapshot.conversions >= 12 }
            end(tracks, frames)
            #expect(frames.sizes == [Self.large, Self.small] && hardware.sizesAreRight)
        }
    }

    /// The previous encoder is gone when the camera changes its size, so late frames of the old size are dropped.
    @Test func noFrameIsScaledIfMemoryAllowsOnlyOneEncoder() throws {
        try time.run {
            hardware.allowsTwo.withLock { $0 = false }
            let (tracks, frames) = (try tracks(), Frames())
            tracks.start(from: .zero, until: nil)
            try waitForInputs(frames, Self.large)
            try resize(tracks, to: Self.small)
            try waitForInputs(frames, Self.small)
            end(tracks, frames)
            #expect(hardware.hasOnlyItsOwn && counters.snapshot.conversions == 0)
        }
    }

    /// Back to the large size while the camera still delivers the previous one.
    @Test func lastOfSeveralSizesCounts() throws {
        try time.run {
            script.content.withLock { $0.framesUnderWay = 15 }
            let (tracks, frames) = (try tracks(), Frames())
            tracks.start(from: .zero, until: nil)
            try waitForInputs(frames, Self.large)
            try resize(tracks, to: Self.small)
            try wait(frames) { selected == [Self.small] }
            try resize(tracks, to: Self.large)
            let before = hardware.inputs(Self.large, opening: 1)
            try wait(frames) { selected == [Self.small, Self.large] }
            try wait(frames) { hardware.inputs(Self.large, opening: 1) >= before + 30 }
            end(tracks, frames)
            #expect(frames.sizes == [Self.large] && hardware.hasOnlyItsOwn && counters.snapshot.conversions == 0)
        }
    }

    @Test func smallerFramesReduceTheSoftwareEncodersWork() throws {
        try time.run {
            let software = FakeEncoderChoice(mayUseSoftware: true) { configuration, needs in
                try SoftwareVideoEncoder(configuration, needs) { try OpenH264Encoder(configuration: $0) }
            }
            let (tracks, frames) = (try tracks(software), Frames())
            tracks.start(from: .zero, until: nil)
            try wait(frames) { counters.snapshot.encodedFrames > 10 }
            // NV12 must be converted.
            #expect(counters.snapshot.conversions > 0)
            try resize(tracks, to: Self.small)
            try wait(frames) { selected == [Self.small] }
            let before = counters.snapshot.encodedFrames
            try wait(frames) { counters.snapshot.encodedFrames > before + 5 }
            let (passes, encoded) = (counters.snapshot.conversions, counters.snapshot.encodedFrames)
            try wait(frames) { counters.snapshot.encodedFrames > encoded + 10 }
            end(tracks, frames)
            #expect(counters.snapshot.conversions == passes, "I420 of the right size is read as it is")
        }
    }

    @Test(
        arguments: [
            (FrameRotation(), true, FrameSize(width: 320, height: 240)), (FrameRotation(), false, nil),
            (FrameRotation(.half), true, FrameSize(width: 320, height: 240)), (FrameRotation(.clockwise90), true, nil),
        ] as [(FrameRotation, Bool, FrameSize?)])
    func secondSizeIsRequestedOnlyIfUseful(rotation: FrameRotation, mayResize: Bool, size: FrameSize?) throws {
        try time.run {
            let asked = AskedSizes()
            _ = try tracks(
                rotation: rotation, mayResize: mayResize, dimension: FrameSize(width: 640, height: 480), asked: asked)
            #expect(asked.sizes.withLock { $0 } == [size])
        }
    }

    @Test func nearestLayoutHasTheSameShapeAndIsNotSmaller() throws {
        time.run {
            let layouts = SourceLayouts(Self.largeLayout, smaller: [Self.smallLayout])
            for (size, nearest) in [
                (Self.large, Self.largeLayout), (FrameSize(width: 160, height: 96), Self.largeLayout),
                (Self.small, Self.smallLayout), (Self.smallest, Self.smallLayout),
                (FrameSize(width: 64, height: 36), Self.largeLayout),
            ] {
                #expect(layouts.nearest(to: size) == nearest, "\(size)")
            }
            let packed = SourceLayouts(Self.largeLayout, smaller: [FrameLayout(packed: .yuyv, size: Self.small)])
            #expect(packed.nearest(to: Self.small) == Self.largeLayout)
        }
    }
}

/// Scripted hardware, new for each opening.
private final class Hardware: Sendable {
    private struct Opening {
        let size: FrameSize
        let layout: FrameLayout
        let script: ScriptedEncoder.Script
    }

    let node = unusedNode()
    private let openings = Mutex<[Opening]>([])
    /// Whether two encoders may be open at once.
    let allowsTwo = Mutex(true)

    struct NoMemory: EncoderFailure {
        let isLackOfMemory = true
        let isRefusalOfSize = false
        let mayPassByItself = false
        let mayBeDeadFirmware = false
    }

    func open(_ configuration: VideoEncoderConfiguration, _ layout: FrameLayout) throws -> any PolledVideoEncoder {
        try openings.withLock { openings in
            let isOpen = openings.contains { opening in opening.script.content.withLock { !$0.isClosed } }
            if isOpen, !allowsTwo.withLock({ $0 }) { throw NoMemory() }
            let script = try ScriptedEncoder.Script()
            openings.append(Opening(size: configuration.size, layout: layout, script: script))
            return ScriptedEncoder(script)
        }
    }

    /// The frames that it was opened for.
    var layouts: [FrameLayout] { openings.withLock { $0.map(\.layout) } }

    /// - Parameter opening: opening of that size, counted from 1.
    func inputs(_ size: FrameSize, opening: Int) -> Int {
        let of = openings.withLock { $0.filter { $0.size == size } }
        return of.count < opening ? 0 : of[opening - 1].script.content.withLock { $0.inputs }
    }

    /// Every frame had the encoder's size.
    var sizesAreRight: Bool {
        openings.withLock { openings in
            openings.allSatisfy { opening in opening.script.content.withLock { $0.sizes }.isSubset(of: [opening.size]) }
        }
    }

    /// Like `sizesAreRight`; and all frames were in device memory.
    var hasOnlyItsOwn: Bool {
        sizesAreRight
            && openings.withLock {
                $0.allSatisfy { opening in opening.script.content.withLock { $0.ordinaryInputs } == 0 }
            }
    }
}

private final class AskedSizes: Sendable {
    let sizes = Mutex<[FrameSize?]>([])
}

private func scriptedChoice(_ hardware: Hardware, _ device: ScalingDevice? = nil) -> FakeEncoderChoice {
    FakeEncoderChoice(mayUseSoftware: false) { configuration, needs in
        try FallbackEncoder(
            path: hardware.node, configuration: configuration, needs: needs, scalingDevice: device, opening: .now
        ) { configuration, layout, _, _ in try hardware.open(configuration, layout) }
    }
}
