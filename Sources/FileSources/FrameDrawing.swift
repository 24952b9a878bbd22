import DevicePorts
import Media

/// Draws an RGB image into a black I420 frame.
struct FrameDrawing {
    private let layout: FrameLayout
    private let weights: Weights

    /// Weights of red, green and blue, times 65,536, for limited-range samples (ITU-T H.273, equations 41 to 46).
    private struct Weights {
        let y: SIMD3<Int32>
        let u: SIMD3<Int32>
        let v: SIMD3<Int32>

        init(red: Double, blue: Double) {
            let green = 1 - red - blue
            func scaled(_ value: Double) -> Int32 { Int32((value * 65_536).rounded()) }
            let luma = 219.0 / 255
            let chroma = 224.0 / 255 / 2
            y = SIMD3(scaled(luma * red), scaled(luma * green), scaled(luma * blue))
            u = SIMD3(scaled(-chroma * red / (1 - blue)), scaled(-chroma * green / (1 - blue)), scaled(chroma))
            v = SIMD3(scaled(chroma), scaled(-chroma * green / (1 - red)), scaled(-chroma * blue / (1 - red)))
        }
    }

    /// - Parameter size: must have even sides.
    init(_ size: FrameSize, _ colors: VideoColors) {
        layout = FrameLayout(packed: .i420, size: size)
        let isHighDefinition = colors.matrix == VideoColors.bt709.matrix
        weights = isHighDefinition ? Weights(red: 0.2126, blue: 0.0722) : Weights(red: 0.299, blue: 0.114)
    }

    /// - Parameter pixels: four bytes per pixel, for the whole place.
    func draw(_ pixels: [UInt8], at place: ImagePlace) -> [UInt8] {
        let luma = layout.size.pixelCount
        return [UInt8](unsafeUninitializedCapacity: layout.byteCount) { frame, count in
            frame[..<luma].initialize(repeating: 16)
            frame[luma..<layout.byteCount].initialize(repeating: 128)
            count = layout.byteCount
            pixels.withUnsafeBufferPointer { pixels in
                for row in stride(from: 0, to: place.size.height, by: 2) {
                    drawRows(row, of: pixels, at: place, into: frame)
                }
            }
        }
    }

    /// Draws two rows, which share their chroma.
    private func drawRows(
        _ row: Int, of pixels: UnsafeBufferPointer<UInt8>, at place: ImagePlace,
        into frame: UnsafeMutableBufferPointer<UInt8>
    ) {
        for column in stride(from: 0, to: place.size.width, by: 2) {
            let first = drawPixel(row, column, of: pixels, at: place, into: frame)
            let second = drawPixel(row, column + 1, of: pixels, at: place, into: frame)
            let third = drawPixel(row + 1, column, of: pixels, at: place, into: frame)
            let fourth = drawPixel(row + 1, column + 1, of: pixels, at: place, into: frame)
            let sum = first &+ second &+ third &+ fourth
            let (x, y) = ((place.left + column) / 2, (place.top + row) / 2)
            frame[layout.planes[1].offset + y * layout.planes[1].stride + x] =
                Self.sample(weights.u, sum, offset: 128, shift: 18)
            frame[layout.planes[2].offset + y * layout.planes[2].stride + x] =
                Self.sample(weights.v, sum, offset: 128, shift: 18)
        }
    }

    /// - Returns: the pixel's color.
    private func drawPixel(
        _ row: Int, _ column: Int, of pixels: UnsafeBufferPointer<UInt8>, at place: ImagePlace,
        into frame: UnsafeMutableBufferPointer<UInt8>
    ) -> SIMD3<Int32> {
        let at = 4 * (row * place.size.width + column)
        let color = SIMD3(Int32(pixels[at]), Int32(pixels[at + 1]), Int32(pixels[at + 2]))
        frame[(place.top + row) * layout.planes[0].stride + place.left + column] =
            Self.sample(weights.y, color, offset: 16, shift: 16)
        return color
    }

    private static func sample(
        _ weights: SIMD3<Int32>, _ color: SIMD3<Int32>, offset: Int32, shift: Int32
    ) -> UInt8 {
        let sum = (weights &* color).wrappedSum()
        return UInt8(clamping: offset + (sum + 1 << (shift - 1)) >> shift)
    }
}
