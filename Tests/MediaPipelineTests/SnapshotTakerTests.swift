import DevicePorts
import Filters
import FrameFiltering
import LinuxIO
import Media
import MediaTestSupport
import PipelineSupport
import StreamLogic
import StreamQuality
import Synchronization
import SyntheticSources
import Testing

@testable import MediaPipeline

/// Snapshots of frames, taken beside the encoders.
@Suite struct SnapshotTakerTests {
    private static let layout = FrameLayout(packed: .i420, size: FrameSize(width: 64, height: 48))
    private let answers: Mailbox<SnapshotAnswer>
    private let taker: SnapshotTaker

    init() throws {
        let answers = try Mailbox<SnapshotAnswer>()
        self.answers = answers
        taker = try SnapshotTaker { answers.send($0) }
    }

    /// A source whose frames come from the test.
    private final class GivenFrames: VideoSource {
        let layout = SnapshotTakerTests.layout
        let frameRate = FrameRate(framesPerSecond: 25)
        let endingNote: String? = nil
        let cameraModel: String? = "imx708"
        func nextFrame() throws -> CapturedFrame? { nil }
    }

    /// Signals when it is no longer held. Reading it blocks until that is allowed.
    private final class GatedFrame: FrameMemory {
        private let bytes: [UInt8]
        private let mayBeRead: EventFD
        private let isFree: EventFD

        init(luma: UInt8, mayBeRead: EventFD, isFree: EventFD) {
            let pixels = SnapshotTakerTests.layout.size.pixelCount
            bytes = [UInt8](repeating: luma, count: pixels) + [UInt8](repeating: 128, count: pixels / 2)
            self.mayBeRead = mayBeRead
            self.isFree = isFree
        }

        deinit { isFree.signal() }

        func withBytes<Value, Failure: Error>(
            _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
        ) throws(Failure) -> Value {
            _ = SnapshotTakerTests.isSignaled(mayBeRead, within: .patience)
            return try bytes.withBytes(body)
        }
    }

    private static func isSignaled(_ event: EventFD, within timeout: Duration) -> Bool {
        var entries = [PollEntry(event.fileDescriptor)]
        let count = try? poll(&entries, until: MonotonicClock.now() + timeout)
        return count ?? 0 > 0
    }

    private func frame(
        at milliseconds: Int64, luma: UInt8 = 128, mayBeRead: EventFD? = nil, isFree: EventFD? = nil
    ) throws -> CapturedFrame {
        let open = try EventFD()
        open.signal()
        let memory = GatedFrame(luma: luma, mayBeRead: mayBeRead ?? open, isFree: try isFree ?? EventFD())
        return CapturedFrame(
            layout: Self.layout, captureTime: MediaTimestamp(milliseconds: milliseconds), memory: memory)
    }

    private func request(_ number: UInt64, path: String? = nil) -> SnapshotRequest {
        SnapshotRequest(CommandID(number), path: path)
    }

    private func takeAnswers(_ count: Int) throws -> [SnapshotAnswer] {
        var taken: [SnapshotAnswer] = []
        while taken.count < count {
            try #require(Self.isSignaled(answers.wakeup, within: .patience), "\(taken.count) of \(count)")
            taken += answers.takeAll()
        }
        return taken
    }

    private func luma(of answer: SnapshotAnswer) throws -> UInt8 {
        guard case .taken(_, let snapshot) = answer else { throw StreamFailure(.media, "\(answer)") }
        // The middle one of a gray pixel's red, green and blue.
        return try FFmpeg.pixels(of: snapshot.bytes)[1]
    }

    @Test func videoThreadDoesNotWaitAndTheLeaseEndsBeforeTheWork() throws {
        let (mayBeRead, isFree) = (try EventFD(), try EventFD())
        taker.take(request(1))
        taker.offer(try frame(at: 0, luma: 60, mayBeRead: mayBeRead, isFree: isFree), from: GivenFrames())
        // While a snapshot is being made, no other frame is held.
        taker.take(request(2))
        let next = try EventFD()
        for number in 1...50 {
            taker.offer(try frame(at: Int64(40 * number), luma: 90, isFree: next), from: GivenFrames())
        }
        // Had it waited, the frame would have been readable, which happens later.
        #expect(!Self.isSignaled(isFree, within: .zero) && Self.isSignaled(next, within: .zero))
        mayBeRead.signal()
        #expect(Self.isSignaled(isFree, within: .patience))
        let first = try takeAnswers(1)
        // An answer arrives a moment before the next frame may be held.
        var second: [SnapshotAnswer] = []
        for number in 0..<60_000 where second.isEmpty {
            taker.offer(try frame(at: Int64(3000 + 40 * number), luma: 200), from: GivenFrames())
            if Self.isSignaled(answers.wakeup, within: .milliseconds(10)) { second = answers.takeAll() }
        }
        try #require((first + second).map(\.request.id.number) == [1, 2])
        // Luma 60 and 200 in limited range are 51 and 214 in full range.
        #expect(try abs(Int(luma(of: first[0])) - 51) < 3 && abs(Int(luma(of: second[0])) - 214) < 3)
    }

    @Test func waitingRequestsShareOneFrame() throws {
        for number in 1...3 { taker.take(request(UInt64(number))) }
        taker.offer(try frame(at: 0), from: GivenFrames())
        let answers = try takeAnswers(3)
        #expect(answers.map(\.request.id.number) == [1, 2, 3])
        #expect(try Set(answers.map(luma)).count == 1)
    }

    @Test func excessRequestsAreRefused() throws {
        for number in 1...9 { taker.take(request(UInt64(number))) }
        let refused = try takeAnswers(1)
        #expect(refused == [.failed(request(9), .othersWaiting(limit: 8))])
    }

    @Test func waitingRequestsAreAnsweredAtTheEnd() throws {
        taker.take(request(1))
        taker.finish(because: .streamEnded, within: .zero)
        #expect(try takeAnswers(1) == [.failed(request(1), .streamEnded)])
    }

    @Test func endWaitsForASnapshotInProgress() throws {
        let mayBeRead = try EventFD()
        taker.take(request(1))
        taker.offer(try frame(at: 0, mayBeRead: mayBeRead), from: GivenFrames())
        let start = MonotonicClock.now()
        taker.finish(because: .streamEnded, within: .milliseconds(100))
        #expect(MonotonicClock.now() - start >= .milliseconds(100), "a disk that hangs is left alone")
        mayBeRead.signal()
        taker.finish(because: .streamEnded, within: .patience)
        #expect(answers.takeAll().count == 1)
    }

    @Test func exposureSettlesBeforeTheSnapshot() throws {
        let time = VirtualTime()
        try time.run {
            var lit = request(1)
            lit.awaitsExposure = true
            taker.take(lit)
            let start = MonotonicClock.now()
            for number in 1...30 where answers.takeAll().isEmpty {
                MonotonicClock.sleep(until: start + .milliseconds(40 * number))
                let milliseconds = MonotonicClock.now().nanoseconds / 1_000_000
                taker.offer(try frame(at: milliseconds, luma: UInt8(5 * number)), from: GivenFrames())
                if number < 13 { #expect(answers.takeAll().isEmpty, "\(number)") }
                if number == 13 {
                    // Half a second after the light: 65 in limited range is 57 in full range.
                    #expect(try abs(Int(luma(of: takeAnswers(1)[0])) - 57) < 3)
                    return
                }
            }
        }
    }

    @Test func fileIsWrittenCompletelyOrNotAtAll() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a.jpg")
        taker.take(request(1, path: path))
        taker.take(request(2, path: directory.file("missing/a.jpg")))
        taker.offer(try frame(at: 0), from: GivenFrames())
        let answers = try takeAnswers(2)
        guard case .taken(_, let snapshot) = answers[0], case .failed(_, .file(let reason)) = answers[1] else {
            Issue.record("\(answers)")
            return
        }
        let file = try readFile(path, limit: 1 << 20)
        #expect(snapshot.bytes == [] && snapshot.byteCount == file.count && snapshot.size == Self.layout.size)
        #expect(file.starts(with: [0xFF, 0xD8, 0xFF, 0xE1]))
        #expect(String(decoding: file, as: UTF8.self).contains("imx708\0"))
        #expect(reason.contains("missing/a.jpg"))
    }

    // MARK: A camera opened for one snapshot

    private func settings(_ script: FakeCamera.Script) -> MediaSettings {
        MediaSettings(
            video: FakeCameraChoice { _ in script }, audio: AudioSourceDescription.none, quality: .standard,
            audioQuality: .standard, dimension: .standard,
            encoder: FakeEncoderChoice(mayUseSoftware: true) { _, _ in
                throw StreamFailure(.videoEncodingFailed, "nobody encodes a snapshot")
            })
    }

    @Test func cameraIsOpenedForASnapshotAndClosed() throws {
        try VirtualTime().run {
            let stop = try EventFD()
            let script = FakeCamera.Script(layout: Self.layout, memory: .dmabuf, stop: stop)
            let (answer, brightness) = IdleSnapshot(as: settings(script), FilterStatus()).take(request(1), stop: stop)
            #expect(try abs(Int(luma(of: answer)) - 130) < 3)
            #expect(brightness == .luma(128))
            // Half a second for exposure, at 30 frames per second.
            #expect((15...18).contains(script.content.withLock { $0.frames }))
            #expect(script.content.withLock { $0.openings } == 1)
        }
    }

    @Test(arguments: [true, false]) func stillIsAsLargeAsMemoryAllows(hasMemory: Bool) throws {
        try VirtualTime().run {
            let stop = try EventFD()
            let large = FakeCamera.Script(
                layout: FrameLayout(packed: .i420, size: FrameSize(width: 1280, height: 960)), stop: stop)
            large.content.withLock { $0.failsToStart = !hasMemory }
            let usual = FakeCamera.Script(layout: Self.layout, stop: stop)
            var settings = settings(usual)
            settings.video = FakeCameraChoice { $0.size.width > 4000 ? large : usual }
            settings.takesStills = true
            let (answer, _) = IdleSnapshot(as: settings, FilterStatus()).take(request(1), stop: stop)
            guard case .taken(_, let snapshot) = answer else { throw StreamFailure(.media, "\(answer)") }
            #expect(snapshot.size == (hasMemory ? FrameSize(width: 1280, height: 960) : Self.layout.size))
            #expect(large.content.withLock { $0.openCount } == 0 && usual.content.withLock { $0.openCount } == 0)
        }
    }

    /// It looks like a stream's frame, even if the camera's frames must first be converted to planes.
    @Test(arguments: [PixelFormat.nv12, .yuyv]) func filtersApplyToTheSnapshot(format: PixelFormat) throws {
        var status = FilterStatus()
        status.name = "####"
        func pixels(_ filters: String...) throws -> [UInt8] {
            let stop = try EventFD()
            let layout = FrameLayout(packed: format, size: Self.layout.size)
            var settings = settings(FakeCamera.Script(layout: layout, stop: stop))
            settings.filters = try LoadedFilters(FilterChain(parsing: filters))
            let (answer, brightness) = IdleSnapshot(as: settings, status).take(request(1), stop: stop)
            // The brightness is that of the camera's frame.
            #expect(brightness == .luma(128))
            guard case .taken(_, let snapshot) = answer else { throw StreamFailure(.media, "\(answer)") }
            return try FFmpeg.pixels(of: snapshot.bytes)
        }
        try VirtualTime().run {
            #expect(try pixels().allSatisfy { (120...140).contains($0) })
            #expect(try pixels("crop,width=0").allSatisfy { $0 < 10 })
            let text = try pixels("text,text={name},size=0.5,position=center")
            #expect(text.contains { $0 > 200 } && text.contains { $0 < 60 })
        }
    }

    @Test func missingOrNeededCameraGivesNoSnapshot() throws {
        try VirtualTime().run {
            let stop = try EventFD()
            let script = FakeCamera.Script(layout: Self.layout, stop: stop)
            script.content.withLock { $0.isPluggedIn = false }
            let (absent, _) = IdleSnapshot(as: settings(script), FilterStatus()).take(request(1), stop: stop)
            #expect(absent == .failed(request(1), .camera(reason: "it was unplugged")))
            script.content.withLock { $0.isPluggedIn = true }
            stop.signal()
            let (stopped, brightness) = IdleSnapshot(as: settings(script), FilterStatus()).take(request(2), stop: stop)
            #expect(stopped == .failed(request(2), .cameraTaken) && brightness == nil)
        }
    }
}

/// Measures a frame's brightness from a thousand of its samples.
@Suite struct FrameBrightnessTests {
    @Test(arguments: PixelFormat.allCases) func lumaIsFoundInEveryLayout(format: PixelFormat) throws {
        let layout = FrameLayout(packed: format, size: FrameSize(width: 320, height: 240))
        // Other bytes than luma have another value.
        let bytes: [UInt8] =
            switch format {
            case .i420, .nv12: (0..<layout.byteCount).map { $0 < 320 * 240 ? 70 : 200 }
            case .yuyv: (0..<layout.byteCount).map { $0 % 2 == 0 ? 70 : 200 }
            case .uyvy: (0..<layout.byteCount).map { $0 % 2 == 1 ? 70 : 200 }
            case .rgb888, .bgr888: (0..<layout.byteCount).map { $0 % 3 == 1 ? 70 : 200 }
            case .bgra, .rgba, .bgrx: (0..<layout.byteCount).map { $0 % 4 == 1 ? 70 : 200 }
            }
        let frame = CapturedFrame(layout: layout, captureTime: .zero, memory: ArrayFrame(bytes))
        #expect(frame.meanLuma == 70)
    }

    @Test func wholeFrameIsMeasured() {
        let layout = FrameLayout(packed: .i420, size: FrameSize(width: 320, height: 240))
        let bytes = (0..<layout.byteCount).map { UInt8(min($0 / 320, 239)) }
        let frame = CapturedFrame(layout: layout, captureTime: .zero, memory: ArrayFrame(bytes))
        #expect(abs(frame.meanLuma - 119.5) < 3)
    }

    @Test func frameWithoutMemoryCountsAsDark() {
        let layout = FrameLayout(packed: .nv12, size: FrameSize(width: 320, height: 240))
        #expect(CapturedFrame(layout: layout, captureTime: .zero, memory: ArrayFrame([])).meanLuma == 0)
    }
}
