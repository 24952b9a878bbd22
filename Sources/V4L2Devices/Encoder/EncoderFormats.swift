import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media

/// The formats of both queues, as the driver has made them.
struct EncoderFormats {
    let input: FrameLayout
    let inputSize: Int
    let outputSize: Int

    /// Rows and columns beyond the frame that may be shown where a driver has no crop: less than a macroblock.
    private static let padding = 15

    /// The raw format first, with the colour space, then the coded one with the same: drivers take the last one's.
    /// - Parameter layout: of the frames to come; of their format and stride when the driver can do it.
    init(
        _ device: V4L2Device, encoder: V4L2EncoderNode, configuration: VideoEncoderConfiguration, layout: FrameLayout
    ) throws(HardwareEncodingError) {
        let size = configuration.size
        let format = encoder.formats.contains(layout.format) ? layout.format : encoder.formats[0]
        let types = QueueTypes(isMultiplanar: encoder.isMultiplanar)
        let isAsked = layout.format == format && layout.size == size
        var raw = QueueFormat(size: size, fourCC: format.fourCC, stride: isAsked ? layout.planes[0].stride : 0)
        var coded = QueueFormat(
            size: size, fourCC: FourCC(rawValue: clinux_v4l2_pix_fmt_h264), byteCount: 512 << 10)
        let asked = "\(size) \(raw.fourCC)"
        var shown = size
        do throws(V4L2Error) {
            try raw.cover { format throws(V4L2Error) in
                try format.set(types.input, of: device, isMultiplanar: encoder.isMultiplanar)
            }
            if raw.size != size { shown = try Self.crop(to: size, of: device) ?? raw.size }
            try coded.set(types.output, of: device, isMultiplanar: encoder.isMultiplanar)
            try Self.setFrameRate(configuration.frameRate, types.input, of: device)
        } catch {
            throw HardwareEncodingError(error, path: device.path)
        }
        // Some drivers encode whole macroblocks, and learn by the crop how much of them is the frame.
        guard raw.fourCC == format.fourCC, raw.size.width >= size.width, raw.size.height >= size.height,
            abs(shown.width - size.width) <= Self.padding, abs(shown.height - size.height) <= Self.padding,
            let made = FrameLayout(format: format, size: raw.size, stride: raw.stride, bufferSize: raw.byteCount),
            coded.byteCount > 0
        else {
            throw .formatRefused(
                path: device.path, asked: asked, given: "\(raw.size) \(raw.fourCC) of \(raw.byteCount) bytes")
        }
        input = made
        inputSize = raw.byteCount
        outputSize = coded.byteCount
    }

    /// Which part of the input is the frame.
    /// - Returns: what the driver made of it; `nil` without the call, as the whole is announced then.
    private static func crop(to size: FrameSize, of device: V4L2Device) throws(V4L2Error) -> FrameSize? {
        var selection = v4l2_selection()
        // Both forms of the interface use the single-planar type here.
        selection.type = V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue
        selection.target = UInt32(V4L2_SEL_TGT_CROP)
        selection.r.width = UInt32(size.width)
        selection.r.height = UInt32(size.height)
        guard try device.requestUnless(ENOTTY, "VIDIOC_S_SELECTION", clinux_vidioc_s_selection, &selection) else {
            return nil
        }
        return FrameSize(width: Int(selection.r.width), height: Int(selection.r.height))
    }

    /// Whether the driver reads such frames where they are.
    func takesAsIs(_ layout: FrameLayout) -> Bool {
        layout.format == input.format && layout.size == input.size && layout.modifier == 0
            && layout.planes == input.planes
    }

    /// While streaming too. A driver that does not take it does without.
    static func setFrameRate(_ rate: FrameRate, _ type: UInt32, of device: V4L2Device) throws(V4L2Error) {
        var parameters = v4l2_streamparm()
        parameters.type = type
        parameters.parm.output.timeperframe = v4l2_fract(numerator: 1, denominator: UInt32(rate.framesPerSecond))
        _ = try device.requestUnless(ENOTTY, "VIDIOC_S_PARM", clinux_vidioc_s_parm, &parameters)
    }
}
