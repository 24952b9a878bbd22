import CLibYUV
import DevicePorts
import Media

/// Converts raw frames of one layout to I420 of another size with libyuv, keeping the aspect ratio. One pass, into one buffer
/// that is reused for every frame. libyuv can only scale planes, so packed formats (YUYV, RGB) are unpacked and scaled in
/// strips of a few rows, which stay in the processor's cache in between. If that is impossible (enlarging, or heights without a
/// small ratio), they take two passes.
///
/// I420 that already has the size is passed through unchanged.
public final class SoftwareScaler: FrameScaler {
    public let source: FrameLayout
    public let target: FrameLayout
    public let fit: Letterbox
    /// Whether frames are passed through unchanged.
    public let isIdentity: Bool
    /// How often a complete frame is read and written: 0, 1 or 2 times.
    public let passCount: Int
    public let memoryKind = FrameMemoryKind.pooled

    private var output: [UInt8]
    /// For callers that keep frames; `nil` until the first one.
    private var pool: FramePool?
    /// Chroma planes of NV12 to be scaled, in the source's size, U before V.
    private var splitChroma: [UInt8]
    /// For packed formats to be scaled: a strip of the frame as I420, in the source's width.
    private var unpacked: [UInt8]
    private let strip: Strip
    /// Whether to convert RGB to BT.709, for high definition: libyuv itself converts RGB only to BT.601.
    private let becomesBT709: Bool
    /// Rows to convert to the other matrix at once, while libyuv's output is still in the processor's cache; an even number.
    private static let matrixRows = 16

    /// - Parameters:
    ///   - source: with sides from 1 to 16,384.
    ///   - targetSize: even sides from 2 to 16,384.
    ///   - fillsTarget: the aspect ratio may differ from the target's by a row or column, which is not worth bars.
    ///   - whole: size of the frames that the source is cut from. It decides RGB's matrix.
    public init(
        from source: FrameLayout, to targetSize: FrameSize, fillsTarget: Bool = false, partOf whole: FrameSize? = nil
    ) throws(VideoEncodingError) {
        let sides = 1...16_384
        guard sides.contains(source.size.width), sides.contains(source.size.height) else {
            throw .unsupportedSize(source.size)
        }
        guard sides.contains(targetSize.width), sides.contains(targetSize.height),
            targetSize.width % 2 == 0, targetSize.height % 2 == 0
        else { throw .unsupportedSize(targetSize) }
        self.source = source
        target = FrameLayout(packed: .i420, size: targetSize)
        fit = Letterbox(fillsTarget ? targetSize : source.size, into: targetSize)
        isIdentity = source.format == .i420 && source.size == targetSize
        becomesBT709 = source.format.isRGB && VideoColors.usual(for: whole ?? source.size) == .bt709
        output = isIdentity ? [] : target.black
        let scalesChroma = source.format == .nv12 && source.size != fit.size
        let chromaWidth = (source.size.width + 1) / 2
        let chromaHeight = (source.size.height + 1) / 2
        splitChroma = scalesChroma ? [UInt8](repeating: 0, count: 2 * chromaWidth * chromaHeight) : []
        let unpacks = source.format.bytesPerPixel != nil && source.size != fit.size
        strip = Strip(of: source.size, to: fit.size)
        unpacked =
            unpacks ? [UInt8](repeating: 0, count: Self.layout(ofRows: strip.sourceRows, source.size).byteCount) : []
        let isInPieces = strip.places.count > 1 && unpacked.count <= Strip.largestByteCount
        passCount = isIdentity ? 0 : unpacks && !isInPieces ? 2 : 1
    }

    private static func layout(ofRows rows: Int, _ size: FrameSize) -> FrameLayout {
        FrameLayout(packed: .i420, size: FrameSize(width: size.width, height: rows))
    }

    /// Passes the frame in the target's layout to `body`, together with that layout; valid during the call.
    /// - Parameter bytes: the frame in the source's layout.
    public func scale<Value>(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, FrameLayout) throws(VideoEncodingError) -> Value
    ) throws(VideoEncodingError) -> Value {
        guard bytes.count >= source.byteCount else { throw .incompleteFrame(source, byteCount: bytes.count) }
        if isIdentity { return try body(bytes, source) }
        let status = output.withUnsafeMutableBytes { convert(bytes, into: $0) }
        guard status == 0 else { throw .libraryFailed(call: "libyuv scale", status: Int(status), reason: nil) }
        return try output.withUnsafeBytes { bytes in
            Result { () throws(VideoEncodingError) in try body(bytes, target) }
        }.get()
    }

    public func scale(_ frame: CapturedFrame) throws -> CapturedFrame? {
        guard !isIdentity else { return frame }
        if pool == nil { pool = FramePool(initial: target.black) }
        guard let memory = pool?.take() else { return nil }
        let result = frame.withBytes { bytes in
            memory.withMutableBytes { target in
                Result { () throws(VideoEncodingError) in try scale(bytes, into: target) }
            }
        }
        try result.get()
        return CapturedFrame(
            layout: target, captureTime: frame.captureTime, memory: memory, takenAt: frame.takenAt)
    }

    /// Also works if the frame already has the size, by copying.
    /// - Parameter memory: must start as a black frame, and contain only this scaler's frames.
    public func scale(
        _ bytes: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer
    ) throws(VideoEncodingError) {
        guard bytes.count >= source.byteCount, memory.count >= target.byteCount else {
            throw .incompleteFrame(source, byteCount: min(bytes.count, memory.count))
        }
        let status = convert(bytes, into: memory)
        guard status == 0 else { throw .libraryFailed(call: "libyuv scale", status: Int(status), reason: nil) }
    }

    /// - Returns: libyuv's status. Both buffers must fit their layouts.
    private func convert(_ bytes: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer) -> Int32 {
        guard let base = bytes.bindMemory(to: UInt8.self).baseAddress,
            let target = memory.bindMemory(to: UInt8.self).baseAddress
        else { return -1 }
        return switch source.format {
        case .i420: scaleI420(base, source, to: target, Strip.Place(of: source.size, to: fit.size))
        case .yuyv, .uyvy, .rgb888, .bgr888, .bgra, .rgba, .bgrx:
            fit.size == source.size ? unpackInPlace(base, to: target) : unpackAndScale(base, to: target)
        case .nv12: fit.size == source.size ? splitNV12(base, to: target) : scaleNV12(base, to: target)
        }
    }

    /// The top left corner of the source's position in one plane of the target.
    private func corner(ofPlane plane: Int, in target: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        let layout = self.target.planes[plane]
        let divisor = plane == 0 ? 1 : 2
        return target + layout.offset + fit.top / divisor * layout.stride + fit.left / divisor
    }

    private func stride(_ layout: FrameLayout, _ plane: Int) -> Int32 { Int32(layout.planes[plane].stride) }

    private func unpackInPlace(_ base: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) -> Int32 {
        unpack(
            base, Strip.Place(of: source.size, to: fit.size), to: corner(ofPlane: 0, in: target),
            corner(ofPlane: 1, in: target), corner(ofPlane: 2, in: target), self.target)
    }

    private func unpackAndScale(_ base: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) -> Int32 {
        let layout = Self.layout(ofRows: strip.sourceRows, source.size)
        return unpacked.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let planes = buffer.baseAddress else { return -1 }
            for place in strip.places {
                let status = unpack(
                    base, place, to: planes, planes + layout.planes[1].offset, planes + layout.planes[2].offset,
                    layout)
                guard status == 0 else { return status }
                let scaled = scaleI420(planes, layout, to: target, place)
                guard scaled == 0 else { return scaled }
            }
            return 0
        }
    }

    /// libyuv's signature for converting one plane to three: each pointer with its stride, then width and height.
    private typealias PackedConversion = (
        UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32,
        UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32
    ) -> Int32

    /// Converts rows of packed pixels to planes of the same size.
    private func unpack(
        _ base: UnsafePointer<UInt8>, _ place: Strip.Place, to y: UnsafeMutablePointer<UInt8>,
        _ u: UnsafeMutablePointer<UInt8>, _ v: UnsafeMutablePointer<UInt8>, _ layout: FrameLayout
    ) -> Int32 {
        // libyuv names the bytes of RGB from the highest one, like libdrm, and calls the other 24-bit order RAW.
        let convert: PackedConversion? =
            switch source.format {
            case .yuyv: YUY2ToI420
            case .uyvy: UYVYToI420
            case .rgb888: RGB24ToI420
            case .bgr888: RAWToI420
            case .bgra, .bgrx: ARGBToI420
            case .rgba: ABGRToI420
            case .i420, .nv12: nil
            }
        guard let convert else { return -1 }
        let count = becomesBT709 ? Self.matrixRows : max(1, place.sourceRows)
        let strides = layout.planes.map(\.stride)
        for row in Swift.stride(from: 0, to: place.sourceRows, by: count) {
            let (luma, blue, red) = (y + row * strides[0], u + row / 2 * strides[1], v + row / 2 * strides[2])
            let (width, rows) = (Int32(source.size.width), Int32(min(count, place.sourceRows - row)))
            let status = convert(
                base + source.planes[0].offset + (place.sourceRow + row) * source.planes[0].stride, stride(source, 0),
                luma, stride(layout, 0), blue, stride(layout, 1), red, stride(layout, 2), width, rows)
            guard status == 0 else { return status }
            guard becomesBT709 else { continue }
            clibyuv_bt601_to_bt709(
                luma, stride(layout, 0), blue, stride(layout, 1), red, stride(layout, 2), width, rows)
        }
        return 0
    }

    /// - Parameter base: the first row of the place.
    private func scaleI420(
        _ base: UnsafePointer<UInt8>, _ source: FrameLayout, to target: UnsafeMutablePointer<UInt8>,
        _ place: Strip.Place
    ) -> Int32 {
        let strides = self.target.planes.map(\.stride)
        return I420Scale(
            base + source.planes[0].offset, stride(source, 0),
            base + source.planes[1].offset, stride(source, 1),
            base + source.planes[2].offset, stride(source, 2),
            Int32(source.size.width), Int32(place.sourceRows),
            corner(ofPlane: 0, in: target) + place.targetRow * strides[0], Int32(strides[0]),
            corner(ofPlane: 1, in: target) + place.targetRow / 2 * strides[1], Int32(strides[1]),
            corner(ofPlane: 2, in: target) + place.targetRow / 2 * strides[2], Int32(strides[2]),
            Int32(fit.size.width), Int32(place.targetRows), kFilterBox)
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

    /// Splits chroma first: libyuv filters planes over every sample, but for most ratios it scales interleaved pairs from only
    /// two of them, which makes fine detail flicker.
    private func scaleNV12(_ base: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>) -> Int32 {
        let luma = scale(
            plane: base + source.planes[0].offset, stride(source, 0), source.size, to: 0, of: target, fit.size)
        guard luma == 0 else { return luma }
        let chroma = FrameSize(width: (source.size.width + 1) / 2, height: (source.size.height + 1) / 2)
        let width = Int32(chroma.width)
        return splitChroma.withUnsafeMutableBufferPointer { split -> Int32 in
            guard let u = split.baseAddress else { return -1 }
            let v = u + chroma.width * chroma.height
            SplitUVPlane(
                base + source.planes[1].offset, stride(source, 1), u, width, v, width, width, Int32(chroma.height))
            let half = FrameSize(width: fit.size.width / 2, height: fit.size.height / 2)
            let status = scale(plane: u, width, chroma, to: 1, of: target, half)
            return status == 0 ? scale(plane: v, width, chroma, to: 2, of: target, half) : status
        }
    }

    private func scale(
        plane: UnsafePointer<UInt8>, _ stride: Int32, _ size: FrameSize, to index: Int,
        of target: UnsafeMutablePointer<UInt8>, _ newSize: FrameSize
    ) -> Int32 {
        ScalePlane(
            plane, stride, Int32(size.width), Int32(size.height), corner(ofPlane: index, in: target),
            self.stride(self.target, index), Int32(newSize.width), Int32(newSize.height), kFilterBox)
    }
}

extension FrameLayout {
    /// A black frame in limited range, for a scaler's target. The bars keep it, because only the source's position is
    /// overwritten.
    public var black: [UInt8] { black(isFullRange: false) }

    /// - Parameter isFullRange: whether the frame will hold full-range samples, as in JPEG.
    public func black(isFullRange: Bool) -> [UInt8] {
        let luma = size.width * size.height
        return [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, count in
            buffer[..<luma].initialize(repeating: isFullRange ? 0 : 16)
            buffer[luma...].initialize(repeating: 128)
            count = byteCount
        }
    }
}
