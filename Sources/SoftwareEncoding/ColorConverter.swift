import CLibYUV
import DevicePorts
import Media

/// Converts I420 to the colors that computers expect of a webcam: BT.601 limited range. Uses libyuv via RGB, in strips of a few
/// rows that stay in the processor's cache. Used from one thread.
public final class ColorConverter {
    /// Even, because two rows share their chroma.
    private static let stripRows = 16

    private let layout: FrameLayout
    private let place: Letterbox
    private var strip: [UInt8]

    /// - Parameters:
    ///   - layout: I420 with even sides.
    ///   - place: the area to convert, in a frame of the layout's size. Bars around it stay unchanged.
    public init(_ layout: FrameLayout, within place: Letterbox? = nil) throws(VideoEncodingError) {
        guard layout.format == .i420, layout.planes.count == 3, layout.size.width % 2 == 0, layout.size.height % 2 == 0
        else { throw .unsupportedSize(layout.size) }
        let place = place ?? Letterbox(layout.size, into: layout.size)
        guard place.left + place.size.width <= layout.size.width, place.top + place.size.height <= layout.size.height
        else { throw .unsupportedSize(layout.size) }
        self.layout = layout
        self.place = place
        strip = [UInt8](repeating: 0, count: 4 * place.size.width * Self.stripRows)
    }

    /// - Parameters:
    ///   - bytes: a frame, converted in place.
    ///   - colors: the frame's colors, BT.601 or BT.709.
    public func convert(
        _ bytes: UnsafeMutableRawBufferPointer, from colors: VideoColors
    ) throws(VideoEncodingError) {
        guard bytes.count >= layout.byteCount, let base = bytes.bindMemory(to: UInt8.self).baseAddress else {
            throw .incompleteFrame(layout, byteCount: bytes.count)
        }
        let end = place.top + place.size.height
        for row in stride(from: place.top, to: end, by: Self.stripRows) {
            let status = convert(base, colors, row: row, count: min(Self.stripRows, end - row))
            guard status == 0 else { throw .libraryFailed(call: "libyuv colors", status: Int(status), reason: nil) }
        }
    }

    /// - Returns: libyuv's status.
    private func convert(
        _ base: UnsafeMutablePointer<UInt8>, _ colors: VideoColors, row: Int, count: Int
    ) -> Int32 {
        let places = layout.planes.enumerated().map { index, plane in
            let divisor = index == 0 ? 1 : 2
            return base + plane.offset + row / divisor * plane.stride + place.left / divisor
        }
        let strides = layout.planes.map { Int32($0.stride) }
        let (width, pitch) = (Int32(place.size.width), Int32(4 * place.size.width))
        let sources: [UnsafePointer<UInt8>?] = places.map { UnsafePointer($0) }
        let status = clibyuv_to_argb(
            sources, strides, &strip, pitch, width, Int32(count), colors.matrix == VideoColors.bt709.matrix ? 1 : 0,
            colors.isFullRange ? 1 : 0)
        guard status == 0 else { return status }
        return ARGBToI420(
            strip, pitch, places[0], strides[0], places[1], strides[1], places[2], strides[2], width, Int32(count))
    }
}
