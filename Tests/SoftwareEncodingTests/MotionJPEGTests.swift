import DevicePorts
import Media
import MediaTestSupport
import SoftwareEncoding
import Testing

/// Frames for a computer: JPEGs made from planes, and raw frames.
@Suite struct MotionJPEGTests {
    private static let size = FrameSize(width: 64, height: 38)
    private static let layout = FrameLayout(packed: .i420, size: size)

    /// A frame of BT.601 red in each range.
    private static func red(isFullRange: Bool) -> [UInt8] {
        let (luma, u, v): (UInt8, UInt8, UInt8) = isFullRange ? (76, 85, 255) : (81, 90, 240)
        let count = size.pixelCount
        return [UInt8](repeating: luma, count: count) + [UInt8](repeating: u, count: count / 4)
            + [UInt8](repeating: v, count: count / 4)
    }

    private static func file(
        _ frame: [UInt8], isFullRange: Bool, quality: Int = 90, _ layout: FrameLayout = layout
    ) throws -> [UInt8] {
        let encoder = try MotionJPEGEncoder(size: layout.size)
        return try frame.withUnsafeBytes {
            try encoder.encode($0, layout, isFullRange: isFullRange, quality: quality) { [UInt8]($0) }
        }
    }

    @Test(arguments: [false, true]) func colorsMatchTheScene(isFullRange: Bool) throws {
        let pixels = try FFmpeg.pixels(of: try Self.file(Self.red(isFullRange: isFullRange), isFullRange: isFullRange))
        try #require(pixels.count == 3 * Self.size.pixelCount)
        for pixel in stride(from: 0, to: pixels.count, by: 3) {
            #expect(pixels[pixel] > 245 && pixels[pixel + 1] < 12 && pixels[pixel + 2] < 12)
        }
    }

    /// One encoder for all frames. The sizes are not whole numbers of blocks, and rows are longer than the frame is wide.
    @Test func everyFrameIsASeparateFile() throws {
        let size = FrameSize(width: 326, height: 242)
        let scenery = Scenery(size: size)
        let layout = FrameLayout(packed: .i420, size: size)
        let encoder = try MotionJPEGEncoder(size: size)
        var files: [[UInt8]] = []
        for index in 0..<3 {
            let frame = scenery.frame(index)
            files.append(
                try frame.withUnsafeBytes {
                    try encoder.encode($0, layout, isFullRange: true, quality: 90) { [UInt8]($0) }
                })
        }
        for (index, file) in files.enumerated() {
            #expect(file.starts(with: [0xFF, 0xD8]) && file.suffix(2) == [0xFF, 0xD9])
            let pixels = try FFmpeg.pixels(of: file)
            let luma = scenery.frame(index).prefix(size.pixelCount)
            try #require(pixels.count == 3 * luma.count)
            var error = 0
            for (place, wanted) in luma.enumerated() {
                let (red, green, blue) = (
                    Int(pixels[3 * place]), Int(pixels[3 * place + 1]), Int(pixels[3 * place + 2])
                )
                error += abs((299 * red + 587 * green + 114 * blue) / 1000 - Int(wanted))
            }
            #expect(error / luma.count < 6, "frame \(index)")
        }
    }

    /// libjpeg allocates other memory for a file that does not fit, and leaves the old memory to its owner.
    @Test func memoryOfTheLargestFileIsKept() throws {
        let size = FrameSize(width: 320, height: 240)
        let (layout, frame) = (FrameLayout(packed: .i420, size: size), Scenery(size: size).frame(0))
        let encoder = try MotionJPEGEncoder(size: size)
        func place(_ quality: Int) throws -> UnsafeRawPointer? {
            try frame.withUnsafeBytes {
                try encoder.encode($0, layout, isFullRange: true, quality: quality) { $0.baseAddress }
            }
        }
        let largest = try place(90)
        for quality in [10, 50, 20, 85, 90, 15, 90] { #expect(try place(quality) == largest) }
    }

    @Test func fileSizeFollowsTheQuality() throws {
        let size = FrameSize(width: 320, height: 240)
        let scenery = Scenery(size: size)
        let layout = FrameLayout(packed: .i420, size: size)
        let sizes = try [10, 50, 90].map {
            try Self.file(scenery.frame(0), isFullRange: false, quality: $0, layout).count
        }
        #expect(sizes == sizes.sorted() && sizes[2] > 2 * sizes[0], "\(sizes)")
    }

    @Test func framesOfAnotherSizeAreRefused() throws {
        #expect(throws: JPEGError.self) { try Self.file([1, 2, 3], isFullRange: false) }
        for size in [
            FrameSize(width: 63, height: 38), FrameSize(width: 0, height: 2), FrameSize(width: 20_000, height: 2),
        ] {
            #expect(throws: JPEGError.unsupportedSize(size)) { _ = try MotionJPEGEncoder(size: size) }
        }
        let encoder = try MotionJPEGEncoder(size: Self.size)
        let other = FrameLayout(packed: .nv12, size: Self.size)
        let bytes = [UInt8](repeating: 0, count: other.byteCount)
        #expect(throws: JPEGError.self) {
            try bytes.withUnsafeBytes { try encoder.encode($0, other, isFullRange: false, quality: 80) { $0.count } }
        }
    }

    /// Planes in which each sample tells its position.
    private static let numbered: [UInt8] = {
        let frame = FrameLayout(packed: .i420, size: FrameSize(width: 4, height: 2))
        return (0..<UInt8(frame.byteCount)).map { $0 }
    }()

    private static func packed(_ format: PixelFormat, room: Int = 16) throws -> [UInt8] {
        var target = [UInt8](repeating: 255, count: room)
        let layout = FrameLayout(packed: .i420, size: FrameSize(width: 4, height: 2))
        let count = try numbered.withUnsafeBytes { bytes in
            try target.withUnsafeMutableBytes { try FramePacker.pack(bytes, layout, as: format, into: $0) }
        }
        return [UInt8](target.prefix(count))
    }

    @Test func rawFramesHaveTheirSamplesInPlace() throws {
        #expect(try Self.packed(.nv12) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 9, 11])
        #expect(try Self.packed(.yuyv) == [0, 8, 1, 10, 2, 9, 3, 11, 4, 8, 5, 10, 6, 9, 7, 11])
        #expect(throws: VideoEncodingError.self) { try Self.packed(.yuyv, room: 15) }
        #expect(throws: VideoEncodingError.self) { try Self.packed(.i420) }
    }
}
