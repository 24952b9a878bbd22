import DevicePorts
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import Testing

@testable import FrameFiltering

@Suite struct StillImageTests {
    /// 4x2 pixels of pure red.
    private static let red = SmallPNG(
        width: 4, height: 2, depth: 8, kind: 2,
        rows: [[UInt8]](repeating: [255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0], count: 2))

    private func shown(
        _ file: [UInt8], _ width: Int, _ height: Int, _ colors: VideoColors = .bt601
    ) throws -> FrameInMemory {
        let size = FrameSize(width: width, height: height)
        var frame = FrameInMemory(.i420, size, y: 0, u: 0, v: 0)
        frame.bytes = try StillImage(file, path: "slate.png").frame(of: size, colors: colors)
        #expect(frame.bytes.count == frame.layout.byteCount)
        return frame
    }

    @Test func wideImageGetsBarsAboveAndBelow() throws {
        let frame = try shown(Self.red.file, 16, 16)
        for y in 0..<16 {
            let isImage = (4..<12).contains(y)
            // BT.601 limited range: red is 81, 90, 240.
            #expect(frame.luma(0, y) == (isImage ? 81 : 16) && frame.luma(15, y) == frame.luma(0, y), "row \(y)")
            #expect(frame.chroma(0, y / 2) == (isImage ? [90, 240] : [128, 128]), "row \(y)")
        }
    }

    @Test func tallFrameSideBarsAreEven() throws {
        let frame = try shown(Self.red.file, 30, 8)
        #expect((0..<30).map { frame.luma($0, 4) } == (0..<30).map { (6..<22).contains($0) ? 81 : 16 })
    }

    @Test func colorsOfTheStreamAreUsed() throws {
        let high = try shown(Self.red.file, 8, 4, .bt709)
        #expect(high.luma(2, 2) == 63 && high.chroma(1, 1) == [102, 240])
        let full = try shown(Self.red.file, 8, 8, .jpeg)
        #expect(full.luma(2, 4) == 76 && full.luma(2, 0) == 0)
    }

    @Test func transparentImageIsShownOnBlack() throws {
        let clear = SmallPNG(width: 1, height: 1, depth: 8, kind: 6, rows: [[255, 255, 255, 0]])
        let frame = try shown(clear.file, 4, 4)
        #expect(frame.bytes == FrameInMemory(.i420, frame.layout.size, y: 16, u: 128, v: 128).bytes)
    }

    @Test func unsupportedSizesGiveBlack() throws {
        let image = try StillImage(Self.red.file, path: "slate.png")
        #expect(image.frame(of: FrameSize(width: 1, height: 1), colors: .bt601) == [16, 128, 128])
        #expect(image.size == FrameSize(width: 4, height: 2))
    }

    @Test func brokenFilesAreExplained() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(Array(Self.red.file.dropLast(30)), to: "cut.png")
        #expect { try StillImage(reading: path) } throws: { "\($0)".hasPrefix("\(path) is not a usable image: ") }
        #expect(throws: StillImageError.unusable(path: "a.gif", reason: "it is neither PNG nor JPEG")) {
            try StillImage(Array("GIF89a".utf8), path: "a.gif")
        }
        #expect { try StillImage(reading: path + "x") } throws: { error in
            guard case .unreadable(let cause)? = error as? StillImageError else { return false }
            return cause.number == ENOENT && "\(error)".contains(path + "x")
        }
    }

    @Test func hugeImageIsRefusedBeforeItIsDecoded() throws {
        let huge = SmallPNG(width: 9000, height: 9000, depth: 8, kind: 2, rows: [])
        #expect(throws: StillImageError.tooLarge(path: "a.png", FrameSize(width: 9000, height: 9000))) {
            try StillImage(huge.file, path: "a.png")
        }
    }
}
