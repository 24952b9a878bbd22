import CFilterKernels
import Filters
import Media

/// An overlay in the frame's own format, so that a frame costs no more than the pixels it covers.
struct Overlay {
    /// Pixels in an intermediate format: red, green, blue and alpha, with premultiplied colors.
    struct Pixels: Sendable {
        var size: FrameSize
        var bytes: [UInt8]

        /// If a side is odd, its last pixels count twice.
        var halved: Pixels {
            let half = FrameSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
            return made(half) { row, target, source in
                let upper = source + 8 * row * size.width
                let lower = 2 * row + 1 < size.height ? upper + 4 * size.width : upper
                cfilter_halve_pixels(target, upper, lower, size.width)
            }
        }

        /// Bilinear.
        /// - Parameter scaled: at least half the size. Below that, some pixels would be ignored.
        func scaled(to scaled: FrameSize) -> Pixels {
            guard scaled != size else { return self }
            let rowBytes = 4 * size.width
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: rowBytes) { between in
                made(scaled) { row, target, source in
                    let place = Int(cfilter_scaled_place(row, scaled.height, size.height))
                    let upper = source + (place >> 16) * rowBytes
                    let lower = place >> 16 + 1 < size.height ? upper + rowBytes : upper
                    cfilter_between_rows(between.baseAddress, upper, lower, rowBytes, UInt32(place >> 8 & 255))
                    cfilter_scale_row(target, scaled.width, between.baseAddress, size.width)
                }
            }
        }

        /// - Parameter writeRow: receives a row's number, the target row, and the first source pixel.
        private func made(
            _ size: FrameSize, _ writeRow: (Int, UnsafeMutablePointer<UInt8>, UnsafePointer<UInt8>) -> Void
        ) -> Pixels {
            let made = [UInt8](unsafeUninitializedCapacity: 4 * size.pixelCount) { buffer, count in
                guard let target = buffer.baseAddress else { return }
                bytes.withUnsafeBufferPointer { bytes in
                    guard let source = bytes.baseAddress, bytes.count >= 4 * self.size.pixelCount else { return }
                    for row in 0..<size.height { writeRow(row, target + 4 * row * size.width, source) }
                    count = buffer.count
                }
            }
            return Pixels(size: size, bytes: made)
        }
    }

    /// Even; together with the size, it lies within the frame.
    private let x: Int
    private let y: Int
    private let size: FrameSize
    private let luma: OverlayPlane
    /// U and V interleaved, or U only.
    private let chroma: OverlayPlane
    /// V, if it is a separate plane.
    private let secondChroma: OverlayPlane?

    /// - Parameters:
    ///   - pixels: no larger than the frame.
    ///   - corner: upper left corner, even; all pixels must lie within the frame.
    ///   - opacity: from 0 to 1.
    init(_ pixels: Pixels, at corner: (x: Int, y: Int), opacity: Double, in format: FrameFormat) {
        (x, y) = corner
        size = pixels.size
        let (halfWidth, halfHeight) = ((size.width + 1) / 2, (size.height + 1) / 2)
        luma = OverlayPlane(width: size.width, height: size.height)
        let isPairs = format.chroma == .pairs
        chroma = OverlayPlane(width: isPairs ? 2 * halfWidth : halfWidth, height: halfHeight)
        secondChroma = isPairs ? nil : OverlayPlane(width: halfWidth, height: halfHeight)
        let components = OverlayComponents(format.colors, opacity: opacity)
        pixels.bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress, bytes.count >= 4 * size.pixelCount else { return }
            for row in 0..<size.height { setLuma(row, start, components) }
            for row in 0..<halfHeight { setChroma(row, start, components) }
        }
        luma.findSpans()
        chroma.findSpans()
        secondChroma?.findSpans()
    }

    private func setLuma(_ row: Int, _ pixels: UnsafePointer<UInt8>, _ components: OverlayComponents) {
        cfilter_overlay_luma(
            luma.samples(row), luma.rest(row), pixels + 4 * row * size.width, size.width, components.luma)
    }

    private func setChroma(_ row: Int, _ pixels: UnsafePointer<UInt8>, _ components: OverlayComponents) {
        let upper = pixels + 8 * row * size.width
        // If the height is odd, the last row counts twice.
        let lower = 2 * row + 1 < size.height ? upper + 4 * size.width : upper
        let (second, place, step) = secondChroma.map { ($0, 0, 1) } ?? (chroma, 1, 2)
        cfilter_overlay_chroma(
            chroma.samples(row), chroma.rest(row), step, upper, lower, size.width, components.u)
        cfilter_overlay_chroma(
            second.samples(row) + place, second.rest(row) + place, step, upper, lower, size.width, components.v)
    }

    /// - Parameter rows: rows of the frame; the first is even.
    func blend(rows: Range<Int>, into planes: FramePlanes) {
        for row in rows.clamped(to: y..<y + size.height) { luma.blend(row - y, into: planes.luma(row) + x) }
        let ours = y / 2..<(y + size.height + 1) / 2
        for row in FramePlanes.chromaRows(of: rows).clamped(to: ours) {
            chroma.blend(row - y / 2, into: planes.u(row) + (secondChroma == nil ? x : x / 2))
            secondChroma?.blend(row - y / 2, into: planes.v(row) + x / 2)
        }
    }
}

/// The overlay's samples for one plane. Set them once, before the spans are computed.
private final class OverlayPlane {
    private let width: Int
    private let height: Int
    /// Premultiplied by alpha.
    private let samples: UnsafeMutablePointer<UInt8>
    /// 255 minus alpha.
    private let rest: UnsafeMutablePointer<UInt8>
    /// The visible samples of each row.
    private let spans: UnsafeMutablePointer<Range<Int>>

    /// Starts fully transparent.
    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        samples = .allocate(capacity: width * height)
        samples.initialize(repeating: 0, count: width * height)
        rest = .allocate(capacity: width * height)
        rest.initialize(repeating: 255, count: width * height)
        spans = .allocate(capacity: height)
        spans.initialize(repeating: 0..<0, count: height)
    }

    deinit {
        samples.deallocate()
        rest.deallocate()
        spans.deallocate()
    }

    func samples(_ row: Int) -> UnsafeMutablePointer<UInt8> { samples + row * width }
    func rest(_ row: Int) -> UnsafeMutablePointer<UInt8> { rest + row * width }

    func findSpans() {
        for row in 0..<height {
            let samples = UnsafeBufferPointer(start: rest + row * width, count: width)
            guard let first = samples.firstIndex(where: { $0 < 255 }), let last = samples.lastIndex(where: { $0 < 255 })
            else { continue }
            spans[row] = first..<last + 1
        }
    }

    func blend(_ row: Int, into frame: UnsafeMutablePointer<UInt8>) {
        let span = spans[row]
        guard !span.isEmpty else { return }
        let start = row * width + span.lowerBound
        cfilter_blend(frame + span.lowerBound, samples + start, rest + start, span.count)
    }
}

/// Converts red, green and blue to luma and chroma (ITU-T H.273, section 8.3). Premultiplied colors stay premultiplied; the
/// offset of black or of neutral chroma is added together with alpha.
private struct OverlayComponents {
    let luma: cfilter_component
    let u: cfilter_component
    let v: cfilter_component

    init(_ colors: VideoColors, opacity: Double) {
        let shares = LumaShares(of: colors)
        let light = SIMD3(Double(shares.red), Double(shares.green), Double(shares.blue))
        let (lumaRange, chromaRange, black) = colors.isFullRange ? (255.0, 255.0, 0.0) : (219, 224, 16)
        func component(_ color: SIMD3<Double>, _ offset: Double) -> cfilter_component {
            let by = (SIMD4(color, offset) * (65536 * opacity / 255)).rounded(.toNearestOrAwayFromZero)
            return cfilter_component(
                by: (Int32(by.x), Int32(by.y), Int32(by.z), Int32(by.w)), opacity: Int32((65536 * opacity).rounded()))
        }
        luma = component(lumaRange * light, black)
        u = component(chromaRange * (SIMD3(0, 0, 1) - light) / (2 * (1 - light.z)), Double(FrameFormat.noColor))
        v = component(chromaRange * (SIMD3(1, 0, 0) - light) / (2 * (1 - light.x)), Double(FrameFormat.noColor))
    }
}
