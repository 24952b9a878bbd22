import CFilterKernels
import Filters
import Media

/// Something that lies over frames, in their own format: a frame costs no more than the pixels that it covers.
struct Overlay {
    /// Pixels before they have a frame's format: red, green, blue and alpha, colours multiplied by alpha.
    struct Pixels {
        var size: FrameSize
        var bytes: [UInt8]
    }

    /// Even, within the frame together with the size.
    private let x: Int
    private let y: Int
    private let size: FrameSize
    private let luma: OverlayPlane
    /// U and V by turns, or U.
    private let chroma: OverlayPlane
    /// V, where it is apart.
    private let secondChroma: OverlayPlane?

    /// - Parameters:
    ///   - pixels: no larger than the frame.
    ///   - corner: the upper left one, even, so that all pixels lie within the frame.
    ///   - opacity: from 0 to 1.
    init(_ pixels: Pixels, at corner: (x: Int, y: Int), opacity: Double, in format: FrameFormat) {
        (x, y) = corner
        size = pixels.size
        let (halfWidth, halfHeight) = ((size.width + 1) / 2, (size.height + 1) / 2)
        luma = OverlayPlane(width: size.width, height: size.height)
        let isPairs = format.chroma == .pairs
        chroma = OverlayPlane(width: isPairs ? 2 * halfWidth : halfWidth, height: halfHeight)
        secondChroma = isPairs ? nil : OverlayPlane(width: halfWidth, height: halfHeight)
        let converter = PixelConverter(format.colors, opacity: opacity)
        pixels.bytes.withUnsafeBufferPointer { bytes in
            for row in 0..<size.height { setLuma(row, bytes, converter) }
            for row in 0..<halfHeight { setChroma(row, bytes, converter) }
        }
        luma.findSpans()
        chroma.findSpans()
        secondChroma?.findSpans()
    }

    private func setLuma(_ row: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ converter: PixelConverter) {
        for column in 0..<size.width {
            let sum = PixelSum(bytes, width: size.width, column..<column + 1, row..<row + 1)
            guard sum.alpha > 0 else { continue }
            luma.set(row, column, converter.luma(sum), alpha: converter.alpha(sum))
        }
    }

    private func setChroma(_ row: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ converter: PixelConverter) {
        for column in 0..<(size.width + 1) / 2 {
            let sum = PixelSum(
                bytes, width: size.width, 2 * column..<min(2 * column + 2, size.width),
                2 * row..<min(2 * row + 2, size.height))
            guard sum.alpha > 0 else { continue }
            let (samples, alpha) = (converter.chroma(sum), converter.alpha(sum))
            chroma.set(row, secondChroma == nil ? 2 * column : column, samples.u, alpha: alpha)
            (secondChroma ?? chroma).set(
                row, secondChroma == nil ? 2 * column + 1 : column, samples.v, alpha: alpha)
        }
    }

    /// - Parameter rows: of the frame; the first one is even.
    func blend(rows: Range<Int>, into planes: FramePlanes) {
        for row in rows.clamped(to: y..<y + size.height) { luma.blend(row - y, into: planes.luma(row) + x) }
        let ours = y / 2..<(y + size.height + 1) / 2
        for row in FramePlanes.chromaRows(of: rows).clamped(to: ours) {
            chroma.blend(row - y / 2, into: planes.u(row) + (secondChroma == nil ? x : x / 2))
            secondChroma?.blend(row - y / 2, into: planes.v(row) + x / 2)
        }
    }
}

/// Samples of one plane, as they are laid over a frame's. They are set once.
private final class OverlayPlane {
    private let width: Int
    private let height: Int
    /// Multiplied by alpha.
    private let samples: UnsafeMutablePointer<UInt8>
    /// What alpha leaves of 255.
    private let rest: UnsafeMutablePointer<UInt8>
    /// Of each row, the samples that can be seen.
    private let spans: UnsafeMutablePointer<Range<Int>>

    /// Nothing can be seen yet.
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

    /// - Parameters:
    ///   - sample: not multiplied by alpha.
    ///   - alpha: from 0 to 255.
    func set(_ row: Int, _ column: Int, _ sample: Float, alpha: Float) {
        let place = row * width + column
        let alpha = alpha.rounded()
        samples[place] = UInt8(min(max(sample * alpha / 255, 0), 255).rounded())
        rest[place] = UInt8(255 - alpha)
    }

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

/// The pixels of one sample: one of luma, up to four of chroma.
private struct PixelSum {
    private(set) var red: Float = 0
    private(set) var green: Float = 0
    private(set) var blue: Float = 0
    private(set) var alpha: Float = 0
    let count: Float

    /// - Parameter width: of a row of `bytes`, in pixels.
    init(_ bytes: UnsafeBufferPointer<UInt8>, width: Int, _ columns: Range<Int>, _ rows: Range<Int>) {
        count = Float(columns.count * rows.count)
        for row in rows {
            for column in columns {
                let place = 4 * (row * width + column)
                guard bytes[place + 3] > 0 else { continue }
                red += Float(bytes[place])
                green += Float(bytes[place + 1])
                blue += Float(bytes[place + 2])
                alpha += Float(bytes[place + 3])
            }
        }
    }
}

/// From red, green and blue to luma and chroma (ITU-T H.273, section 8.3).
private struct PixelConverter {
    private let shares: LumaShares
    private let isFullRange: Bool
    private let opacity: Float

    init(_ colors: VideoColors, opacity: Double) {
        shares = LumaShares(of: colors)
        isFullRange = colors.isFullRange
        self.opacity = Float(opacity)
    }

    /// From 0 to 255.
    func alpha(_ sum: PixelSum) -> Float { min(sum.alpha / sum.count * opacity, 255) }

    /// From 0 to 1, not multiplied by alpha, which has to be more than 0.
    private func light(_ sum: PixelSum) -> Float {
        (shares.red * sum.red + shares.green * sum.green + shares.blue * sum.blue) / sum.alpha
    }

    func luma(_ sum: PixelSum) -> Float { isFullRange ? 255 * light(sum) : 16 + 219 * light(sum) }

    func chroma(_ sum: PixelSum) -> (u: Float, v: Float) {
        let light = light(sum)
        let range: Float = isFullRange ? 255 : 224
        let u = (sum.blue / sum.alpha - light) / (2 * (1 - shares.blue))
        let v = (sum.red / sum.alpha - light) / (2 * (1 - shares.red))
        return (128 + range * u, 128 + range * v)
    }
}
