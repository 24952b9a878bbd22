import DevicePorts
import Filters
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import SeededNumbers
import Testing

@testable import FrameFiltering

@Suite struct ImageFilterTests {
    /// 2x2 pixels: red, half-transparent green, blue, fully transparent. Encoded by hand (ISO 15948).
    private static let small = SmallPNG(
        width: 2, height: 2, depth: 8, kind: 6,
        rows: [
            [255, 0, 0, 255, 0, 255, 0, 128], [0, 0, 255, 255, 9, 9, 9, 0],
        ])

    private func withFile<Value>(_ bytes: [UInt8], _ body: (String) throws -> Value) throws -> Value {
        let directory = try TemporaryDirectory()
        let path = try directory.write(bytes, to: "logo")
        return try withExtendedLifetime(directory) { try body(path) }
    }

    private func shown(_ file: [UInt8], on size: FrameSize, _ rest: String = "position=0,0", y: UInt8 = 16) throws
        -> FrameInMemory
    {
        try withFile(file) { path in
            var frame = FrameInMemory(.i420, size, y: y, u: 128, v: 128)
            try frame.apply(FilterPass(LoadedFilters(FilterChain(parsing: ["image,file=\(path),\(rest)"]))), .bt601)
            return frame
        }
    }

    @Test func colorsAndAlphaReachTheFrame() throws {
        let frame = try shown(Self.small.file, on: FrameSize(width: 8, height: 8), y: 235)
        // BT.601 limited range: red 81, green 145, blue 41.
        #expect(frame.luma(0, 0) == 81)
        #expect(abs(Int(frame.luma(1, 0)) - (145 + 235) / 2) <= 1)
        #expect(frame.luma(0, 1) == 41 && frame.luma(1, 1) == 235 && frame.luma(2, 0) == 235)
        #expect(frame.chroma(1, 0) == [128, 128])
        // Mean of 2x2 pixels: (red + green / 2 + blue) / 4 over gray.
        let expected: [Double] = [(90 + 27 + 240 + 192) / 4, (240 + 17 + 110 + 192) / 4]
        for (shown, wanted) in zip(frame.chroma(0, 0), expected) {
            #expect(abs(Double(shown) - wanted) < 1.6, "\(shown)")
        }
    }

    @Test func invisibleImageCostsNoPass() throws {
        try withFile(Self.small.file) { path in
            for (opacity, isIdle) in [("0", true), ("0.1", false)] {
                let chain = try FilterChain(parsing: ["image,file=\(path),opacity=\(opacity)"])
                #expect(FilterPass(try LoadedFilters(chain)).isIdle == isIdle)
            }
        }
    }

    @Test func opacityScalesAlpha() throws {
        let none = try shown(Self.small.file, on: FrameSize(width: 8, height: 8), "position=0,0,opacity=0", y: 99)
        #expect(none.bytes == FrameInMemory(.i420, FrameSize(width: 8, height: 8), y: 99, u: 128, v: 128).bytes)
        let half = try shown(Self.small.file, on: FrameSize(width: 8, height: 8), "position=0,0,opacity=0.5", y: 200)
        #expect(abs(Int(half.luma(0, 0)) - 141) <= 1)
    }

    @Test func allKindsOfPNGAreAccepted() throws {
        let size = FrameSize(width: 4, height: 4)
        // White in each kind: 1-bit gray, 16-bit gray, 16-bit RGB, palette, palette with transparency, gray with alpha.
        let whites: [SmallPNG] = [
            SmallPNG(width: 2, height: 2, depth: 1, kind: 0, rows: [[0xC0], [0xC0]]),
            SmallPNG(width: 2, height: 2, depth: 16, kind: 0, rows: [[255, 255, 255, 255], [255, 255, 255, 255]]),
            SmallPNG(
                width: 2, height: 2, depth: 16, kind: 2,
                rows: [[UInt8](repeating: 255, count: 12), [UInt8](repeating: 255, count: 12)]),
            SmallPNG(
                width: 2, height: 2, depth: 8, kind: 3, palette: [0, 0, 0, 255, 255, 255], rows: [[1, 1], [1, 1]]),
            SmallPNG(width: 2, height: 2, depth: 8, kind: 4, rows: [[255, 255, 255, 255], [255, 255, 255, 255]]),
        ]
        for white in whites {
            let frame = try shown(white.file, on: size)
            #expect(frame.luma(0, 0) == 235 && frame.luma(1, 1) == 235, "\(white)")
        }
        // A 16-bit medium gray equals the 8-bit one, because light is not linear.
        let gray = SmallPNG(
            width: 2, height: 2, depth: 16, kind: 0, rows: [[128, 128, 128, 128], [128, 128, 128, 128]])
        #expect(try shown(gray.file, on: size).luma(0, 0) == 126)
        let transparent = SmallPNG(
            width: 2, height: 2, depth: 8, kind: 3, palette: [0, 0, 0, 255, 255, 255], transparency: [255, 0],
            rows: [[1, 0], [1, 1]])
        let frame = try shown(transparent.file, on: size, y: 100)
        #expect(frame.luma(0, 0) == 100 && frame.luma(1, 0) == 16)
        let keyed = SmallPNG(
            width: 2, height: 2, depth: 8, kind: 0, transparency: [0, 77], rows: [[77, 255], [77, 77]])
        #expect(try shown(keyed.file, on: size, y: 100).luma(0, 0) == 100)
    }

    @Test func imageLargerThanTheFrameIsShrunk() throws {
        let row = [UInt8](repeating: 255, count: 300)
        let wide = SmallPNG(width: 300, height: 20, depth: 8, kind: 0, rows: [[UInt8]](repeating: row, count: 20))
        let frame = try shown(wide.file, on: FrameSize(width: 60, height: 40), "position=center")
        #expect(
            frame.luma(0, 20) == 235 && frame.luma(59, 19) == 235 && frame.luma(30, 15) == 16
                && frame.luma(30, 26) == 16)
        let part = try shown(wide.file, on: FrameSize(width: 60, height: 40), "position=0,0,width=0.5")
        #expect(part.luma(29, 1) == 235 && part.luma(30, 1) == 16 && part.luma(0, 2) == 16)
    }

    /// Every fourth column is white, so a shrunk image is dark gray everywhere.
    @Test(arguments: [(256, 256, 60), (256, 256, 33), (301, 301, 52), (1024, 1024, 40)])
    func everyPixelOfALargeFileCounts(width: Int, height: Int, side: Int) throws {
        let row = (0..<width).map { $0 % 4 == 0 ? UInt8(255) : 0 }
        let file = SmallPNG(
            width: width, height: height, depth: 8, kind: 0, rows: [[UInt8]](repeating: row, count: height)
        ).file
        let frame = try shown(file, on: FrameSize(width: side, height: side))
        let seen = frame.planes[0].enumerated().filter { (1..<side - 1).contains($0.offset % side) }.map(\.element)
        // A quarter of 219 above black.
        #expect(seen.allSatisfy { abs(Int($0) - 71) <= 12 }, "\(Set(seen).sorted())")
    }

    @Test func brokenFilesAreRefused() throws {
        func refusal(_ bytes: [UInt8]) throws -> FilteringError? {
            try withFile(bytes) { path in
                do throws(FilteringError) {
                    let chain = try? FilterChain(parsing: ["image,file=\(path)"])
                    _ = try LoadedFilters(chain ?? FilterChain())
                    return nil
                } catch {
                    return error
                }
            }
        }
        let row = (0..<100).map { UInt8($0) }
        let good = SmallPNG(width: 100, height: 50, depth: 8, kind: 0, rows: [[UInt8]](repeating: row, count: 50)).file
        #expect(try refusal(good) == nil)
        // Truncated anywhere, even in the last chunk, which contains no image data.
        for count in Array(stride(from: 0, to: good.count - 12, by: 97)) + Array(good.count - 12..<good.count) {
            guard case .unusableImage = try refusal(Array(good.prefix(count))) else {
                Issue.record("\(count) of \(good.count) bytes are taken")
                continue
            }
        }
        var wrongSum = good
        wrongSum[60] ^= 0x40
        guard case .unusableImage = try refusal(wrongSum) else {
            Issue.record("a wrong checksum is taken")
            return
        }
        let colors: [UInt8] = [0, 0, 0, 255, 255, 255, 9, 9, 9]
        // Two bits each: the second pixel uses the palette's last color, the third one that does not exist.
        for (width, isGood) in [(2, true), (3, false)] {
            let file = SmallPNG(
                width: width, height: 1, depth: 2, kind: 3, palette: colors, rows: [[0b0010_1111]]
            ).file
            let error = try refusal(file)
            let text = error.map { "\($0)" } ?? "taken"
            #expect(isGood ? error == nil : text.contains("palette"), "\(width): \(text)")
        }
        let bomb = SmallPNG(width: 60_000, height: 60_000, depth: 8, kind: 6, rows: [])
        guard case .tooLargeImage(_, _, FrameSize(width: 60_000, height: 60_000)) = try refusal(bomb.file) else {
            Issue.record("a bomb is taken")
            return
        }
        // Each may unpack to megabytes before the image is read.
        let texts = SmallPNG(width: 1, height: 1, depth: 8, kind: 0, rows: [[0]], texts: 5)
        guard case .unusableImage(_, _, let why) = try refusal(texts.file), why == "it holds too many texts" else {
            Issue.record("any number of texts is unpacked")
            return
        }
        guard case .unusableImage(_, _, let reason) = try refusal(Array("GIF89a".utf8)) else {
            Issue.record("a GIF is taken")
            return
        }
        #expect(reason == "it is neither PNG nor JPEG")
        let long = [UInt8](repeating: 0, count: LoadedFilters.largestImageFile + 1)
        guard case .unreadableFile(_, let error) = try refusal(long), error.number == EFBIG else {
            Issue.record("a file of any length is taken")
            return
        }
    }

    /// Image data can unpack to a thousand times the file's size.
    @Test func imageDataAfterTheLastRowIsNotUnpacked() throws {
        func refusal(_ bytes: [UInt8]) throws -> String? {
            try withFile(bytes) { path in
                do throws(FilteringError) {
                    _ = try LoadedFilters((try? FilterChain(parsing: ["image,file=\(path)"])) ?? FilterChain())
                    return nil
                } catch {
                    guard case .unusableImage(_, _, let reason) = error else { return "\(error)" }
                    return reason
                }
            }
        }
        func onePixel(rows: Int) -> [UInt8] {
            SmallPNG(width: 1, height: 1, depth: 8, kind: 0, rows: [[UInt8]](repeating: [0], count: rows)).file
        }
        func interlaced(_ file: [UInt8]) -> [UInt8] {
            var file = file
            // The header's last byte, and the checksum of such a header for one gray pixel.
            file.replaceSubrange(28..<33, with: [1, 77, 121, 171, 195])
            return file
        }
        let reason = "it holds more image data than its size says"
        for excessive in [onePixel(rows: 100_000), interlaced(onePixel(rows: 100_000))] {
            #expect(try refusal(excessive) == reason)
        }
        #expect(try refusal(onePixel(rows: 1)) == nil)
        #expect(try refusal(interlaced(onePixel(rows: 1))) == nil)
        // The longest possible row, uncompressed.
        let row = [UInt8](repeating: 255, count: 8 * DecodedImage.longestSide)
        for height in 1...2 {
            let wide = SmallPNG(
                width: DecodedImage.longestSide, height: height, depth: 16, kind: 6,
                rows: [[UInt8]](repeating: row, count: height))
            #expect(try refusal(wide.file) == nil)
        }
    }

    @Test func unreadableFilesAreRefused() throws {
        for (path, number) in [("/nowhere/logo.png", ENOENT), ("/tmp", EISDIR), ("/dev/zero", EINVAL)] {
            do throws(FilteringError) {
                let chain = try? FilterChain(parsing: ["image,file=\(path)"])
                _ = try LoadedFilters(chain ?? FilterChain())
                Issue.record("\(path) is taken")
            } catch {
                guard case .unreadableFile(let filter, let error) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(filter == FilterID(.image) && error.number == number)
            }
        }
    }

    @Test func unchangedFilesAreNotReadAgain() throws {
        try withFile(Self.small.file) { path in
            let chain = try FilterChain(parsing: ["image,file=\(path)"])
            let first = try LoadedFilters(chain)
            let setting = try #require(chain[FilterID(.image)])
            let again = try LoadedFilters(chain, reusing: first)
            #expect(again.hasSameFiles(as: first.filter(for: setting)))
            try replaceFile(path, with: SmallPNG(width: 1, height: 1, depth: 8, kind: 0, rows: [[255]]).file)
            let changed = try LoadedFilters(chain, reusing: again)
            #expect(!changed.hasSameFiles(as: first.filter(for: setting)))
        }
    }
}
