import CLinux
import CV4LConvert
import DevicePorts
import Media

/// Converts webcams' own formats (MJPEG with its quirks, Bayer patterns, vendor compressions) to I420, using libv4lconvert.
final class WebcamDecoder {
    private let path: String
    private let converter: OpaquePointer
    private var sourceFormat: v4l2_format
    private var targetFormat: v4l2_format
    let layout: FrameLayout

    /// The formats that libv4lconvert decodes to I420 and libyuv cannot read, cheap and common ones first. Excluded are formats
    /// without a decoder here (H.264 from a webcam) and RGB565, whose colors the library swaps.
    static let formats = [
        "MJPG", "JPEG", "YVYU", "NV16", "NV61", "YV12", "GREY", "Y16 ",
        "BA81", "GBRG", "GRBG", "RGGB", "PJPG", "S561", "P207", "M310", "905C", "S910", "S920", "S501", "S505", "S508",
        "M420", "CPIA", "KONI",
    ].map { FourCC($0) }

    /// - Parameters:
    ///   - source: the format of the frames to decode.
    ///   - converter: libv4lconvert's converter for this camera, which it queries for quirks. The decoder takes ownership.
    init(path: String, source: v4l2_format, converter: OpaquePointer?) throws(V4L2Error) {
        self.path = path
        sourceFormat = source
        let size = FrameSize(width: Int(source.fmt.pix.width), height: Int(source.fmt.pix.height))
        layout = FrameLayout(packed: .i420, size: size)
        targetFormat = source
        targetFormat.fmt.pix.pixelformat = PixelFormat.i420.fourCC.rawValue
        v4lconvert_fixup_fmt(&targetFormat)
        guard let converter else {
            throw .conversionFailed(path: path, reason: "libv4lconvert does not know this camera")
        }
        self.converter = converter
        guard Int(targetFormat.fmt.pix.bytesperline) == size.width,
            v4lconvert_supported_dst_format(targetFormat.fmt.pix.pixelformat) != 0
        else {
            v4lconvert_destroy(converter)
            throw .conversionFailed(path: path, reason: "libv4lconvert cannot make I420 of its size")
        }
    }

    deinit { v4lconvert_destroy(converter) }

    /// Decodes one frame. A frame damaged in transfer throws; the next one may be intact again.
    func decode(_ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) throws(V4L2Error) {
        let count = v4lconvert_convert(
            converter, &sourceFormat, &targetFormat,
            UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress), Int32(clamping: bytes.count),
            target.bindMemory(to: UInt8.self).baseAddress, Int32(clamping: target.count))
        guard count == layout.byteCount else {
            throw .conversionFailed(path: path, reason: String(cString: v4lconvert_get_error_message(converter)))
        }
    }
}
