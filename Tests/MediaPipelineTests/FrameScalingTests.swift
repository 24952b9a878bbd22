import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import PipelineSupport
import SoftwareEncoding
import StreamLogic
import StreamQuality
import Testing

@testable import Encoding
@testable import MediaPipeline

/// A gray device frame that is counted while it is held.
private final class LeasedArray: FrameMemory {
    private let array: ArrayFrame
    private let lease: CountedMemory
    let dmabuf: Int32? = 1000

    init(_ byteCount: Int, _ leases: LeaseCount) {
        array = ArrayFrame([UInt8](repeating: 128, count: byteCount))
        lease = CountedMemory(leases)
    }

    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value { try array.withBytes(body) }
}

/// Frames of another size than the stream's, scaled by a scripted device or by the CPU.
@Suite(.serialized) struct FrameScalingTests {
    private let time = VirtualTime()
    private let node = unusedNode()
    private let script: ScriptedScaler.Script
    private let leases = LeaseCount()
    private let layout = FrameLayout(packed: .nv12, size: FrameSize(width: 128, height: 96))
    private let size = FrameSize(width: 64, height: 48)

    init() throws { script = try ScriptedScaler.Script() }

    private func device() -> ScalingDevice {
        ScalingDevice(path: node) { [script] layout, size in try ScriptedScaler(script, from: layout, to: size) }
    }

    /// - Parameter isLeased: whether it is in device memory.
    private func frame(_ layout: FrameLayout? = nil, isLeased: Bool = true) -> CapturedFrame {
        let layout = layout ?? self.layout
        let memory: any FrameMemory = isLeased ? LeasedArray(layout.byteCount, leases) : ArrayFrame(layout.black)
        return CapturedFrame(layout: layout, captureTime: MonotonicClock.now(), memory: memory)
    }

    private func started(_ device: ScalingDevice) -> (FrameScaling, FrameLayout, FrameMemoryKind) {
        var scaling = FrameScaling(to: size, by: device)
        let given = scaling.start(for: layout, .dmabuf)()
        return (scaling, given.layout, given.memory)
    }

    @Test func deviceScalesWithoutTheCPU() throws {
        try time.run {
            var (scaling, given, kind) = started(device())
            #expect(given == FrameLayout(packed: .nv12, size: size) && kind == .dmabuf)
            for _ in 0..<20 {
                let frame = frame()
                let scaled = try #require(try scaling.scale(frame))
                #expect(scaled.layout == given && scaled.dmabuf != nil && scaled.captureTime == frame.captureTime)
            }
            #expect(scaling.passCount == 0 && scaling.takeNote() == nil)
            // The source has its memory back.
            try wait { leases.value == 0 }
            scaling.close()
            try wait { script.content.withLock { $0.isClosed } }
        }
    }

    @Test func frameIsDroppedWithoutMemory() throws {
        try time.run {
            script.content.withLock { $0.room = 2 }
            var (scaling, _, _) = started(device())
            var held = [try scaling.scale(frame()), try scaling.scale(frame())]
            #expect(try scaling.scale(frame()) == nil)
            held.removeFirst()
            #expect(try scaling.scale(frame()) != nil)
            #expect(scaling.passCount == 0 && scaling.takeNote() == nil && held.count == 1)
            scaling.close()
        }
    }

    @Test func failedDeviceIsReplacedByTheCPUForGoodAndReportedOnce() throws {
        try time.run {
            script.content.withLock { $0.failsAt = 3 }
            let device = device()
            var (scaling, _, _) = started(device)
            for number in 1...6 {
                let scaled = try #require(try scaling.scale(frame()))
                #expect(scaled.layout.size == size && (scaled.dmabuf != nil) == (number < 3))
                let note = scaling.takeNote()
                #expect((note != nil) == (number == 3))
                if let note { #expect(note.hasPrefix("the scripted scaler broke; the processor scales")) }
            }
            #expect(scaling.passCount == 4 && leases.value == 0)
            // The stream's next encoder must not try or report it again.
            var next = FrameScaling(to: FrameSize(width: 32, height: 24), by: device)
            let given = next.start(for: layout, .dmabuf)()
            #expect(given.memory == .pooled && given.layout.format == .i420)
            #expect(try next.scale(frame())?.layout == given.layout)
            #expect(next.takeNote() == nil && script.content.withLock { $0.openings } == 1)
        }
    }

    @Test(arguments: [1, 4]) func hangingDriverBlocksNobodyAndHoldsNothing(_ number: Int) throws {
        try time.run {
            script.content.withLock { $0.hangsAt = number }
            var (scaling, _, _) = started(device())
            for _ in 1..<number { #expect(try scaling.scale(frame())?.dmabuf != nil) }
            let start = MonotonicClock.now()
            var slowest = Duration.zero
            // Frames are dropped until the device is given up.
            while true {
                let asked = MonotonicClock.now()
                let scaled = try scaling.scale(frame())
                slowest = max(slowest, MonotonicClock.now() - asked)
                if let scaled {
                    #expect(scaled.layout.size == size && scaled.dmabuf == nil)
                    break
                }
                #expect(scaling.takeNote() == nil)
                try #require(asked - start < .seconds(5))
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
            }
            #expect(slowest < .milliseconds(400) && MonotonicClock.now() - start > .milliseconds(950))
            #expect(scaling.takeNote()?.contains("has not returned for 1") == true)
            #expect(leases.value == 0, "the source has its memory back while the driver hangs")
            #expect(!script.content.withLock { $0.isClosed })
            script.release.signal()
            try wait { script.content.withLock { $0.isClosed } }
            #expect(try scaling.scale(frame())?.dmabuf == nil && scaling.takeNote() == nil)
        }
    }

    /// Its frame is too late for the stream and is dropped, but the next one is on time.
    @Test func driverThatIsLateOnceContinues() throws {
        try time.run {
            script.content.withLock { $0.hangsAt = 2 }
            var (scaling, _, _) = started(device())
            #expect(try scaling.scale(frame())?.dmabuf != nil)
            #expect(try scaling.scale(frame()) == nil)
            #expect(try scaling.scale(frame()) == nil)
            #expect(script.content.withLock { $0.frames } == 2, "what comes while one is inside is not queued")
            script.release.signal()
            try wait { leases.value == 0 && script.leases.value == 0 }
            #expect(try scaling.scale(frame())?.dmabuf != nil)
            #expect(scaling.passCount == 0 && scaling.takeNote() == nil)
            scaling.close()
        }
    }

    @Test func driverThatHangsWhileOpeningIsGivenUpSoon() throws {
        try time.run {
            script.content.withLock { $0.hangsInOpening = true }
            let start = MonotonicClock.now()
            var (scaling, given, kind) = started(device())
            #expect(MonotonicClock.now() - start < .milliseconds(2200))
            #expect(given == FrameLayout(packed: .i420, size: size) && kind == .pooled)
            #expect(try scaling.scale(frame())?.layout == given)
            #expect(scaling.takeNote()?.contains("\(node) has not returned for 1.5") == true)
            // It opens too late and is closed.
            script.release.signal()
            try wait { script.content.withLock { $0.isClosed } }
        }
    }

    @Test func deviceThatDoesNotOpenIsReportedWithTheFirstFrame() throws {
        try time.run { () throws in
            script.content.withLock { $0.failsToOpen = true }
            var (scaling, given, kind) = started(device())
            #expect(kind == .pooled)
            #expect(try scaling.scale(frame())?.layout == given)
            #expect(scaling.takeNote()?.hasPrefix("the scripted scaler broke") == true)
        }
    }

    @Test func cpuHandlesWhatDevicesCannot() throws {
        try time.run { () throws in
            let device = device()
            // Bars, a packed format, another format of the same size, ordinary memory.
            let wide = FrameLayout(packed: .nv12, size: FrameSize(width: 128, height: 64))
            let packed = FrameLayout(packed: .yuyv, size: layout.size)
            let same = FrameLayout(packed: .uyvy, size: size)
            for (layout, kind) in [
                (wide, .dmabuf), (packed, .dmabuf), (same, .dmabuf), (layout, FrameMemoryKind.pooled),
            ] {
                var scaling = FrameScaling(to: size, by: device)
                let given = scaling.start(for: layout, kind)()
                #expect(given.layout == FrameLayout(packed: .i420, size: size) && given.memory == .pooled)
                #expect(try scaling.scale(frame(layout, isLeased: kind == .dmabuf))?.layout == given.layout)
                #expect(scaling.passCount > 0 && scaling.takeNote() == nil)
            }
            #expect(script.content.withLock { $0.openings } == 0)
        }
    }

    @Test func cpuHandlesAReturningCameraWithOtherFrames() throws {
        try time.run { () throws in
            var (scaling, _, _) = started(device())
            #expect(try scaling.scale(frame())?.dmabuf != nil)
            let other = FrameLayout(packed: .nv12, size: FrameSize(width: 256, height: 192))
            #expect(try scaling.scale(frame(other))?.dmabuf == nil)
            #expect(try scaling.scale(frame())?.dmabuf != nil)
            #expect(scaling.passCount == 1 && scaling.takeNote() == nil)
            scaling.close()
        }
    }

    @Test func hardwareReadsScaledFramesInPlace() throws {
        try time.run {
            let encoders = try ScriptedEncoder.Script()
            let reports = try Mailbox<EncoderEvent>()
            let hub = PacketHub(tracks: 1)
            hub.mediaStarted(at: .zero)
            let output = VideoOutput(hub: hub, counters: SharedCounters(), report: reports.send)
            let configuration = VideoEncoderConfiguration(
                size: size, frameRate: FrameRate(framesPerSecond: 30), bitrate: Bitrate(kilobitsPerSecond: 264),
                profile: .baseline, level: .level3_0, keyframeInterval: 60)
            script.content.withLock { $0.failsAt = 11 }
            let opened = try Mailbox<String>()
            let encoder = try FallbackEncoder(
                path: unusedNode(), configuration: configuration,
                needs: EncoderNeeds(
                    frames: SourceFrames(layouts: SourceLayouts(layout), memoryKind: .dmabuf), inUse: EncoderInUse(),
                    output: output, report: reports.send),
                scalingDevice: device(), opening: .now
            ) { _, layout, kind, _ in
                opened.send("\(layout.format) \(layout.size) \(kind)")
                return ScriptedEncoder(encoders)
            }
            for number in 1...20 {
                try encoder.submit(frame())
                try wait { encoders.content.withLock { $0.inputs } == number }
                if number == 10 { #expect(encoder.conversionCount == 0) }
            }
            let content = encoders.content.withLock { $0 }
            #expect(content.sizes == [size] && content.ordinaryInputs == 10 && encoder.conversionCount == 10)
            #expect(opened.takeAll() == ["nv12 64x48 dmabuf"])
            let notes = reports.takeAll().compactMap { if case .note(let note) = $0 { note } else { nil } }
            #expect(notes.count == 1)
            try encoder.finish()
        }
    }

    private func wait(for condition: () -> Bool) throws {
        let end = MonotonicClock.now() + .seconds(10)
        while !condition() {
            try #require(MonotonicClock.now() < end)
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(5))
        }
    }
}
