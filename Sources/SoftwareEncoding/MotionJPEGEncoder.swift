import CJPEG
import DevicePorts
import Media

/// Encodes I420 frames of one size as JPEG files with libjpeg-turbo, directly from their planes. Expands limited range to
/// JPEG's full range. The color matrix stays the same, although JPEG readers assume BT.601. Used from one thread.
public final class MotionJPEGEncoder {
    public let size: FrameSize
    private let encoder: OpaquePointer

    /// - Parameter size: even sides from 2 to 16,384.
    public init(size: FrameSize) throws(JPEGError) {
        let sides = 2...16_384
        guard sides.contains(size.width), sides.contains(size.height), size.width % 2 == 0, size.height % 2 == 0 else {
            throw .unsupportedSize(size)
        }
        guard let encoder = cjpeg_planar_make(UInt32(size.width), UInt32(size.height)) else {
            throw .libraryFailed("out of memory")
        }
        self.size = size
        self.encoder = encoder
    }

    deinit { cjpeg_planar_free(encoder) }

    /// Passes the file to `body`; it is valid during the call.
    /// - Parameters:
    ///   - bytes: a frame of the encoder's size.
    ///   - quality: 1 to 100, on libjpeg's scale.
    public func encode<Value>(
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, isFullRange: Bool, quality: Int,
        _ body: (UnsafeRawBufferPointer) -> Value
    ) throws(JPEGError) -> Value {
        guard layout.format == .i420, layout.size == size, layout.planes.count == 3, bytes.count >= layout.byteCount,
            let base = bytes.bindMemory(to: UInt8.self).baseAddress
        else { throw .unreadableFrame(.incompleteFrame(layout, byteCount: bytes.count)) }
        let planes: [UnsafePointer<UInt8>?] = layout.planes.map { base + $0.offset }
        var file: UnsafePointer<UInt8>?
        var count = 0
        let status = cjpeg_planar_encode(
            encoder, planes, layout.planes.map { Int32($0.stride) }, isFullRange ? 1 : 0,
            Int32(min(max(1, quality), 100)), &file, &count)
        guard status == 0 else {
            throw .libraryFailed(cjpeg_planar_error(encoder).map { String(cString: $0) } ?? "no reason given")
        }
        return body(UnsafeRawBufferPointer(start: file, count: count))
    }
}
