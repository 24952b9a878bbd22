import CLinux
import CV4LConvert
import DevicePorts
import Media

/// Brings webcams' own formats (MJPEG with its quirks, Bayer patterns, vendors' compressions) to I420 with
/// libv4lconvert.
final class WebcamDecoder {
    private let path: String
    private let converter: OpaquePointer
    private var sourceFormat: v4l2_format
    private var targetFormat: v4l2_format
    let layout: FrameLayout

    /// The formats that libv4lconvert decodes to I420 and libyuv does not read, cheap and common ones first. Those without a decoder
    /// at hand (H.264 from a webcam) are not among them.
    static let formats = [
        "MJPG", "JPEG", "YVYU", "NV16", "NV61", "YV12", "RGBP", "GREY", "Y10 ", "Y16 ",
        "BA81", "GBRG", "GRBG", "RGGB", "PJPG", "S561", "P207", "M310", "905C", "S910", "S920", "s501", "s505", "s508",
        "M420", "CPIA", "KONI",
    ].map { FourCC($0) }

    init(_ device: V4L2Device, source: v4l2_format) throws(V4L2Error) {
        path = device.path
        sourceFormat = source
        let size = PictureSize(width: Int(source.fmt.pix.width), height: Int(source.fmt.pix.height))
        layout = FrameLayout(packed: .i420, size: size)
        targetFormat = source
        targetFormat.fmt.pix.pixelformat = PixelFormat.i420.fourCC.rawValue
        v4lconvert_fixup_fmt(&targetFormat)
        guard let converter = v4lconvert_create(device.fileDescriptor) else {
            throw .conversionFailed(path: device.path, reason: "libv4lconvert does not know this camera")
        }
        self.converter = converter
        guard Int(targetFormat.fmt.pix.bytesperline) == size.width,
            v4lconvert_supported_dst_format(targetFormat.fmt.pix.pixelformat) != 0
        else {
            v4lconvert_destroy(converter)
            throw .conversionFailed(path: device.path, reason: "libv4lconvert cannot make I420 of its size")
        }
    }

    deinit { v4lconvert_destroy(converter) }

    /// Decodes one picture. What is broken in transfer throws; the next one may be whole again.
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
