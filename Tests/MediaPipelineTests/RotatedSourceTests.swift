import DevicePorts
import Media
import MediaTestSupport
import SoftwareEncoding
import Testing

@testable import MediaPipeline
@testable import VideoCapture

/// Delivers 4x2 frames whose luma increases from frame to frame.
private final class CountingSource: VideoSource {
    let layout = FrameLayout(packed: .i420, size: FrameSize(width: 4, height: 2))
    let frameRate = FrameRate(framesPerSecond: 30)
    let endingNote: String? = nil
    private var count: UInt8 = 0

    func nextFrame() -> CapturedFrame? {
        count += 1
        let bytes = [UInt8](repeating: count, count: layout.byteCount)
        return CapturedFrame(
            layout: layout, captureTime: MediaTimestamp(milliseconds: Int64(count)), memory: ArrayFrame(bytes))
    }
}

@Suite struct RotatedSourceTests {
    private func place(of frame: CapturedFrame?) -> UnsafeRawPointer? { frame?.withBytes { $0.baseAddress } }
    private func luma(of frame: CapturedFrame?) -> UInt8? { frame?.withBytes { $0.first } }

    @Test func framesAreRotatedAndCounted() throws {
        let source = try RotatedSource(CountingSource(), FrameRotation(.clockwise90))
        let frame = try #require(try source.nextFrame())
        #expect(frame.layout.size == FrameSize(width: 2, height: 4))
        #expect(frame.captureTime == MediaTimestamp(milliseconds: 1))
        #expect(source.statistics.rotatedFrames == 1)
    }

    /// A frame that an encoder still reads keeps its samples; released memory is reused for the next frame.
    @Test func memoryIsReusedAfterItsRelease() throws {
        let source = try RotatedSource(CountingSource(), FrameRotation(.half))
        var first = try source.nextFrame()
        var second = try source.nextFrame()
        #expect(luma(of: first) == 1 && luma(of: second) == 2)
        let (firstPlace, secondPlace) = (place(of: first), place(of: second))
        #expect(firstPlace != secondPlace)
        first = nil
        first = try source.nextFrame()
        #expect(place(of: first) == firstPlace && luma(of: first) == 3 && luma(of: second) == 2)
        second = nil
        second = try source.nextFrame()
        #expect(place(of: second) == secondPlace && luma(of: second) == 4 && luma(of: first) == 3)
    }
}
