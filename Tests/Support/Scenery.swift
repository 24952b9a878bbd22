import CLibYUV
import DevicePorts
import Media
import SeededNumbers

/// Moving frames as detailed as a camera's, identical in every run: a textured background that pans in steps of half a pixel, a
/// textured pane that crosses it in the other direction, and sensor noise over both.
public final class Scenery {
    public let layout: FrameLayout
    private let ground: [Texture]
    private let pane: Texture
    private let noise: Texture
    private var luma: [UInt8]

    /// - Parameter size: must have even sides.
    public init(size: FrameSize, seed: UInt64 = 1) {
        layout = FrameLayout(packed: .i420, size: size)
        var random = SeededGenerator(seed: seed)
        let sharp = Texture(width: size.width + Self.pan, height: size.height + Self.pan, octaves: 6, &random)
        ground = [sharp, sharp.halfPixelFurther]
        pane = Texture(width: size.width / 3, height: size.height / 2, octaves: 5, &random)
        noise = Texture(width: size.width + 64, height: size.height + 64, octaves: 1, &random)
        luma = [UInt8](repeating: 0, count: size.width * size.height)
    }

    private static let pan = 256

    /// The frame's bytes.
    public func frame(_ index: Int) -> [UInt8] {
        let (width, height) = (layout.size.width, layout.size.height)
        var bytes = [UInt8](repeating: 0, count: layout.byteCount)
        let (x, y) = (Self.swing(index, by: 3, within: 2 * Self.pan), Self.swing(index, by: 1, within: 2 * Self.pan))
        luma.withUnsafeMutableBufferPointer { luma in
            ground[x % 2].copy(fromX: x / 2, y: y / 2, width, height, to: luma, at: 0, stride: width)
            let left = (width - Self.swing(index, by: 5, within: width - pane.width) - pane.width)
            pane.copy(fromX: 0, y: 0, pane.width, pane.height, to: luma, at: height / 4 * width + left, stride: width)
        }
        bytes.withUnsafeMutableBufferPointer { bytes in
            noise.blend(luma, shift: (index * 37 % 64, index * 23 % 64), width, height, to: bytes)
            let chroma = width / 2
            ground[0].copy(fromX: x / 4, y: y / 4, chroma, height / 2, to: bytes, at: width * height, stride: chroma)
            ground[1].copy(
                fromX: Self.pan / 2 - x / 4, y: y / 4, chroma, height / 2, to: bytes,
                at: width * height + chroma * (height / 2), stride: chroma)
        }
        return bytes
    }

    /// A frame whose capture time is `index` frames after `start`.
    public func frame(_ index: Int, at rate: FrameRate, start: MediaTimestamp = .zero) -> CapturedFrame {
        CapturedFrame(
            layout: layout, captureTime: start + rate.offset(ofFrame: index), memory: ArrayFrame(frame(index)))
    }

    private static func swing(_ index: Int, by step: Int, within range: Int) -> Int {
        let phase = index * step % (2 * range)
        return phase < range ? phase : 2 * range - 1 - phase
    }
}

/// A gray plane with structures of several sizes, the coarsest being the strongest, as in nature.
private struct Texture {
    let width: Int
    let height: Int
    private var samples: [UInt8]

    init(width: Int, height: Int, octaves: Int, _ random: inout SeededGenerator) {
        self.width = width
        self.height = height
        samples = random.bytes(width * height)
        for octave in 1..<max(2, octaves) where octaves > 1 {
            let (smallWidth, smallHeight) = (max(2, width >> octave), max(2, height >> octave))
            let small = random.bytes(smallWidth * smallHeight)
            var large = samples
            ScalePlane(
                small, Int32(smallWidth), Int32(smallWidth), Int32(smallHeight), &large, Int32(width), Int32(width),
                Int32(height), kFilterBilinear)
            let fine = samples
            InterpolatePlane(
                fine, Int32(width), large, Int32(width), &samples, Int32(width), Int32(width), Int32(height), 140)
        }
    }

    /// The same texture, moved left by half a pixel.
    var halfPixelFurther: Texture {
        var moved = self
        samples.withUnsafeBufferPointer { source in
            guard let base = source.baseAddress else { return }
            InterpolatePlane(
                base, Int32(width), base + 1, Int32(width), &moved.samples, Int32(width), Int32(width - 1),
                Int32(height), 128)
        }
        return moved
    }

    func copy(
        fromX x: Int, y: Int, _ width: Int, _ height: Int, to target: UnsafeMutableBufferPointer<UInt8>, at offset: Int,
        stride: Int
    ) {
        precondition(x + width <= self.width && y + height <= self.height)
        samples.withUnsafeBufferPointer { source in
            guard let from = source.baseAddress, let to = target.baseAddress else { return }
            CopyPlane(
                from + y * self.width + x, Int32(self.width), to + offset, Int32(stride), Int32(width), Int32(height))
        }
    }

    /// Blends a little of this plane over another one.
    func blend(
        _ plane: [UInt8], shift: (x: Int, y: Int), _ width: Int, _ height: Int,
        to target: UnsafeMutableBufferPointer<UInt8>
    ) {
        samples.withUnsafeBufferPointer { source in
            guard let from = source.baseAddress else { return }
            InterpolatePlane(
                plane, Int32(width), from + shift.y * self.width + shift.x, Int32(self.width), target.baseAddress,
                Int32(width), Int32(width), Int32(height), 6)
        }
    }
}
