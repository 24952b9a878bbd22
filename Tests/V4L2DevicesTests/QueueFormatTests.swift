import DevicePorts
import Media
import Testing

@testable import V4L2Devices

struct QueueFormatTests {
    private static func nearest(_ side: Int) -> Int { (side + 8) / 16 * 16 }
    private static func down(_ side: Int) -> Int { side / 16 * 16 }
    private static func up(_ side: Int) -> Int { (side + 15) / 16 * 16 }

    /// - Parameter round: how the driver adjusts each side.
    /// - Returns: the requests, and the final format.
    private func covered(
        _ width: Int, _ height: Int, stride: Int = 0, _ round: (Int) -> Int
    ) throws -> (asked: [QueueFormat], format: QueueFormat) {
        let size = FrameSize(width: width, height: height)
        var format = QueueFormat(size: size, fourCC: PixelFormat.nv12.fourCC, stride: stride)
        var asked: [QueueFormat] = []
        try format.cover { format throws(V4L2Error) in
            asked.append(format)
            format.size = FrameSize(width: round(format.size.width), height: round(format.size.height))
            format.stride = max(format.stride, format.size.width)
        }
        return (asked, format)
    }

    @Test(arguments: [(320, 180, 320, 192), (416, 234, 416, 240), (234, 416, 240, 416), (1920, 1140, 1920, 1152)])
    func driverThatWouldCropTheFrameIsAskedForMore(width: Int, height: Int, wider: Int, higher: Int) throws {
        let (asked, format) = try covered(width, height, stride: width, Self.down)
        let size = FrameSize(width: wider, height: higher)
        #expect(asked.map(\.size) == [FrameSize(width: width, height: height), size] && format.size == size)
        #expect(asked.map(\.stride) == [width, 0] && format.stride == wider, "the frame's rows are too short")
        #expect(asked.allSatisfy { $0.fourCC == PixelFormat.nv12.fourCC && $0.colorspace == asked[0].colorspace })
    }

    @Test func roundingToTheNearestCropsSomeFrames() throws {
        let (asked, format) = try covered(320, 180, Self.nearest)
        #expect(asked.count == 2 && format.size == FrameSize(width: 320, height: 192))
        let (once, larger) = try covered(640, 360, Self.nearest)
        #expect(once.count == 1 && larger.size == FrameSize(width: 640, height: 368))
    }

    @Test func driverThatRoundsUpIsAskedOnce() throws {
        let (asked, format) = try covered(320, 180, stride: 512, Self.up)
        #expect(asked.count == 1 && format.size == FrameSize(width: 320, height: 192) && format.stride == 512)
        #expect(try covered(640, 480, Self.down).asked.count == 1)
    }

    /// The caller has to cope with the result.
    @Test func noDriverIsAskedMoreThanTwice() throws {
        let (asked, format) = try covered(1920, 1080) { min($0, 640) }
        #expect(asked.count == 2 && format.size == FrameSize(width: 640, height: 640))
        #expect(try covered(1280, 720) { min($0, 640) }.asked.count == 1, "whole macroblocks are there already")
    }
}
