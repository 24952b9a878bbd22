import CJPEG
import CLibYUV
import DevicePorts
import Media

/// Why a frame could not be encoded as JPEG.
public enum JPEGError: Error, Hashable, Sendable {
    /// A side is odd, and 4:2:0 cannot halve it.
    case unsupportedSize(FrameSize)
    /// The frame could not be converted to planes.
    case unreadableFrame(VideoEncodingError)
    /// The library's message.
    case libraryFailed(String)
}

extension JPEGError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unsupportedSize(let size): "a JPEG needs a frame with even sides, not \(size)"
        case .unreadableFrame(let error): "no JPEG can be made from the frame: \(error)"
        case .libraryFailed(let reason): "libjpeg: \(reason)"
        }
    }
}

/// Encodes raw frames as JPEG files with libjpeg-turbo. Converts video colors (BT.601 or BT.709, mostly limited range) to
/// JPEG's, a few rows at a time.
public struct JPEGEncoder: Sendable {
    /// Whole 4:2:0 blocks, and few enough to stay in the processor's cache.
    private static let stripRows = 16

    private let quality: Int

    /// - Parameter quality: 1 to 100, on libjpeg's scale; values outside are clamped.
    public init(quality: Int) { self.quality = min(max(quality, 1), 100) }

    /// - Parameters:
    ///   - layout: must have even sides.
    ///   - colors: the frame's colors; `nil` for those that players would assume.
    ///   - segment: the contents of its APP1 marker, `EXIF.segment`.
    /// - Returns: a JPEG file.
    public func encode(
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, colors: VideoColors?, segment: [UInt8]
    ) throws(JPEGError) -> [UInt8] {
        guard layout.size.width % 2 == 0, layout.size.height % 2 == 0 else { throw .unsupportedSize(layout.size) }
        let planes: SoftwareScaler
        do throws(VideoEncodingError) {
            planes = try SoftwareScaler(from: layout, to: layout.size)
        } catch {
            throw .unreadableFrame(error)
        }
        let colors = layout.colors(reported: colors)
        var result: Result<[UInt8], JPEGError> = .success([])
        do throws(VideoEncodingError) {
            try planes.scale(bytes) { bytes, layout throws(VideoEncodingError) in
                result = Result { () throws(JPEGError) in try encode(planar: bytes, layout, colors, segment) }
            }
        } catch {
            throw .unreadableFrame(error)
        }
        return try result.get()
    }

    private func encode(
        planar bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, _ colors: VideoColors, _ segment: [UInt8]
    ) throws(JPEGError) -> [UInt8] {
        let size = layout.size
        guard
            let encoder = cjpeg_start(
                UInt32(clamping: size.width), UInt32(clamping: size.height), Int32(quality), segment, segment.count)
        else { throw .libraryFailed("out of memory") }
        defer { cjpeg_free(encoder) }
        let stride = 4 * size.width
        var strip = [UInt8](repeating: 0, count: stride * Self.stripRows)
        var row = 0
        while row < size.height {
            let count = min(Self.stripRows, size.height - row)
            guard Self.convert(bytes, layout, colors, row: row, count: count, into: &strip) else {
                throw .libraryFailed("libyuv rejected the frame")
            }
            guard cjpeg_write(encoder, strip, stride, UInt32(clamping: count)) == 0 else { throw Self.failure(encoder) }
            row += count
        }
        var file: UnsafePointer<UInt8>?
        var byteCount = 0
        guard cjpeg_finish(encoder, &file, &byteCount) == 0 else { throw Self.failure(encoder) }
        return Array(UnsafeBufferPointer(start: file, count: byteCount))
    }

    /// - Parameter row: a luma row with an even number.
    private static func convert(
        _ bytes: UnsafeRawBufferPointer, _ layout: FrameLayout, _ colors: VideoColors, row: Int, count: Int,
        into strip: inout [UInt8]
    ) -> Bool {
        guard layout.planes.count == 3, bytes.count >= layout.byteCount,
            let base = bytes.bindMemory(to: UInt8.self).baseAddress
        else { return false }
        let planes: [UnsafePointer<UInt8>?] = layout.planes.enumerated().map { index, plane in
            base + plane.offset + (index == 0 ? row : row / 2) * plane.stride
        }
        let width = layout.size.width
        return clibyuv_to_argb(
            planes, layout.planes.map { Int32($0.stride) }, &strip, Int32(4 * width), Int32(width), Int32(count),
            colors.matrix == VideoColors.bt709.matrix ? 1 : 0, colors.isFullRange ? 1 : 0) == 0
    }

    private static func failure(_ encoder: OpaquePointer) -> JPEGError {
        .libraryFailed(cjpeg_error(encoder).map { String(cString: $0) } ?? "no reason given")
    }
}
