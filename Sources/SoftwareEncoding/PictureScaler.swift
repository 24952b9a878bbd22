import CLibYUV
import DevicePorts
import Media

/// Brings raw pictures of one layout to I420 of another size with libyuv, aspect
/// kept, in one step into one buffer that is used again for every picture. Formats of
/// one plane (YUYV, RGB) take two steps for another size: libyuv scales planes only.
///
/// I420 that has the size already is passed through untouched.
public final class PictureScaler {
    public let source: FrameLayout
    public let target: FrameLayout
    public let fit: PictureFit
    /// Whether pictures pass as they are.
    public let isIdentity: Bool

    private var output: [UInt8]
    /// NV12 that is scaled: its chroma planes in the source's size, U before V.
    private var splitChroma: [UInt8]
    /// A format of one plane that is scaled: the picture as I420 in the source's size.
    private var unpacked: [UInt8]

    /// - Parameters:
    ///   - source: sides from 1 to 16,384.
    ///   - targetSize: even sides from 2 to 16,384.
    public init(from source: FrameLayout, to targetSize: PictureSize) throws(VideoEncodingError) {
        let sides = 1...16_384
        guard sides.contains(source.size.width), sides.contains(source.size.height) else {
            throw .unsupportedSize(source.size)
        }
        guard sides.contains(targetSize.width), sides.contains(targetSize.height),
            targetSize.width % 2 == 0, targetSize.height % 2 == 0
        else { throw .unsupportedSize(targetSize) }
        self.source = source
        target = FrameLayout(packed: .i420, size: targetSize)
        fit = PictureFit(source.size, into: targetSize)
        isIdentity = source.format == .i420 && source.size == targetSize
        output = isIdentity ? [] : Self.black(target)
        let scalesChroma = source.format == .nv12 && source.size != fit.size
        let chromaWidth = (source.size.width + 1) / 2
        let chromaHeight = (source.size.height + 1) / 2
        splitChroma = scalesChroma ? [UInt8](repeating: 0, count: 2 * chromaWidth * chromaHeight) : []
        let unpacks = source.format.bytesPerPixel != nil && source.size != fit.size
        unpacked =
            unpacks ? [UInt8](repeating: 0, count: FrameLayout(packed: .i420, size: source.size).byteCount) : []
    }

    /// Studio-range black. The bars keep it: only the picture's own place is written again.
    private static func black(_ layout: FrameLayout) -> [UInt8] {
        let luma = layout.size.width * layout.size.height
        return [UInt8](unsafeUninitializedCapacity: layout.byteCount) { buffer, count in
            buffer[..<luma].initialize(repeating: 16)
            buffer[luma...].initialize(repeating: 128)
            count = layout.byteCount
        }
    }

    /// Gives the picture in the target's layout for the time of the call, together with that layout.
    /// - Parameter bytes: the picture in the source's layout.
    public func scale<Value>(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, FrameLayout) throws(VideoEncodingError) -> Value
    ) throws(VideoEncodingError) -> Value {
        guard bytes.count >= source.byteCount, let base = bytes.bindMemory(to: UInt8.self).baseAddress else {
            throw .incompleteFrame(source, byteCount: bytes.count)
        }
        if isIdentity { return try body(bytes, source) }
        let status = output.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let target = buffer.baseAddress else { return -1 }
            switch source.format {
            case .i420: return scaleI420(base, source, to: target)
            case .yuyv, .uyvy, .rgb888, .bgr888:
                return fit.size == source.size ? unpackInPlace(base, to: target) : unpackAndScale(base, to: target)
            case .nv12: return fit.size == source.size ? splitNV12(base, to: target) : scaleNV12(base, to: target)
            }
        }
        guard status == 0 else { throw .libraryFailed(call: "libyuv scale", status: Int(status), reason: nil) }
        return try output.withUnsafeBytes { bytes in
            Result { () throws(VideoEncodingError) in try body(bytes, target) }
        }.get()
    }

    /// The corner of the picture's place in one plane of the target.
    private func corner(ofPlane plane: Int, in target: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        let layout = self.target.planes[plane]
        let divisor = plane == 0 ? 1 : 2
        return target + layout.offset + fit.top / divisor * layout.stride + fit.left / divisor
    }

    private func stride(_ layout: FrameLayout, _ plane: Int) -> Int32 { Int32(layout.planes[plane].stride) }

    private func unpackInPlace(_ base: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) -> Int32 {
        unpack(
            base, to: corner(ofPlane: 0, in: target), corner(ofPlane: 1, in: target), corner(ofPlane: 2, in: target),
            self.target)
    }

    private func unpackAndScale(_ base: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) -> Int32 {
        let layout = FrameLayout(packed: .i420, size: source.size)
        return unpacked.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let planes = buffer.baseAddress else { return -1 }
            let status = unpack(
                base, to: planes, planes + layout.planes[1].offset, planes + layout.planes[2].offset, layout)
            return status == 0 ? scaleI420(planes, layout, to: target) : status
        }
    }

    /// How libyuv takes one plane and gives three: each pointer with its stride, then width and height.
    private typealias PackedConversion = (
        UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32,
        UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32
    ) -> Int32

    /// Packed pixels to planes of the same size.
    private func unpack(
        _ base: UnsafePointer<UInt8>, to y: UnsafeMutablePointer<UInt8>, _ u: UnsafeMutablePointer<UInt8>,
        _ v: UnsafeMutablePointer<UInt8>, _ layout: FrameLayout
    ) -> Int32 {
        // libyuv names the bytes of RGB24 from the highest one, as libdrm does, and calls the other order RAW.
        let convert: PackedConversion? =
            switch source.format {
            case .yuyv: YUY2ToI420
            case .uyvy: UYVYToI420
            case .rgb888: RGB24ToI420
            case .bgr888: RAWToI420
            case .i420, .nv12: nil
            }
        guard let convert else { return -1 }
        return convert(
            base + source.planes[0].offset, stride(source, 0), y, stride(layout, 0), u, stride(layout, 1),
            v, stride(layout, 2), Int32(source.size.width), Int32(source.size.height))
    }

    private func scaleI420(
        _ base: UnsafePointer<UInt8>, _ source: FrameLayout, to target: UnsafeMutablePointer<UInt8>
    ) -> Int32 {
        I420Scale(
            base + source.planes[0].offset, stride(source, 0),
            base + source.planes[1].offset, stride(source, 1),
            base + source.planes[2].offset, stride(source, 2),
            Int32(source.size.width), Int32(source.size.height),
            corner(ofPlane: 0, in: target), stride(self.target, 0),
            corner(ofPlane: 1, in: target), stride(self.target, 1),
            corner(ofPlane: 2, in: target), stride(self.target, 2),
            Int32(fit.size.width), Int32(fit.size.height), kFilterBox)
    }

    private func splitNV12(_ base: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) -> Int32 {
        NV12ToI420(
            base + source.planes[0].offset, stride(source, 0),
            base + source.planes[1].offset, stride(source, 1),
            corner(ofPlane: 0, in: target), stride(self.target, 0),
            corner(ofPlane: 1, in: target), stride(self.target, 1),
            corner(ofPlane: 2, in: target), stride(self.target, 2),
            Int32(source.size.width), Int32(source.size.height))
    }

    /// Chroma is split first: libyuv scales planes with a filter over every sample, but pairs, for most
    /// ratios, by looking at two of them, which makes fine detail flicker.
    private func scaleNV12(_ base: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) -> Int32 {
        let luma = scale(
            plane: base + source.planes[0].offset, stride(source, 0), source.size, to: 0, of: target, fit.size)
        guard luma == 0 else { return luma }
        let chroma = PictureSize(width: (source.size.width + 1) / 2, height: (source.size.height + 1) / 2)
        let width = Int32(chroma.width)
        return splitChroma.withUnsafeMutableBufferPointer { split -> Int32 in
            guard let u = split.baseAddress else { return -1 }
            let v = u + chroma.width * chroma.height
            SplitUVPlane(
                base + source.planes[1].offset, stride(source, 1), u, width, v, width, width, Int32(chroma.height))
            let half = PictureSize(width: fit.size.width / 2, height: fit.size.height / 2)
            let status = scale(plane: u, width, chroma, to: 1, of: target, half)
            return status == 0 ? scale(plane: v, width, chroma, to: 2, of: target, half) : status
        }
    }

    private func scale(
        plane: UnsafePointer<UInt8>, _ stride: Int32, _ size: PictureSize, to index: Int,
        of target: UnsafeMutablePointer<UInt8>, _ newSize: PictureSize
    ) -> Int32 {
        ScalePlane(
            plane, stride, Int32(size.width), Int32(size.height), corner(ofPlane: index, in: target),
            self.stride(self.target, index), Int32(newSize.width), Int32(newSize.height), kFilterBox)
    }
}
