import DevicePorts
import Filters
import LinuxIO
import Media
import MediaTestSupport
import SeededNumbers
import Testing

@testable import FrameFiltering

/// Compares with other implementations: numpy in floating point (reference.py), and ffmpeg's filters.
@Suite struct ReferenceTests {
    private static let size = FrameSize(width: 192, height: 128)
    private static let layout = FrameLayout(packed: .i420, size: size)

    /// Detail of all sizes, mostly with the chroma of skin.
    private static let frame: [UInt8] = {
        let scenery = Scenery(size: size, seed: 9)
        return scenery.frame(4).enumerated().map { place, sample in
            if place < size.pixelCount { return sample }
            return place < size.pixelCount * 5 / 4 ? 85 + sample / 6 : 130 + sample / 6
        }
    }()

    private static func ours(_ filters: String..., frame: [UInt8] = frame) throws -> [UInt8] {
        var filtered = frame
        let pass = FilterPass(try LoadedFilters(FilterChain(parsing: filters)))
        try filtered.withUnsafeMutableBytes { try pass.apply(to: $0, layout, .bt601, TextFields()) }
        return filtered
    }

    private static func reference(_ name: String, _ values: String...) throws -> [UInt8] {
        let directory = try TemporaryDirectory()
        let script = "/" + "\(#filePath)".split(separator: "/").dropLast().joined(separator: "/") + "/reference.py"
        let target = directory.file("output")
        try FFmpeg.runProgram(
            [
                "python3", script, name, "\(size.width)", "\(size.height)", try directory.write(frame, to: "input"),
                target,
            ]
                + values, log: directory.file("log"))
        return try readFile(target, limit: 1 << 20)
    }

    private struct Distance {
        let largest: Int
        let mean: Double

        init(_ first: [UInt8], _ second: [UInt8]) {
            let differences = zip(first, second).map { abs(Int($0) - Int($1)) }
            largest = first.count == second.count ? differences.max() ?? 0 : 255
            mean = Double(differences.reduce(0, +)) / Double(max(1, differences.count))
        }
    }

    @Test func smoothMatchesTheGuidedFilter() throws {
        for strength in ["1", "0.4"] {
            let ours = try Self.ours("smooth,strength=\(strength)")
            let distance = Distance(ours, try Self.reference("smooth", strength, "2", "300"))
            #expect(distance.largest <= 2 && distance.mean < 0.25, "\(strength): \(distance)")
            #expect(Distance(ours, Self.frame).mean > 0.5, "nothing was smoothed")
        }
    }

    @Test func tonesMatchTheFormulas() throws {
        for strength in ["1", "0.3"] {
            let white = Distance(
                try Self.ours("whiten,strength=\(strength)"), try Self.reference("whiten", strength))
            #expect(white.largest <= 1, "\(white)")
            let red = Distance(try Self.ours("redden,strength=\(strength)"), try Self.reference("redden", strength))
            #expect(red.largest <= 1, "\(red)")
        }
    }

    /// Red, green, blue and alpha, different for each pixel.
    private static let pixels = (0..<64 * 40).flatMap { place -> [UInt8] in
        let (x, y) = (place % 64, place / 64)
        let channels: [Int] = [4 * x, 6 * y, 255 - 2 * x - 3 * y, (x * y / 10 + 40 * (x & 1)) % 256]
        return channels.map { UInt8($0) }
    }

    private static func writeLogo(_ directory: TemporaryDirectory) throws -> String {
        let rows = (0..<40).map { Array(pixels[$0 * 256..<($0 + 1) * 256]) }
        return try directory.write(
            SmallPNG(width: 64, height: 40, depth: 8, kind: 6, rows: rows).file, to: "logo.png")
    }

    @Test func imagesMatchNumpy() throws {
        let directory = try TemporaryDirectory()
        let logo = try Self.writeLogo(directory)
        let raw = try directory.write(Self.pixels, to: "logo.rgba")
        for opacity in ["1", "0.6"] {
            let ours = try Self.ours("image,file=\(logo),position=0.5,0.5,opacity=\(opacity)")
            let distance = Distance(ours, try Self.reference("image", raw, "64", "40", "64", "44", opacity))
            #expect(distance.largest <= 2 && distance.mean < 0.1, "\(distance)")
            #expect(Distance(ours, Self.frame).mean > 0.5)
        }
    }

    /// ffmpeg halves the watermark's chroma before it multiplies it by alpha, so edges differ from ours.
    @Test func imagesMatchFFmpeg() throws {
        let directory = try TemporaryDirectory()
        let logo = try Self.writeLogo(directory)
        let ours = try Self.ours("image,file=\(logo),position=0.5,0.5")
        let theirs = try FFmpeg.filtered(
            Self.frame, Self.layout, by: "movie=\(logo)[logo];[0][logo]overlay=64:44:format=yuv420")
        let luma = Distance(
            Array(ours.prefix(Self.size.pixelCount)), Array(theirs.prefix(Self.size.pixelCount)))
        #expect(luma.largest <= 4 && luma.mean < 0.3, "\(luma)")
        #expect(Distance(ours, theirs).mean < 0.5, "\(Distance(ours, theirs))")
    }

    /// ffmpeg's `lut3d` between 16-bit conversions, so that it rounds as rarely as ours. It scales chroma up to full size and
    /// back, which ours does not.
    @Test func looksMatchFFmpeg() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(LookFilterTests.file(33, LookFilterTests.warm), to: "look.cube")
        let exact = "scale=flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp"
        let graph =
            "\(exact):in_color_matrix=bt601:in_range=tv:out_range=pc,format=gbrp16,lut3d=file=\(file),"
            + "\(exact):out_color_matrix=bt601:out_range=tv,format=yuv420p"
        // Colors with red, green and blue from 0 to 1, because others are clipped.
        let soft = Self.frame.enumerated().map { place, sample in
            place < Self.size.pixelCount ? 60 + sample / 2 : 112 + sample / 8
        }
        var ramp = [UInt8](repeating: 128, count: Self.layout.byteCount)
        for place in 0..<Self.size.pixelCount {
            let column = place % Self.size.width
            ramp[place] = UInt8(16 + column * 219 / (Self.size.width - 1))
        }
        for frame in [soft, ramp] {
            let ours = try Self.ours("lut,file=\(file)", frame: frame)
            let theirs = try FFmpeg.filtered(frame, Self.layout, by: graph)
            let pixels = Self.size.pixelCount
            let luma = Distance(Array(ours.prefix(pixels)), Array(theirs.prefix(pixels)))
            let chroma = Distance(Array(ours.dropFirst(pixels)), Array(theirs.dropFirst(pixels)))
            #expect(luma.largest <= 4 && luma.mean < 0.5, "\(luma)")
            #expect(chroma.largest <= 6 && chroma.mean < 0.8, "\(chroma)")
            #expect(Distance(ours, frame).mean > 2, "nothing was changed")
        }
    }

    @Test func viewsMatchFFmpeg() throws {
        #expect(try Self.ours("mirror") == FFmpeg.filtered(Self.frame, Self.layout, by: "hflip"))
        let part = "crop=96:64:48:32,pad=192:128:48:32:black"
        #expect(
            try Self.ours("crop,left=0.25,top=0.25,width=0.5,height=0.5")
                == FFmpeg.filtered(Self.frame, Self.layout, by: part))
        let gray = Distance(
            try Self.ours("gray"), try FFmpeg.filtered(Self.frame, Self.layout, by: "lutyuv=u=128:v=128"))
        #expect(gray.largest == 0)
    }

    @Test func textPositionMatchesFFmpeg() throws {
        let frame = FrameInMemory(.i420, Self.size, y: 16, u: 128, v: 128).bytes
        let ours = try Self.ours("text,text=Studio 12,size=0.2,position=0,0,outline=0", frame: frame)
        // A line of DejaVu Sans is 1.164 times its font size.
        let theirs = try FFmpeg.filtered(
            frame, Self.layout,
            by: "drawtext=text='Studio 12':fontfile=/usr/share/tallycam/font.ttf:fontsize=128*0.2/1.164:fontcolor=white"
                + ":x=0:y=0:y_align=font:ft_load_flags=no_hinting")
        let ink = [ours, theirs].map { $0.prefix(Self.size.pixelCount).reduce(0) { $0 + Int($1) - 16 } }
        #expect(abs(ink[0] - ink[1]) < ink[1] / 20, "\(ink)")
        // ffmpeg places each letter on a whole pixel, and its lines one pixel higher or lower.
        let distances = (-2...2).map { Distance(Self.luma(ours, rowsDown: $0), Self.luma(theirs, rowsDown: 0)).mean }
        #expect(distances.min() ?? 255 < 2, "\(distances)")
    }

    /// Rows 8 to 120, shifted.
    private static func luma(_ frame: [UInt8], rowsDown: Int) -> [UInt8] {
        Array(frame[(8 + rowsDown) * size.width..<(120 + rowsDown) * size.width])
    }
}
