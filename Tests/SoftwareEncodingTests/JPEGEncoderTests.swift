import DevicePorts
import Media
import MediaTestSupport
import SoftwareEncoding
import Testing

@Suite("JPEG files of frames") struct JPEGEncoderTests {
    /// A frame with one color in its left half and another in its right half.
    private struct Halves {
        let luma: (UInt8, UInt8)
        let u: (UInt8, UInt8)
        let v: (UInt8, UInt8)

        func frame(_ size: FrameSize) -> [UInt8] {
            func plane(_ width: Int, _ height: Int, _ values: (UInt8, UInt8)) -> [UInt8] {
                (0..<height).flatMap { _ in (0..<width).map { $0 < width / 2 ? values.0 : values.1 } }
            }
            let chroma = (size.width / 2, size.height / 2)
            return plane(size.width, size.height, luma) + plane(chroma.0, chroma.1, u) + plane(chroma.0, chroma.1, v)
        }
    }

    private static func jpeg(
        _ frame: [UInt8], _ layout: FrameLayout, colors: VideoColors?, quality: Int = 95, segment: [UInt8] = []
    ) throws -> [UInt8] {
        try frame.withUnsafeBytes {
            try JPEGEncoder(quality: quality).encode($0, layout, colors: colors, segment: segment)
        }
    }

    /// Red and blue in BT.601 and BT.709, in limited and full range.
    @Test(arguments: [
        (VideoColors.bt601, Halves(luma: (81, 41), u: (90, 240), v: (240, 110))),
        (VideoColors.bt709, Halves(luma: (63, 32), u: (102, 240), v: (240, 118))),
        (VideoColors.jpeg, Halves(luma: (76, 29), u: (85, 255), v: (255, 107))),
        (
            VideoColors(primaries: 1, transfer: 1, matrix: 1, isFullRange: true),
            Halves(luma: (54, 18), u: (99, 255), v: (255, 116))
        ),
    ])
    private func colorsMatchTheScene(colors: VideoColors, halves: Halves) throws {
        // Not a whole number of strips.
        let size = FrameSize(width: 64, height: 38)
        let file = try Self.jpeg(halves.frame(size), FrameLayout(packed: .i420, size: size), colors: colors)
        let pixels = try FFmpeg.pixels(of: file)
        try #require(pixels.count == 3 * size.width * size.height)
        for row in [0, 18, 37] {
            for (column, wanted) in [(8, [255, 0, 0]), (56, [0, 0, 255])] {
                let start = 3 * (row * size.width + column)
                // libyuv's factors have seven bits, which is not enough for BT.709's purest blue.
                for (sample, value) in zip(pixels[start..<start + 3], wanted) { #expect(abs(Int(sample) - value) < 15) }
            }
        }
    }

    @Test func acceptsEveryLayoutOfACamera() throws {
        let size = FrameSize(width: 32, height: 32)
        for format in PixelFormat.allCases {
            let layout = FrameLayout(packed: format, size: size)
            // Gray in each format.
            let file = try Self.jpeg([UInt8](repeating: 128, count: layout.byteCount), layout, colors: .bt601)
            #expect(try FFmpeg.pixels(of: file).allSatisfy { abs(Int($0) - 129) < 4 }, "\(format)")
        }
    }

    @Test func segmentFollowsTheStartOfImage() throws {
        let size = FrameSize(width: 16, height: 16)
        let layout = FrameLayout(packed: .i420, size: size)
        let file = try Self.jpeg(
            [UInt8](repeating: 128, count: layout.byteCount), layout, colors: nil, segment: Array("Exif\0\0MM".utf8))
        #expect(file.starts(with: [0xFF, 0xD8, 0xFF, 0xE1, 0, 10] + Array("Exif\0\0MM".utf8)))
        #expect(file.suffix(2) == [0xFF, 0xD9])
    }

    @Test func fileSizeFollowsTheQuality() throws {
        let size = FrameSize(width: 320, height: 240)
        let layout = FrameLayout(packed: .i420, size: size)
        let scene = Scenery(size: size).frame(0)
        let sizes = try [10, 50, 90, 100].map { try Self.jpeg(scene, layout, colors: nil, quality: $0).count }
        #expect(sizes == sizes.sorted() && sizes[3] > 3 * sizes[0], "\(sizes)")
    }

    @Test func refusesIncompleteFrames() {
        let layout = FrameLayout(packed: .nv12, size: FrameSize(width: 16, height: 16))
        #expect(throws: JPEGError.self) { try Self.jpeg([1, 2, 3], layout, colors: nil) }
        let odd = FrameLayout(packed: .i420, size: FrameSize(width: 15, height: 16))
        #expect(throws: JPEGError.unsupportedSize(odd.size)) {
            try Self.jpeg([UInt8](repeating: 0, count: odd.byteCount), odd, colors: nil)
        }
        let vast = FrameLayout(packed: .i420, size: FrameSize(width: 2, height: 2))
        #expect(throws: JPEGError.self) {
            try Self.jpeg(
                [UInt8](repeating: 0, count: vast.byteCount), vast, colors: nil,
                segment: [UInt8](repeating: 0, count: 70_000))
        }
    }
}
