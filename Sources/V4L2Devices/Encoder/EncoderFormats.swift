import CLinux
import DevicePorts
import Glibc
import LinuxIO
import Media

/// The formats of both queues, as adjusted by the driver.
struct EncoderFormats {
    let input: FrameLayout
    let inputSize: Int
    let outputSize: Int

    /// Without a crop, up to this many rows and columns beyond the frame may be visible: less than a macroblock.
    private static let padding = 15

    /// Sets the raw format with its color space first, then the coded format with the same: drivers use the last one.
    /// - Parameter layout: layout of the source frames; its format and stride are used if the driver supports them.
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
        // Some drivers encode whole macroblocks and need the crop to know the frame's size.
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

    /// Tells the driver which part of the input is the frame.
    /// - Returns: the area that the driver chose; `nil` if it lacks the call, since it then announces the whole.
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

    /// Whether the driver can read such frames in place.
    func takesAsIs(_ layout: FrameLayout) -> Bool {
        layout.format == input.format && layout.size == input.size && layout.modifier == 0
            && layout.planes == input.planes
    }

    /// Works during streaming too. A driver may ignore it.
    static func setFrameRate(_ rate: FrameRate, _ type: UInt32, of device: V4L2Device) throws(V4L2Error) {
        var parameters = v4l2_streamparm()
        parameters.type = type
        parameters.parm.output.timeperframe = v4l2_fract(numerator: 1, denominator: UInt32(rate.framesPerSecond))
        _ = try device.requestUnless(ENOTTY, "VIDIOC_S_PARM", clinux_vidioc_s_parm, &parameters)
    }
}
