import DevicePorts
import Media
import MediaTestSupport
import Testing
import USBVideo

@testable import WebcamService

/// Frames in the form that computers assume: BT.601, full range for JPEG and limited range for raw frames, whatever the
/// camera's were.
@Suite struct WebcamFramesTests {
    /// One color of the scene. ITU-R BT.601 and BT.709, chapter 3 of each.
    private static let scene = (red: 200.0, green: 40.0, blue: 90.0)

    private static func samples(_ colors: VideoColors) -> (y: UInt8, u: UInt8, v: UInt8) {
        let (red, blue) = colors.matrix == VideoColors.bt709.matrix ? (0.2126, 0.0722) : (0.299, 0.114)
        let luma = red * scene.red + (1 - red - blue) * scene.green + blue * scene.blue
        let chroma = ((scene.blue - luma) / (2 - 2 * blue), (scene.red - luma) / (2 - 2 * red))
        let (black, lumaRange, chromaRange) = colors.isFullRange ? (0.0, 1.0, 1.0) : (16.0, 219.0 / 255, 224.0 / 255)
        func rounded(_ value: Double) -> UInt8 { UInt8(value.rounded()) }
        return (
            rounded(black + luma * lumaRange), rounded(128 + chroma.0 * chromaRange),
            rounded(128 + chroma.1 * chromaRange)
        )
    }

    private static func frame(_ colors: VideoColors, _ size: FrameSize) -> CapturedFrame {
        let (y, u, v) = samples(colors)
        let pairs = (0..<size.pixelCount / 4).flatMap { _ in [u, v] }
        return CapturedFrame(
            layout: FrameLayout(packed: .nv12, size: size), captureTime: .zero,
            memory: ArrayFrame([UInt8](repeating: y, count: size.pixelCount) + pairs))
    }

    /// - Parameter count: how often it is sent.
    private static func written(
        _ frame: CapturedFrame, _ colors: VideoColors?, as coding: VideoCoding, count: Int = 1
    ) throws -> [UInt8] {
        let modes = VideoOffer(on: IsochronousBudget()).formats.flatMap(\.modes)
        let mode = try #require(
            modes.first { $0.coding == coding && $0.size == FrameSize(width: 640, height: 360) })
        let frames = try WebcamFrames(VideoChoice(mode: mode, interval: mode.usualInterval), largestFile: 500_000)
        var room = [UInt8](repeating: 0, count: 500_000)
        var byteCount = 0
        for _ in 0..<count {
            var taken: CapturedFrame? = frame
            byteCount = try room.withUnsafeMutableBytes { try frames.write(&taken, colors: colors, into: $0) }
            #expect(taken == nil)
        }
        return [UInt8](room.prefix(byteCount))
    }

    private static let all: [VideoColors] = [
        .bt601, .bt709, .jpeg, VideoColors(primaries: 1, transfer: 1, matrix: 1, isFullRange: true),
    ]
    private static let sizes = [FrameSize(width: 640, height: 360), FrameSize(width: 1280, height: 720)]

    private static func isScene(jpeg file: [UInt8]) throws -> Bool {
        let pixels = try FFmpeg.pixels(of: file)
        try #require(pixels.count == 3 * 640 * 360)
        let wanted = [scene.red, scene.green, scene.blue]
        return pixels.indices.allSatisfy { abs(Double(pixels[$0]) - wanted[$0 % 3]) < 6 }
    }

    @Test(arguments: all, sizes) func jpegMatchesTheScenesColors(colors: VideoColors, size: FrameSize) throws {
        #expect(try Self.isScene(jpeg: Self.written(Self.frame(colors, size), colors, as: .mjpeg)))
    }

    @Test(arguments: all, sizes) func rawFramesMatchTheScenesColors(colors: VideoColors, size: FrameSize) throws {
        let bytes = try Self.written(Self.frame(colors, size), colors, as: .nv12)
        try #require(bytes.count == 640 * 360 * 3 / 2)
        let wanted = Self.samples(.bt601)
        func isNear(_ sample: UInt8, _ wanted: UInt8) -> Bool { abs(Int(sample) - Int(wanted)) <= 2 }
        #expect(bytes[..<(640 * 360)].allSatisfy { isNear($0, wanted.y) })
        #expect(
            bytes.indices[(640 * 360)...].allSatisfy { isNear(bytes[$0], $0 % 2 == 0 ? wanted.u : wanted.v) })
    }

    @Test func unreportedColorsFollowTheFrameSize() throws {
        for (size, colors) in zip(Self.sizes, [VideoColors.bt601, .bt709]) {
            #expect(try Self.isScene(jpeg: Self.written(Self.frame(colors, size), nil, as: .mjpeg)))
        }
    }

    /// The reported matrix of RGB frames is not that of the planes that libyuv makes from them.
    @Test func rgbFramesNeedNoConversion() throws {
        let pixel = [UInt8(Self.scene.blue), UInt8(Self.scene.green), UInt8(Self.scene.red), 255]
        let size = FrameSize(width: 640, height: 360)
        let frame = CapturedFrame(
            layout: FrameLayout(packed: .bgra, size: size), captureTime: .zero,
            memory: ArrayFrame((0..<size.pixelCount).flatMap { _ in pixel }))
        let colors = VideoColors(primaries: 1, transfer: 13, matrix: 0, isFullRange: true)
        #expect(try Self.isScene(jpeg: Self.written(frame, colors, as: .mjpeg)))
    }

    // MARK: Bars

    /// A 4:3 frame between side bars, and a tall frame, each with the distance from the left edge to the scene.
    private static let shapes = [(FrameSize(width: 640, height: 480), 80), (FrameSize(width: 360, height: 640), 218)]

    /// After any number of frames, the bars are as black as at first.
    @Test(arguments: all, shapes) func jpegBarsAreBlack(colors: VideoColors, shape: (FrameSize, Int)) throws {
        let file = try Self.written(Self.frame(colors, shape.0), colors, as: .mjpeg, count: 20)
        let pixels = try FFmpeg.pixels(of: file)
        try #require(pixels.count == 3 * 640 * 360)
        let row = pixels[(3 * 640 * 180)...].prefix(3 * 640)
        let bar = row.prefix(3 * (shape.1 - 8)) + row.suffix(3 * (shape.1 - 8))
        #expect(bar.allSatisfy { $0 <= 3 }, "\(bar.max() ?? 0)")
        let middle = [UInt8](row.dropFirst(3 * 320).prefix(3))
        let wanted = [Self.scene.red, Self.scene.green, Self.scene.blue]
        #expect(zip(middle, wanted).allSatisfy { abs(Double($0) - $1) < 6 }, "\(middle)")
    }

    @Test(arguments: all, shapes) func rawFrameBarsAreBlack(colors: VideoColors, shape: (FrameSize, Int)) throws {
        let bytes = try Self.written(Self.frame(colors, shape.0), colors, as: .nv12, count: 20)
        try #require(bytes.count == 640 * 360 * 3 / 2)
        let (luma, chroma) = (bytes[(640 * 180)...].prefix(640), bytes[(640 * 360 + 640 * 90)...].prefix(640))
        #expect((luma.prefix(shape.1 - 2) + luma.suffix(shape.1 - 2)).allSatisfy { $0 == 16 })
        #expect((chroma.prefix(shape.1 - 2) + chroma.suffix(shape.1 - 2)).allSatisfy { $0 == 128 })
        #expect(abs(Int(luma[luma.startIndex + 320]) - Int(Self.samples(.bt601).y)) <= 2)
    }
}
