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

    private struct Plane {
        /// Samples of a row.
        let width: Int
        /// Multiplied by alpha.
        var samples: [UInt8]
        /// What alpha leaves of 255.
        var rest: [UInt8]
        /// Of each row, the samples that can be seen.
        var spans: [Range<Int>] = []

        init(width: Int, height: Int) {
            self.width = width
            samples = [UInt8](repeating: 0, count: width * height)
            rest = [UInt8](repeating: 255, count: width * height)
        }

        /// - Parameters:
        ///   - sample: not multiplied by alpha.
        ///   - alpha: from 0 to 255.
        mutating func set(_ place: Int, _ sample: Float, alpha: Float) {
            let rest = 255 - alpha.rounded()
            samples[place] = UInt8(min(max(sample * (255 - rest) / 255, 0), 255).rounded())
            self.rest[place] = UInt8(rest)
        }

        mutating func findSpans() {
            guard width > 0 else { return }
            spans = stride(from: 0, to: rest.count, by: width).map { start in
                let row = rest[start..<start + width]
                guard let first = row.firstIndex(where: { $0 < 255 }), let last = row.lastIndex(where: { $0 < 255 })
                else {
                    return 0..<0
                }
                return first - start..<last + 1 - start
            }
        }

        func blend(_ row: Int, into samples: UnsafeMutablePointer<UInt8>) {
            let span = spans[row]
            guard !span.isEmpty else { return }
            let start = row * width + span.lowerBound
            self.samples.withUnsafeBufferPointer { source in
                rest.withUnsafeBufferPointer { rest in
                    guard let source = source.baseAddress, let rest = rest.baseAddress else { return }
                    cfilter_blend(samples + span.lowerBound, source + start, rest + start, span.count)
                }
            }
        }
    }

    /// Even, within the frame together with the size.
    private let x: Int
    private let y: Int
    private let size: FrameSize
    private var luma: Plane
    /// U and V by turns, or U, then V.
    private var chroma: [Plane]

    /// - Parameters:
    ///   - pixels: no larger than the frame.
    ///   - corner: the upper left one, even, so that all pixels lie within the frame.
    ///   - opacity: from 0 to 1.
    init(_ pixels: Pixels, at corner: (x: Int, y: Int), opacity: Double, in format: FrameFormat) {
        (x, y) = corner
        size = pixels.size
        let (halfWidth, halfHeight) = ((size.width + 1) / 2, (size.height + 1) / 2)
        luma = Plane(width: size.width, height: size.height)
        chroma =
            format.chroma == .pairs
            ? [Plane(width: 2 * halfWidth, height: halfHeight)]
            : [Plane(width: halfWidth, height: halfHeight), Plane(width: halfWidth, height: halfHeight)]
        let converter = PixelConverter(format.colors, opacity: opacity)
        pixels.bytes.withUnsafeBufferPointer { bytes in
            for row in 0..<size.height { setLuma(row, bytes, converter) }
            for row in 0..<halfHeight { setChroma(row, bytes, converter) }
        }
        luma.findSpans()
        for index in chroma.indices { chroma[index].findSpans() }
    }

    private mutating func setLuma(_ row: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ converter: PixelConverter) {
        for column in 0..<size.width {
            let sum = PixelSum(bytes, width: size.width, column..<column + 1, row..<row + 1)
            guard sum.alpha > 0 else { continue }
            let place = row * size.width + column
            luma.set(place, converter.luma(sum), alpha: converter.alpha(sum))
        }
    }

    private mutating func setChroma(_ row: Int, _ bytes: UnsafeBufferPointer<UInt8>, _ converter: PixelConverter) {
        let isPairs = chroma.count == 1
        let last = chroma.count - 1
        for column in 0..<(size.width + 1) / 2 {
            let sum = PixelSum(
                bytes, width: size.width, 2 * column..<min(2 * column + 2, size.width),
                2 * row..<min(2 * row + 2, size.height))
            guard sum.alpha > 0 else { continue }
            let (samples, alpha) = (converter.chroma(sum), converter.alpha(sum))
            let place = row * chroma[0].width + (isPairs ? 2 * column : column)
            let placeOfV = isPairs ? place + 1 : place
            chroma[0].set(place, samples.u, alpha: alpha)
            chroma[last].set(placeOfV, samples.v, alpha: alpha)
        }
    }

    /// - Parameter rows: of the frame; the first one is even.
    func blend(rows: Range<Int>, into planes: FramePlanes) {
        for row in rows.clamped(to: y..<y + size.height) { luma.blend(row - y, into: planes.luma(row) + x) }
        let ours = y / 2..<(y + size.height + 1) / 2
        for row in FramePlanes.chromaRows(of: rows).clamped(to: ours) {
            if chroma.count == 1 {
                chroma[0].blend(row - y / 2, into: planes.u(row) + x)
            } else {
                chroma[0].blend(row - y / 2, into: planes.u(row) + x / 2)
                chroma[1].blend(row - y / 2, into: planes.v(row) + x / 2)
            }
        }
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
