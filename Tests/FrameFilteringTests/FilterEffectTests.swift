import DevicePorts
import Filters
import Media
import SeededNumbers
import Testing

@testable import FrameFiltering

@Suite struct FilterEffectTests {
    private let size = FrameSize(width: 96, height: 64)

    private func plain(_ y: UInt8, _ u: UInt8, _ v: UInt8, _ format: PixelFormat = .nv12) -> FrameInMemory {
        FrameInMemory(format, size, y: y, u: u, v: v)
    }

    @Test func mirrorSwapsLeftAndRight() throws {
        var random = SeededGenerator(seed: 1)
        for width in [2, 31, 32, 33, 101] {
            var frame = FrameInMemory(.nv12, width, 4, &random)
            let before = frame
            try frame.apply("mirror")
            for x in 0..<width { #expect(frame.luma(x, 3) == before.luma(width - 1 - x, 3)) }
            let half = (width + 1) / 2
            for x in 0..<half { #expect(frame.chroma(x, 1) == before.chroma(half - 1 - x, 1)) }
            try frame.apply("mirror")
            #expect(frame.bytes == before.bytes)
        }
    }

    @Test func grayKeepsLuma() throws {
        var frame = plain(77, 20, 230, .i420)
        try frame.apply("gray")
        #expect(frame.luma(50, 50) == 77 && frame.planes[1...].allSatisfy { $0.allSatisfy { $0 == 128 } })
    }

    @Test func cropIsBlackOutside() throws {
        var frame = plain(200, 90, 160)
        try frame.apply("crop,left=0.25,top=0.5,width=0.5,height=0.25")
        for y in 0..<64 {
            for x in 0..<96 {
                let isInside = (24..<72).contains(x) && (32..<48).contains(y)
                #expect(frame.luma(x, y) == (isInside ? 200 : 16), "\(x),\(y)")
                #expect(frame.chroma(x / 2, y / 2) == (isInside ? [90, 160] : [128, 128]), "\(x),\(y)")
            }
        }
        var all = plain(200, 90, 160)
        try all.apply("crop")
        #expect(all.bytes == plain(200, 90, 160).bytes)
    }

    @Test func whitenBrightensOnlyTheMidtones() throws {
        for (given, expected) in [(0, 0), (16, 16), (71, 112), (125, 179), (235, 235), (255, 255)] as [(UInt8, Int)] {
            var frame = plain(given, 100, 150)
            try frame.apply("whiten,strength=1")
            // The formula y + y * (1 - y).
            #expect(abs(Int(frame.luma(40, 40)) - expected) <= 1, "\(given)")
            #expect(frame.chroma(20, 20) == [100, 150])
            var same = plain(given, 100, 150)
            try same.apply("whiten,strength=0")
            #expect(same.luma(40, 40) == given)
        }
    }

    @Test func reddenMakesLightAreasWarmer() throws {
        var black = plain(16, 128, 128)
        try black.apply("redden,strength=1")
        #expect(black.chroma(3, 3) == [128, 128])
        var white = plain(235, 128, 128, .i420)
        try white.apply(FilterPass(LoadedFilters(FilterChain(parsing: ["redden,strength=1"]))), .bt601)
        // Red times 1.15 and blue times 0.85, in the BT.601 matrix.
        let luma = 0.15 * (0.299 - 0.114)
        let expected = [(-0.15 - luma) / 1.772, (0.15 - luma) / 1.402].map { 128 + 224 * $0 }
        let shown = white.chroma(3, 3)
        #expect(abs(Double(shown[0]) - expected[0]) <= 1.5 && abs(Double(shown[1]) - expected[1]) <= 1.5, "\(shown)")
        #expect(white.luma(9, 9) == 235)
    }

    /// Slight noise around a color, and an edge in the middle.
    private func noisy(_ chroma: (UInt8, UInt8)) -> FrameInMemory {
        var frame = plain(0, chroma.0, chroma.1)
        var random = SeededGenerator(seed: 31)
        for y in 0..<64 {
            for x in 0..<96 { frame.bytes[y * 96 + x] = (x < 48 ? 80 : 190) + UInt8.random(in: 0...16, using: &random) }
        }
        return frame
    }

    private func variance(_ frame: FrameInMemory, _ columns: Range<Int>) -> Double {
        let samples = (8..<56).flatMap { y in columns.map { Double(frame.luma($0, y)) } }
        let mean = samples.reduce(0, +) / Double(samples.count)
        return samples.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(samples.count)
    }

    @Test func smoothRemovesSkinTextureAndKeepsEdges() throws {
        let before = noisy((105, 152))
        var after = before
        try after.apply("smooth,strength=1")
        #expect(variance(before, 4..<36) > 20 && variance(after, 4..<36) < 2, "\(variance(after, 4..<36))")
        #expect(variance(after, 60..<92) < 2)
        // The step of 110 remains within two pixels.
        for y in 8..<56 { #expect(Int(after.luma(50, y)) - Int(after.luma(45, y)) > 85, "\(y)") }
        #expect(after.planes[1...] == before.planes[1...])
        var half = before
        try half.apply("smooth,strength=0.5")
        #expect(variance(half, 4..<36) < variance(before, 4..<36) && variance(half, 4..<36) > variance(after, 4..<36))
    }

    @Test func smoothKeepsEverythingButSkin() throws {
        for chroma in [(128, 128), (60, 152), (105, 110), (105, 200), (200, 150)] as [(UInt8, UInt8)] {
            var frame = noisy(chroma)
            try frame.apply("smooth,strength=1")
            #expect(frame.bytes == noisy(chroma).bytes, "\(chroma)")
        }
        var weak = noisy((105, 152))
        try weak.apply("smooth,strength=0")
        #expect(weak.bytes == noisy((105, 152)).bytes)
    }

    /// The same colors in BT.709 and in full range are skin too.
    @Test func skinIsFoundInOtherColorSpaces() throws {
        let given =
            [(VideoColors.bt601, 105, 152), (.bt709, 107, 151), (.jpeg, 102, 155)] as [(VideoColors, UInt8, UInt8)]
        for (colors, u, v) in given {
            var frame = noisy((u, v))
            try frame.apply(FilterPass(LoadedFilters(FilterChain(parsing: ["smooth,strength=1"]))), colors)
            #expect(variance(frame, 4..<36) < 2, "\(colors)")
        }
    }
}
