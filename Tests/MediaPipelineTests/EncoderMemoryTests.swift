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
@testable import VideoCapture

private let size = FrameSize(width: 64, height: 48)
private let planar = FrameLayout(packed: .i420, size: size)
private let configuration = VideoEncoderConfiguration(
    size: size, frameRate: FrameRate(framesPerSecond: 30), bitrate: Bitrate(kilobitsPerSecond: 264),
    profile: .baseline, level: .level3_0, keyframeInterval: 60)

/// The frames that the hardware is opened for, and those that it gets.
@Suite(.serialized) struct EncoderMemoryTests {
    private let time = VirtualTime()
    private let hub: PacketHub
    private let queue: SinkBuffer
    private let counters = SharedCounters()
    private let control = EncoderRequests()
    private let reports: Mailbox<TrackEvent>
    private let stop: EventFD
    private let openings = Openings()

    init() throws {
        let media = try HubWithTarget { [control] in control.requestKeyframe() }
        (hub, queue) = (media.hub, media.target)
        hub.mediaStarted(at: .zero)
        reports = try Mailbox()
        stop = try EventFD()
    }

    private func encoder(_ layout: FrameLayout, _ kind: FrameMemoryKind) throws -> FallbackEncoder {
        let report: @Sendable (EncoderEvent) -> Void = { [reports] in reports.send(.encoder($0)) }
        return try FallbackEncoder(
            path: unusedNode(), configuration: configuration,
            needs: EncoderNeeds(
                frames: SourceFrames(layouts: SourceLayouts(layout), memoryKind: kind), inUse: EncoderInUse(),
                output: VideoOutput(hub: hub, counters: counters, report: report), report: report),
            opening: .now, openHardware: try openings.opening())
    }

    private func camera(_ memory: FakeCamera.Memory, size: FrameSize = size) -> FakeCamera.Script {
        FakeCamera.Script(layout: FrameLayout(packed: .i420, size: size), memory: memory, stop: stop)
    }

    private var encoderEvents: [StreamEvent] {
        reports.takeAll().compactMap { if case .encoder(.changed(let event)) = $0 { event } else { nil } }
    }

    @Test(arguments: [
        (planar, FrameMemoryKind.dmabuf, planar, FrameMemoryKind.dmabuf), (planar, .pooled, planar, .pooled),
        // Converted or scaled in software first.
        (FrameLayout(packed: .yuyv, size: size), .dmabuf, planar, .pooled),
        (FrameLayout(packed: .nv12, size: FrameSize(width: 128, height: 96)), .dmabuf, planar, .pooled),
    ]) func encoderIsOpenedForTheFramesItWillGet(
        layout: FrameLayout, kind: FrameMemoryKind, given: FrameLayout, memory: FrameMemoryKind
    ) throws {
        try time.run {
            let encoder = try encoder(layout, kind)
            #expect(openings.all.map(\.layout) == [given] && openings.all.map(\.kind) == [memory])
            try encoder.finish()
        }
    }

    /// The camera is unplugged while the hardware reads its memory, and then returns.
    @Test(arguments: [FakeCamera.Memory.dmabuf, .passingDMABUF])
    func returningCameraCausesNoRestartAndNoCopies(memory: FakeCamera.Memory) throws {
        try time.run {
            let script = camera(memory)
            let camera = try ResilientCamera(stop: stop, notify: { _ in }) { try FakeCamera(script) }
            let encoder = try encoder(camera.layout, camera.memoryKind)
            func submit(until condition: () -> Bool) throws {
                let end = MonotonicClock.now() + .seconds(10)
                while !condition() {
                    try #require(MonotonicClock.now() < end)
                    try encoder.submit(try #require(try camera.nextFrame()))
                }
            }
            try submit { counters.snapshot.encodedFrames > 10 }
            script.content.withLock { $0.isPluggedIn = false }
            let plug = JoinableThread(
                try NamedThread("plug") {
                    MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(900))
                    script.content.withLock { $0.isPluggedIn = true }
                })
            try submit { script.content.withLock { $0.openings } >= 2 && camera.statistics.interruptions == 1 }
            plug.join()
            let before = script.content.withLock { $0.frames }
            try submit { script.content.withLock { $0.frames } > before + 20 }
            try encoder.finish()
            let content = openings.script.content.withLock { $0 }
            #expect(content.inputs > 30 && content.ordinaryInputs == 0)
            #expect(openings.all.count == 1 && encoderEvents.isEmpty && encoder.conversionCount == 0)
        }
    }

    /// Someone plugs in another camera with another frame size.
    @Test func differentReturningCameraIsNotAnEncoderFault() throws {
        try time.run {
            let encoder = try encoder(planar, .pooled)
            let other = FrameLayout(packed: .i420, size: FrameSize(width: 128, height: 96))
            for (index, layout) in [planar, other, other, planar].enumerated() {
                try encoder.submit(
                    CapturedFrame(
                        layout: layout, captureTime: MonotonicClock.now(),
                        memory: ArrayFrame([UInt8](repeating: 128, count: layout.byteCount))))
                for _ in 0..<500 where counters.snapshot.encodedFrames <= index {
                    MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(10))
                }
            }
            #expect(counters.snapshot.encodedFrames == 4)
            #expect(openings.script.content.withLock { $0.sizes } == [size])
            #expect(encoderEvents.isEmpty)
            try encoder.finish()
        }
    }

    // MARK: Complete tracks

    private var hardwareChoice: FakeEncoderChoice {
        FakeEncoderChoice(mayUseSoftware: false) { [openings] configuration, needs in
            try FallbackEncoder(
                path: unusedNode(), configuration: configuration, needs: needs, opening: .now,
                openHardware: try openings.opening())
        }
    }

    /// - Returns: the tracks, and the resulting settings.
    private func tracks(_ script: FakeCamera.Script, rotation: FrameRotation = FrameRotation()) throws -> MediaTracks {
        var settings = MediaSettings(
            video: FakeCameraChoice { _ in script }, audio: AudioSourceDescription.none, quality: .medium1,
            audioQuality: .standard, dimension: try VideoDimension(size), encoder: hardwareChoice)
        settings.rotation = rotation
        let quality = QualitySettings(videoQuality: .medium1, audioQuality: nil)
        let point = QualityController(settings: quality, now: .zero).operatingPoint
        return try MediaTracks(
            settings: &settings, point: point, maximum: Bitrate(kilobitsPerSecond: 512),
            context: StreamContext(
                hub: hub, counters: counters, requests: control, reports: reports, stop: stop,
                reporter: EventSink { _ in }))
    }

    private func run(_ tracks: MediaTracks, until condition: () -> Bool) throws {
        for _ in 0..<1000 where !condition() {
            while queue.take() != nil {}
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(10))
        }
        let holds = condition()
        stop.signal()
        tracks.join()
        #expect(holds)
    }

    @Test(arguments: [
        // A camera's own memory, decoded frames, rotated frames.
        (FakeCamera.Memory.dmabuf, FrameRotation(), FrameMemoryKind.dmabuf), (.ordinary, FrameRotation(), .pooled),
        (.dmabuf, FrameRotation(.half), .pooled), (.dmabuf, FrameRotation(isMirrored: true), .pooled),
    ]) func sourceTellsTheEncoderItsMemoryKind(
        memory: FakeCamera.Memory, rotation: FrameRotation, kind: FrameMemoryKind
    ) throws {
        try time.run {
            let tracks = try tracks(camera(memory), rotation: rotation)
            tracks.start(from: .zero, until: nil)
            try run(tracks) { openings.script.content.withLock { $0.inputs } > 5 }
            let content = openings.script.content.withLock { $0 }
            #expect(openings.all.map(\.kind) == [kind])
            #expect(content.ordinaryInputs == (kind == .dmabuf ? 0 : content.inputs))
            #expect(encoderEvents.isEmpty)
        }
    }

    /// It does not pass through the stream's thread, which may be busy: nothing here takes that thread's reports.
    @Test func sendBuffersKeyframeRequestReachesTheEncoder() throws {
        try time.run {
            let tracks = try tracks(camera(.dmabuf))
            tracks.start(from: .zero, until: nil)
            for _ in 0..<1000 where counters.snapshot.encodedFrames < 5 {
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(10))
            }
            // The initial keyframe is gone, and the frames after it wait.
            while queue.take() != nil {}
            for _ in 0..<1000 where queue.waitingFrameCount < 3 {
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(10))
            }
            let before = openings.script.content.withLock { $0.keyframes }
            #expect(queue.discardWaitingVideo().contains(.keyframeNeeded))
            try run(tracks) { openings.script.content.withLock { $0.keyframes } == before + 1 }
        }
    }

    @Test func sendBufferRequestsAKeyframeOnTheDetectingThread() throws {
        try time.run {
            let requests = Atomic(0)
            let hub = try HubWithTarget { requests.add(1, ordering: .relaxed) }.hub
            hub.mediaStarted(at: .zero)
            let start = MonotonicClock.now()
            var appended = 0
            // Until the limit is exceeded, with no keyframe to continue from.
            while requests.load(ordering: .relaxed) == 0, appended < 200 {
                hub.append([
                    EncodedPacket(
                        kind: .video(isKeyframe: appended == 0), decodeTime: start + .milliseconds(33) * appended,
                        payload: [0])
                ])
                appended += 1
            }
            #expect(requests.load(ordering: .relaxed) == 1 && appended > 30 && appended < 200)
        }
    }
}

/// How the hardware was opened.
private final class Openings: Sendable {
    struct Opening: Sendable {
        let layout: FrameLayout
        let kind: FrameMemoryKind
    }

    private let content = Mutex<[Opening]>([])
    private let made = Mutex<ScriptedEncoder.Script?>(nil)

    var all: [Opening] { content.withLock { $0 } }

    /// The script of the opened hardware encoder.
    var script: ScriptedEncoder.Script {
        made.withLock { made in
            guard let made else { preconditionFailure("the hardware was not opened") }
            return made
        }
    }

    func opening() throws -> FallbackEncoder.HardwareOpening {
        let script = try ScriptedEncoder.Script()
        made.withLock { $0 = script }
        return { [self] _, layout, kind, _ in
            content.withLock { $0.append(Opening(layout: layout, kind: kind)) }
            return ScriptedEncoder(script)
        }
    }
}
