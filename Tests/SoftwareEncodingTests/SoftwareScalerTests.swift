import DevicePorts
import Media
import MediaTestSupport
import SeededNumbers
import SoftwareEncoding
import Testing

@Suite struct LetterboxTests {
    private func fit(_ source: (Int, Int), into frame: (Int, Int)) -> Letterbox {
        Letterbox(FrameSize(width: source.0, height: source.1), into: FrameSize(width: frame.0, height: frame.1))
    }

    @Test(arguments: [
        (640, 480, 640, 480, 0, 0, 640, 480), (1920, 1080, 416, 234, 0, 0, 416, 234),
        (640, 480, 1280, 720, 160, 0, 960, 720), (1280, 720, 640, 480, 0, 60, 640, 360),
        (1920, 1080, 854, 480, 0, 0, 854, 480), (1, 1000, 640, 480, 318, 0, 2, 480),
        (1000, 1, 640, 480, 0, 238, 640, 2), (3, 3, 16, 16, 0, 0, 16, 16),
    ])
    func keepsTheAspect(
        _ sourceWidth: Int, _ sourceHeight: Int, _ width: Int, _ height: Int, _ left: Int, _ top: Int, _ fitWidth: Int,
        _ fitHeight: Int
    ) {
        let fit = fit((sourceWidth, sourceHeight), into: (width, height))
        #expect(fit.left == left)
        #expect(fit.top == top)
        #expect(fit.size == FrameSize(width: fitWidth, height: fitHeight))
        #expect(fit.hasBars == (fitWidth != width || fitHeight != height))
    }

    @Test func placeIsEvenAndCenteredForAnySizes() {
        for sourceWidth in stride(from: 1, to: 700, by: 23) {
            for sourceHeight in stride(from: 1, to: 500, by: 19) {
                for frame in [(640, 480), (416, 234), (2, 2), (1280, 720)] {
                    let fit = fit((sourceWidth, sourceHeight), into: frame)
                    let (width, height) = (fit.size.width, fit.size.height)
                    let label = Comment("\(sourceWidth)x\(sourceHeight) into \(frame)")
                    #expect([fit.left, fit.top, width, height].allSatisfy { $0 % 2 == 0 && $0 >= 0 }, label)
                    #expect(width >= 2 && height >= 2, label)
                    #expect((0...3).contains(frame.0 - width - 2 * fit.left), label)
                    #expect((0...3).contains(frame.1 - height - 2 * fit.top), label)
                    #expect(width == frame.0 || height == frame.1, label)
                    // The scaled side is within one pixel of the exact value, and at least two.
                    let trueHeight = Double(frame.0 * sourceHeight) / Double(sourceWidth)
                    let trueWidth = Double(frame.1 * sourceWidth) / Double(sourceHeight)
                    let isTrue =
                        width == frame.0 && abs(Double(height) - max(2, trueHeight)) <= 1
                        || height == frame.1 && abs(Double(width) - max(2, trueWidth)) <= 1
                    #expect(isTrue, label)
                }
            }
        }
    }
}

@Suite struct SoftwareScalerTests {
    /// A frame of one color.
    private func plain(_ layout: FrameLayout, y: UInt8, u: UInt8, v: UInt8) -> [UInt8] {
        if layout.format == .yuyv { return (0..<layout.byteCount / 4).flatMap { _ in [y, u, y, v] } }
        if layout.format == .uyvy { return (0..<layout.byteCount / 4).flatMap { _ in [u, y, v, y] } }
        let luma = layout.size.width * layout.size.height
        let chroma = (layout.byteCount - luma) / 2
        var bytes = [UInt8](repeating: y, count: luma)
        switch layout.format {
        case .i420: bytes += [UInt8](repeating: u, count: chroma) + [UInt8](repeating: v, count: chroma)
        case .nv12: bytes += (0..<chroma).flatMap { _ in [u, v] }
        case .yuyv, .uyvy, .rgb888, .bgr888, .bgra, .rgba, .bgrx: break
        }
        return bytes
    }

    private func scaled(_ scaler: SoftwareScaler, _ bytes: [UInt8]) throws -> [UInt8] {
        try bytes.withUnsafeBytes { bytes in
            try scaler.scale(bytes) { scaled, layout in
                #expect(layout == scaler.target)
                return [UInt8](scaled.prefix(layout.byteCount))
            }
        }
    }

    @Test func passesMatchingFramesThrough() throws {
        let layout = FrameLayout(packed: .i420, size: FrameSize(width: 64, height: 48))
        let scaler = try SoftwareScaler(from: layout, to: layout.size)
        #expect(scaler.isIdentity)
        let bytes = plain(layout, y: 1, u: 2, v: 3)
        try bytes.withUnsafeBytes { bytes in
            let address = try scaler.scale(bytes) { scaled, _ in scaled.baseAddress }
            #expect(address == bytes.baseAddress)
        }
    }

    @Test func nv12OfTheSameSizeIsOnlySplit() throws {
        var random = SeededGenerator(seed: 9)
        let size = FrameSize(width: 34, height: 18)
        let layout = FrameLayout(packed: .nv12, size: size)
        let bytes = random.bytes(layout.byteCount)
        let pairs = Array(bytes[(34 * 18)...])
        let u = stride(from: 0, to: pairs.count, by: 2).map { pairs[$0] }
        let v = stride(from: 1, to: pairs.count, by: 2).map { pairs[$0] }
        #expect(try scaled(SoftwareScaler(from: layout, to: size), bytes) == bytes.prefix(34 * 18) + u + v)
    }

    @Test(
        arguments: [PixelFormat.i420, .nv12, .yuyv, .uyvy],
        [(640, 480), (641, 479), (1, 1), (1, 300), (300, 1), (1280, 720), (33, 17), (320, 180), (160, 180)])
    func fillsItsPlaceAndLeavesBlackBars(format: PixelFormat, side: (Int, Int)) throws {
        let layout = FrameLayout(packed: format, size: FrameSize(width: side.0, height: side.1))
        let target = FrameSize(width: 320, height: 180)
        let scaler = try SoftwareScaler(from: layout, to: target)
        let bytes = plain(layout, y: 200, u: 90, v: 160)
        // Twice, because the buffer is reused.
        for result in [try scaled(scaler, bytes), try scaled(scaler, bytes)] {
            #expect(strays(in: result[0..<57_600], 1, scaler.fit, inside: 200, outside: 16) == 0)
            #expect(strays(in: result[57_600..<72_000], 2, scaler.fit, inside: 90, outside: 128) == 0)
            #expect(strays(in: result[72_000..<86_400], 2, scaler.fit, inside: 160, outside: 128) == 0)
            #expect(result.count == 86_400)
        }
    }

    /// Counts the samples of a plane of a 320x180 frame that differ from the expected value. Filters may round inside.
    private func strays(
        in plane: ArraySlice<UInt8>, _ divisor: Int, _ fit: Letterbox, inside: Int, outside: Int
    ) -> Int {
        let columns = fit.left / divisor..<(fit.left + fit.size.width) / divisor
        let rows = fit.top / divisor..<(fit.top + fit.size.height) / divisor
        let width = 320 / divisor
        return plane.enumerated().count { place, sample in
            columns.contains(place % width) && rows.contains(place / width)
                ? abs(Int(sample) - inside) > 1 : Int(sample) != outside
        }
    }

    /// Colors in BT.601 limited range.
    @Test(
        arguments: [PixelFormat.rgb888, .bgr888, .bgra, .rgba, .bgrx],
        [
            ([255, 0, 0], [82, 90, 240]), ([0, 255, 0], [145, 54, 34]), ([0, 0, 255], [41, 240, 110]),
            ([255, 255, 255], [235, 128, 128]), ([0, 0, 0], [16, 128, 128]),
        ] as [([UInt8], [UInt8])])
    func colorsHaveTheirBytesInOrder(format: PixelFormat, color: ([UInt8], [UInt8])) throws {
        let target = FrameSize(width: 32, height: 18)
        for size in [target, FrameSize(width: 64, height: 36), FrameSize(width: 16, height: 9)] {
            let layout = FrameLayout(packed: format, size: size)
            let hasRedFirst = format == .bgr888 || format == .rgba
            let pixel: [UInt8] = hasRedFirst ? color.0 : color.0.reversed()
            // Whatever the fourth byte says, the pixel is opaque.
            let bytes = (0..<size.width * size.height).flatMap { index -> [UInt8] in
                format.bytesPerPixel == 4 ? pixel + [UInt8(index % 256)] : pixel
            }
            #expect(bytes.count == layout.byteCount)
            let result = try scaled(SoftwareScaler(from: layout, to: target), bytes)
            for (plane, place) in [0..<576, 576..<720, 720..<864].enumerated() {
                let strays = result[place].count { abs(Int($0) - Int(color.1[plane])) > 1 }
                #expect(strays == 0, "plane \(plane) of \(size): \(result[place].prefix(4))")
            }
        }
    }

    /// Frames with 720 rows or more use BT.709, whatever size they are scaled to, and so do parts of such frames.
    @Test(
        arguments: [PixelFormat.rgb888, .bgr888, .bgra, .rgba, .bgrx],
        [
            ([255, 0, 0], [63, 102, 240]), ([0, 255, 0], [173, 42, 26]), ([0, 0, 255], [32, 240, 118]),
            ([255, 255, 255], [235, 128, 128]), ([0, 0, 0], [16, 128, 128]), ([200, 64, 32], [94, 100, 189]),
        ] as [([UInt8], [UInt8])])
    func highDefinitionColorsAreBT709(format: PixelFormat, color: ([UInt8], [UInt8])) throws {
        let pixel: [UInt8] = format == .bgr888 || format == .rgba ? color.0 : color.0.reversed()
        let places: [((Int, Int), (Int, Int), Int?)] = [
            ((2, 720), (2, 720), nil), ((4, 1440), (2, 720), nil), ((36, 721), (18, 360), nil), ((6, 22), (6, 22), 720),
        ]
        for (from, to, whole) in places {
            let layout = FrameLayout(packed: format, size: FrameSize(width: from.0, height: from.1))
            let bytes = (0..<from.0 * from.1).flatMap { _ in pixel + (format.bytesPerPixel == 4 ? [77] : []) }
            let target = FrameSize(width: to.0, height: to.1)
            let scaler = try SoftwareScaler(
                from: layout, to: target, fillsTarget: true,
                partOf: whole.map { FrameSize(width: $0 * 16 / 9, height: $0) })
            let result = try scaled(scaler, bytes)
            let luma = target.pixelCount
            for (plane, place) in [0..<luma, luma..<luma * 5 / 4, luma * 5 / 4..<luma * 3 / 2].enumerated() {
                let strays = result[place].count { abs(Int($0) - Int(color.1[plane])) > 2 }
                #expect(strays == 0, "plane \(plane) of \(from) as \(to): \(result[place].prefix(4))")
            }
        }
    }

    /// Strips must give the same result as unpacking the whole frame and then scaling it.
    @Test(
        arguments: [PixelFormat.yuyv, .uyvy, .rgb888, .bgra],
        [
            // 2:1, 4:3, 3:2 with bars, 9:4, a single strip, no strips.
            ((640, 360), (320, 180)), ((640, 480), (480, 360)), ((960, 540), (640, 480)), ((480, 270), (320, 120)),
            ((322, 358), (160, 178)), ((320, 179), (160, 90)), ((320, 180), (640, 360)),
        ])
    func stripsGiveTheSameResultAsTheWholeFrame(format: PixelFormat, sides: ((Int, Int), (Int, Int))) throws {
        let size = FrameSize(width: sides.0.0, height: sides.0.1)
        let target = FrameSize(width: sides.1.0, height: sides.1.1)
        let layout = FrameLayout(packed: format, size: size)
        // Gradients with a sharp pattern, so that a seam between two strips would show.
        let bytes = (0..<layout.byteCount).map { UInt8(truncatingIfNeeded: $0 % 251 / 2 + ($0 / 977 % 5) * 23) }
        let result = try scaled(SoftwareScaler(from: layout, to: target), bytes)
        guard size.height % 2 == 0 else { return #expect(result.count == target.width * target.height * 3 / 2) }
        let whole = try scaled(SoftwareScaler(from: layout, to: size), bytes)
        let planes = FrameLayout(packed: .i420, size: size)
        let expected = try scaled(SoftwareScaler(from: planes, to: target), whole)
        #expect(result.count == expected.count)
        let differences = zip(result, expected).map { abs(Int($0) - Int($1)) }
        #expect(differences.max() ?? 0 <= 2)
        #expect(Set(result).count > 50)
    }

    @Test func passesAreCounted() throws {
        func passes(_ format: PixelFormat, _ width: Int, _ height: Int, to side: (Int, Int)) throws -> Int {
            let layout = FrameLayout(packed: format, size: FrameSize(width: width, height: height))
            return try SoftwareScaler(from: layout, to: FrameSize(width: side.0, height: side.1)).passCount
        }
        #expect(try passes(.i420, 640, 480, to: (640, 480)) == 0)
        for format in PixelFormat.allCases where format != .i420 {
            #expect(try passes(format, 640, 480, to: (640, 480)) == 1)
        }
        // Sizes of common cameras and streams, scaled down.
        let ordinary = [
            ((640, 480), [(400, 300), (480, 360), (416, 234), (480, 270), (640, 360)]),
            ((1280, 720), [(416, 234), (480, 270), (640, 360), (960, 540), (640, 480)]),
            ((1920, 1080), [(480, 270), (640, 360), (960, 540), (1280, 720)]),
        ]
        for format in PixelFormat.allCases {
            for (side, targets) in ordinary {
                for target in targets {
                    #expect(try passes(format, side.0, side.1, to: target) == 1, "\(format) \(side) to \(target)")
                }
            }
            // Enlarging, heights without a small ratio, and strips too large for the cache.
            for (side, target) in [((640, 360), (1280, 720)), ((1280, 720), (400, 300)), ((1920, 1080), (416, 234))] {
                #expect(try passes(format, side.0, side.1, to: target) == (format.isPlanar ? 1 : 2))
            }
        }
    }

    @Test func framesHaveBarsAndReuseMemory() throws {
        let layout = FrameLayout(packed: .nv12, size: FrameSize(width: 64, height: 48))
        let scaler = try SoftwareScaler(from: layout, to: FrameSize(width: 64, height: 36))
        let bytes = plain(layout, y: 200, u: 90, v: 160)
        let frame = CapturedFrame(
            layout: layout, captureTime: MediaTimestamp(milliseconds: 7), memory: ArrayFrame(bytes))
        let expected = try scaled(scaler, bytes)
        func place() throws -> ObjectIdentifier? { try scaler.scale(frame).map { ObjectIdentifier($0.memory) } }
        let places = try Set((0..<5).map { _ in try place() })
        #expect(places.count == 1)
        let held = try #require(try scaler.scale(frame))
        #expect(try place() != ObjectIdentifier(held.memory))
        #expect(held.layout == scaler.target && held.captureTime == frame.captureTime)
        #expect(held.withBytes { [UInt8]($0) } == expected)
        let short = CapturedFrame(layout: layout, captureTime: .zero, memory: ArrayFrame(Array(bytes.dropLast())))
        #expect(throws: VideoEncodingError.self) { try scaler.scale(short) }
    }

    @Test func nv12AndI420GiveTheSameFrame() throws {
        let scenery = Scenery(size: FrameSize(width: 320, height: 240))
        let i420 = scenery.frame(3)
        let (luma, chroma) = (320 * 240, 160 * 120)
        var nv12 = Array(i420.prefix(luma))
        for place in luma..<luma + chroma { nv12 += [i420[place], i420[place + chroma]] }
        let target = FrameSize(width: 208, height: 100)
        let first = try scaled(SoftwareScaler(from: scenery.layout, to: target), i420)
        let second = try scaled(
            SoftwareScaler(from: FrameLayout(packed: .nv12, size: scenery.layout.size), to: target), nv12)
        #expect(first == second)
        #expect(Set(first.prefix(208 * 100)).count > 50)
    }

    @Test func refusesUnsupportedLayouts() throws {
        let size = FrameSize(width: 64, height: 48)
        let layout = FrameLayout(packed: .i420, size: size)
        for (width, height) in [(63, 48), (64, 47), (0, 48), (64, 16_386)] {
            let wrong = FrameSize(width: width, height: height)
            #expect(throws: VideoEncodingError.unsupportedSize(wrong)) { try SoftwareScaler(from: layout, to: wrong) }
        }
        let none = FrameLayout(packed: .nv12, size: FrameSize(width: 0, height: 2))
        #expect(throws: VideoEncodingError.unsupportedSize(none.size)) { try SoftwareScaler(from: none, to: size) }
        let scaler = try SoftwareScaler(from: layout, to: size)
        let short = [UInt8](repeating: 0, count: layout.byteCount - 1)
        #expect(throws: VideoEncodingError.incompleteFrame(layout, byteCount: short.count)) {
            try scaled(scaler, short)
        }
    }
}
