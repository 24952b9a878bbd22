import DevicePorts
import FrameFiltering
import Media
import MediaTestSupport
import SoftwareEncoding
import StreamLogic
import Testing

@testable import MediaPipeline

/// The frames sent instead of the camera's.
@Suite struct PausedVideoTests {
    private static let size = FrameSize(width: 64, height: 48)

    private var live: VideoPause { VideoPause() }

    private func paused(at milliseconds: Int64 = 0, _ image: StillImage? = nil) -> VideoPause {
        var pause = VideoPause(image: image)
        _ = pause.state.pauseRequested(now: MediaTimestamp(milliseconds: milliseconds))
        return pause
    }

    /// A frame of one color, with padding after each row.
    private func frame(
        _ luma: UInt8, at time: Int64 = 0, _ size: FrameSize = Self.size, _ format: PixelFormat = .nv12,
        memory: (([UInt8]) -> any FrameMemory)? = nil
    ) throws -> CapturedFrame {
        let stride = (format.bytesPerPixel ?? 1) * size.width + 32
        let layout = try #require(
            FrameLayout(format: format, size: size, stride: stride, bufferSize: 8 * stride * size.height))
        let bytes = [UInt8](repeating: luma, count: layout.byteCount)
        return CapturedFrame(
            layout: layout, captureTime: MediaTimestamp(milliseconds: time),
            memory: memory?(bytes) ?? PooledFrame(bytes))
    }

    private func luma(_ frame: CapturedFrame, x: Int = 31, y: Int = 23) -> UInt8 {
        let plane = frame.layout.planes[0]
        return frame.withBytes { $0[plane.offset + y * plane.stride + x] }
    }

    private func chroma(_ frame: CapturedFrame) -> [UInt8] {
        let plane = frame.layout.planes[1]
        return frame.withBytes { bytes in
            let place = plane.offset + 12 * plane.stride + 16
            return frame.layout.format == .nv12
                ? [bytes[place], bytes[place + 1]]
                : [bytes[place], bytes[frame.layout.planes[2].offset + 12 * frame.layout.planes[2].stride + 16]]
        }
    }

    private func replacement(_ video: inout PausedVideo, of frame: CapturedFrame, _ size: FrameSize = Self.size)
        -> CapturedFrame
    { video.replacement(of: frame, streamSize: size, colors: .bt601) }

    private func red() throws -> StillImage { try StillImage(SolidPNG.red, path: "slate.png") }

    @Test func keyframesMarkTheStartAndEndOfAPause() throws {
        var video = PausedVideo()
        var pause = paused(at: 100)
        let start = MediaTimestamp(milliseconds: 100)
        #expect(video.frameCaptured(at: start, live) == false)
        #expect(video.frameCaptured(at: start, pause) == true)
        #expect(video.isPaused)
        #expect(video.frameCaptured(at: start + .milliseconds(33), pause) == false)
        _ = pause.state.resumeRequested(now: start + .milliseconds(500))
        // It was captured during the pause.
        #expect(video.frameCaptured(at: start + .milliseconds(499), pause) == false)
        #expect(video.isPaused)
        #expect(video.frameCaptured(at: start + .milliseconds(501), pause) == true)
        #expect(!video.isPaused)
        #expect(video.frameCaptured(at: start + .milliseconds(534), pause) == false)
    }

    @Test func cameraLostInAPauseShowsNothingOfItAfterwards() throws {
        var video = PausedVideo()
        var pause = paused(at: 1000)
        func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }
        _ = video.frameCaptured(at: time(900), live)
        #expect(video.frameCaptured(at: time(1033), pause) == true)
        video.keep(try frame(90, at: 900))
        _ = pause.state.resumeRequested(now: time(5000))
        #expect(video.frameCaptured(at: time(6000), takenAt: time(4000), pause) == false)
        let late = try frame(200, at: 6000)
        #expect(video.isPaused && luma(replacement(&video, of: late)) == 90)
        #expect(video.frameCaptured(at: time(7000), takenAt: time(7000), pause) == true)
        #expect(!video.isPaused)
    }

    /// However a frame is repeated, the result tells its capture time.
    @Test func scaledRepetitionKeepsItsCaptureTime() throws {
        let frame = try frame(90, at: 100)
        let repetition = CapturedFrame(
            layout: frame.layout, captureTime: MediaTimestamp(milliseconds: 900), memory: frame.memory,
            repeats: frame.captureTime)
        let scaler = try SoftwareScaler(from: frame.layout, to: FrameSize(width: 32, height: 24))
        let scaled = try #require(try scaler.scale(repetition))
        #expect(scaled.captureTime == repetition.captureTime && scaled.takenAt == frame.captureTime)
        #expect(frame.takenAt == frame.captureTime && scaled.repeats == nil)
    }

    @Test(arguments: [PixelFormat.nv12, .i420])
    func lastFrameOverwritesLaterFrames(format: PixelFormat) throws {
        var video = PausedVideo()
        _ = video.frameCaptured(at: .zero, live)
        let pause = paused()
        _ = video.frameCaptured(at: .zero, pause)
        let last = try frame(90, Self.size, format)
        #expect(video.isLast(last, pause))
        video.keep(last)
        let next = try frame(200, at: 33, Self.size, format)
        #expect(!video.isLast(next, pause))
        let shown = replacement(&video, of: next)
        #expect(shown.memory === next.memory && shown.layout == next.layout, "encoders get what they are prepared for")
        #expect(shown.captureTime == next.captureTime)
        #expect(luma(shown) == 90 && luma(shown, x: 63, y: 47) == 90 && chroma(shown) == [90, 90])
        #expect(luma(last) == 90, "it is copied")
    }

    @Test func copyHoldsNoLease() throws {
        final class Lease: FrameMemory {
            let bytes: [UInt8]
            init(_ bytes: [UInt8]) { self.bytes = bytes }
            func withBytes<Value, Failure: Error>(
                _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
            ) throws(Failure) -> Value {
                try bytes.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
            }
        }
        var video = PausedVideo()
        _ = video.frameCaptured(at: .zero, live)
        _ = video.frameCaptured(at: .zero, paused())
        weak var lease: Lease?
        do {
            let last = try frame(90) { bytes in
                let memory = Lease(bytes)
                lease = memory
                return memory
            }
            #expect(lease != nil)
            video.keep(last)
        }
        #expect(lease == nil)
        // Read-only memory is replaced.
        let next = try frame(200, at: 33) { Lease($0) }
        let shown = replacement(&video, of: next)
        #expect(shown.memory !== next.memory && shown.layout == FrameLayout(packed: .i420, size: Self.size))
        #expect(luma(shown) == 90 && shown.captureTime == next.captureTime)
    }

    @Test func pauseBeforeTheFirstFrameIsBlack() throws {
        var video = PausedVideo()
        let pause = paused()
        _ = video.frameCaptured(at: .zero, pause)
        let first = try frame(200)
        #expect(!video.isLast(first, pause))
        let shown = replacement(&video, of: first)
        #expect(luma(shown) == 16 && chroma(shown) == [128, 128])
    }

    /// A display has seen frames before the server answered.
    @Test func unsentFrameIsNotTheLast() throws {
        var video = PausedVideo()
        _ = video.frameCaptured(at: .zero, live, isSent: false)
        let pause = paused()
        _ = video.frameCaptured(at: .zero, pause)
        #expect(!video.isLast(try frame(200), pause))
    }

    /// A camera that stalls for seconds has no frame from right before the pause.
    @Test func frameCapturedLaterIsNotTheLast() throws {
        var video = PausedVideo()
        _ = video.frameCaptured(at: .zero, live)
        let (pause, late) = (paused(at: 1000), try frame(200, at: 3000))
        _ = video.frameCaptured(at: late.captureTime, pause)
        #expect(!video.isLast(late, pause))
        #expect(luma(replacement(&video, of: late)) == 16)
    }

    @Test func slateIsDrawnIntoTheCamerasFrame() throws {
        var video = PausedVideo()
        _ = video.frameCaptured(at: .zero, live)
        let pause = paused(try red())
        _ = video.frameCaptured(at: .zero, pause)
        let next = try frame(200)
        #expect(!video.isLast(next, pause), "nothing of the camera goes out any more")
        let shown = replacement(&video, of: next)
        #expect(shown.memory === next.memory && luma(shown) == 81 && chroma(shown) == [90, 240])
    }

    /// A movie or pipe repeats its newest frame until the next one comes, even after the pause.
    @Test func repeatedFrameKeepsItsSamples() throws {
        var video = PausedVideo()
        _ = video.frameCaptured(at: .zero, live)
        let pause = paused(try red())
        _ = video.frameCaptured(at: .zero, pause)
        let first = try frame(200)
        let again = CapturedFrame(
            layout: first.layout, captureTime: MediaTimestamp(milliseconds: 500), memory: first.memory,
            repeats: first.captureTime)
        let shown = replacement(&video, of: again)
        #expect(luma(shown) == 81 && shown.layout == again.layout && shown.captureTime == again.captureTime)
        #expect(luma(first) == 200)
    }

    /// Device memory. A closed camera leaves its last frame in another object with the same samples.
    private final class DeviceMemory: FrameMemory {
        let samples: PooledFrame
        let dmabuf: Int32?
        init(_ samples: PooledFrame, dmabuf: Int32? = 7) { (self.samples, self.dmabuf) = (samples, dmabuf) }
        func withBytes<Value, Failure: Error>(
            _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
        ) throws(Failure) -> Value { try samples.withBytes(body) }
        func modify(_ body: (UnsafeMutableRawBufferPointer) -> Void) -> Bool { samples.modify(body) }
        func detached() -> (any FrameMemory)? { DeviceMemory(samples, dmabuf: 8) }
    }

    private func again(_ frame: CapturedFrame, at milliseconds: Int64, detached: Bool = false) -> CapturedFrame {
        CapturedFrame(
            layout: frame.layout, captureTime: MediaTimestamp(milliseconds: milliseconds),
            memory: (detached ? frame.memory.detached() : nil) ?? frame.memory, repeats: frame.captureTime)
    }

    /// The camera is lost before the pause and returns after it: viewers see the slate, then its last frame again.
    @Test(arguments: [false, true])
    func lostCamerasFrameIsRestoredAfterThePause(isClosedMeanwhile: Bool) throws {
        var video = PausedVideo()
        let last = try frame(200, at: 900) { DeviceMemory(PooledFrame($0)) }
        _ = video.frameCaptured(at: last.captureTime, live)
        var pause = paused(at: 1000, try red())
        for milliseconds: Int64 in [1033, 1066, 4000] {
            let repetition = again(last, at: milliseconds, detached: isClosedMeanwhile && milliseconds > 1033)
            _ = video.frameCaptured(at: repetition.captureTime, takenAt: repetition.takenAt, pause)
            let shown = replacement(&video, of: repetition)
            #expect(shown.memory === repetition.memory, "encoders get what they are prepared for")
            #expect(luma(shown) == 81)
        }
        _ = pause.state.resumeRequested(now: MediaTimestamp(milliseconds: 5000))
        let repetition = again(last, at: 5033, detached: isClosedMeanwhile)
        #expect(video.frameCaptured(at: repetition.captureTime, takenAt: repetition.takenAt, pause) == true)
        video.restore(repetition)
        #expect(!video.isPaused && luma(repetition) == 200 && luma(repetition, x: 63, y: 47) == 200)
    }

    /// The frame was on its way when the pause started, and no other one follows.
    @Test(arguments: [true, false])
    func frameArrivingDuringThePauseIsRestoredAfterIt(isOfDevice: Bool) throws {
        var video = PausedVideo()
        _ = video.frameCaptured(at: .zero, live)
        var pause = paused(at: 1000, try red())
        let last = try frame(200, at: 990) { bytes in
            if isOfDevice { return DeviceMemory(PooledFrame(bytes)) }
            return PooledFrame(bytes)
        }
        _ = video.frameCaptured(at: last.captureTime, pause)
        #expect(luma(replacement(&video, of: last)) == 81)
        let meanwhile = again(last, at: 2000)
        _ = video.frameCaptured(at: meanwhile.captureTime, takenAt: meanwhile.takenAt, pause)
        #expect(luma(replacement(&video, of: meanwhile)) == 81)
        _ = pause.state.resumeRequested(now: MediaTimestamp(milliseconds: 5000))
        let repetition = again(last, at: 5033)
        _ = video.frameCaptured(at: repetition.captureTime, takenAt: repetition.takenAt, pause)
        video.restore(repetition)
        #expect(!video.isPaused && luma(repetition) == 200)
    }

    /// The camera's frames after the pause are unrelated to the overwritten samples.
    @Test func frameAfterThePauseStaysUnchanged() throws {
        var video = PausedVideo()
        let last = try frame(200, at: 900) { DeviceMemory(PooledFrame($0)) }
        _ = video.frameCaptured(at: last.captureTime, live)
        let pause = paused(at: 1000, try red())
        _ = video.frameCaptured(at: MediaTimestamp(milliseconds: 1033), takenAt: last.takenAt, pause)
        _ = replacement(&video, of: again(last, at: 1033))
        let next = try frame(120, at: 6000)
        video.restore(next)
        video.restore(again(last, at: 6033))
        #expect(luma(next) == 120 && luma(last) == 81, "it is forgotten")
    }

    /// The card was slow.
    @Test func slateThatLoadsLaterStartsWithAKeyframe() throws {
        var video = PausedVideo()
        _ = video.frameCaptured(at: .zero, live)
        var pause = paused()
        _ = video.frameCaptured(at: .zero, pause)
        video.keep(try frame(90))
        #expect(luma(replacement(&video, of: try frame(200, at: 33))) == 90)
        pause.image = try red()
        #expect(video.frameCaptured(at: MediaTimestamp(milliseconds: 66), pause) == true)
        #expect(luma(replacement(&video, of: try frame(200, at: 66))) == 81)
        #expect(video.frameCaptured(at: MediaTimestamp(milliseconds: 99), pause) == false)
    }

    /// For a camera of another shape, the slate fills the stream's frame, not just the part between the bars.
    @Test func frameWithBarsIsReplacedByOneOfTheStreamsSize() throws {
        var video = PausedVideo()
        _ = video.frameCaptured(at: .zero, paused(try red()))
        let shown = replacement(&video, of: try frame(200, FrameSize(width: 64, height: 64)))
        #expect(shown.layout == FrameLayout(packed: .i420, size: Self.size))
        // The image has an aspect ratio of 2:1.
        #expect(luma(shown) == 81 && luma(shown, x: 0, y: 10) == 81 && luma(shown, x: 0, y: 7) == 16)
    }

    @Test func packedFramesAreReplaced() throws {
        var video = PausedVideo()
        _ = video.frameCaptured(at: .zero, live)
        let pause = paused()
        _ = video.frameCaptured(at: .zero, pause)
        let last = try frame(100, Self.size, .yuyv)
        video.keep(last)
        let shown = replacement(&video, of: try frame(200, Self.size, .yuyv))
        #expect(shown.layout.format == .i420 && luma(shown) == 100)
    }

    @Test func pauseContinuesAcrossAnotherSizeAndAnotherCamera() throws {
        var video = PausedVideo()
        _ = video.frameCaptured(at: .zero, live)
        let pause = paused()
        _ = video.frameCaptured(at: .zero, pause)
        video.keep(try frame(90))
        let smaller = replacement(&video, of: try frame(200, FrameSize(width: 32, height: 24)))
        #expect(smaller.layout.size == FrameSize(width: 32, height: 24) && luma(smaller, x: 30, y: 22) == 90)
        let other = replacement(&video, of: try frame(200, FrameSize(width: 128, height: 96), .i420))
        #expect(other.layout.format == .i420 && luma(other, x: 127, y: 95) == 90)
        #expect(luma(replacement(&video, of: try frame(200))) == 90)
    }

    @Test func nextPauseHasItsOwnLastFrame() throws {
        var video = PausedVideo()
        for (start, shade): (Int64, UInt8) in [(1000, 90), (5000, 60)] {
            _ = video.frameCaptured(at: MediaTimestamp(milliseconds: start - 33), live)
            let pause = paused(at: start)
            let last = try frame(shade, at: start)
            _ = video.frameCaptured(at: last.captureTime, pause)
            #expect(video.isLast(last, pause))
            video.keep(last)
            #expect(luma(replacement(&video, of: try frame(200, at: start + 33))) == shade)
        }
    }

    @Test func incompleteFrameIsNotOverwritten() throws {
        let layout = FrameLayout(packed: .nv12, size: Self.size)
        var short = [UInt8](repeating: 7, count: layout.byteCount - 1)
        short.withUnsafeMutableBytes { bytes in
            #expect(throws: VideoEncodingError.self) {
                try FramePacker.spread([UInt8](repeating: 1, count: layout.byteCount), layout, into: bytes, layout)
            }
        }
        #expect(short.allSatisfy { $0 == 7 })
    }

    // MARK: Audio

    @Test func audioIsSilentDuringAPauseAndMuteIsKept() {
        let requests = EncoderRequests()
        let start = MediaTimestamp.zero
        #expect(!requests.takeAudioRequests(at: start).isMuted)
        #expect(requests.setPaused(true) && requests.isPaused && !requests.setPaused(true))
        #expect(requests.takeAudioRequests(at: start).isMuted)
        requests.setMuted(true)
        #expect(requests.setPaused(false))
        // Captured long after the end of the pause, and muted.
        let later = MediaTimestamp(nanoseconds: .max / 2)
        #expect(requests.takeAudioRequests(at: later).isMuted)
        requests.setMuted(false)
        #expect(!requests.takeAudioRequests(at: later).isMuted)
        #expect(requests.takeAudioRequests(at: start).isMuted, "it was captured before the resumption")
    }
}
