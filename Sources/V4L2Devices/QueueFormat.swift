import CLinux
import DevicePorts
import Glibc
import Media

/// The kernel's numbers for the queues of a memory-to-memory device. Its OUTPUT is the device's input, its CAPTURE the device's
/// output.
struct QueueTypes: Sendable {
    let input: UInt32
    let output: UInt32

    init(isMultiplanar: Bool) {
        input = isMultiplanar ? V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE.rawValue : V4L2_BUF_TYPE_VIDEO_OUTPUT.rawValue
        output = isMultiplanar ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE.rawValue : V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
    }
}

/// The common part of a queue's single- and multi-planar formats.
struct QueueFormat {
    var size: FrameSize
    var fourCC: FourCC
    /// Bytes from one row to the next; 0 lets the driver decide.
    var stride = 0
    /// Bytes of a buffer; 0 lets the driver decide.
    var byteCount = 0
    var colorspace: UInt32

    /// Chooses the color space by the frame's height, as televisions do.
    init(size: FrameSize, fourCC: FourCC, stride: Int = 0, byteCount: Int = 0) {
        self.size = size
        self.fourCC = fourCC
        self.stride = stride
        self.byteCount = byteCount
        colorspace = (size.height >= 720 ? V4L2_COLORSPACE_REC709 : V4L2_COLORSPACE_SMPTE170M).rawValue
    }

    /// Sets a queue's format and stores what the driver made of it.
    mutating func set(_ type: UInt32, of device: V4L2Device, isMultiplanar: Bool) throws(V4L2Error) {
        var format = v4l2_format()
        format.type = type
        if isMultiplanar {
            fill(&format.fmt.pix_mp)
            try device.request("VIDIOC_S_FMT", clinux_vidioc_s_fmt, &format)
            take(format.fmt.pix_mp)
        } else {
            fill(&format.fmt.pix)
            try device.request("VIDIOC_S_FMT", clinux_vidioc_s_fmt, &format)
            take(format.fmt.pix)
        }
    }

    /// Sets the format and makes sure that it covers the frame. Drivers that encode whole macroblocks usually round the sides
    /// up. Some round to the nearest macroblock (like the kernel's `v4l_bound_align_image`) or down. Those are asked a second
    /// time, for the macroblocks that cover the frame.
    /// - Parameter set: sets a format and changes it to what the driver made of it.
    mutating func cover(_ set: (inout QueueFormat) throws(V4L2Error) -> Void) throws(V4L2Error) {
        let asked = self
        try set(&self)
        let covering = FrameSize(
            width: (asked.size.width + 15) / 16 * 16, height: (asked.size.height + 15) / 16 * 16)
        guard size.width < asked.size.width || size.height < asked.size.height, covering != asked.size else { return }
        self = asked
        size = covering
        // The frame's own stride may be too short for the larger format.
        stride = 0
        try set(&self)
    }

    private func fill(_ pixels: inout v4l2_pix_format) {
        pixels.width = UInt32(size.width)
        pixels.height = UInt32(size.height)
        pixels.pixelformat = fourCC.rawValue
        pixels.field = V4L2_FIELD_NONE.rawValue
        pixels.bytesperline = UInt32(stride)
        pixels.sizeimage = UInt32(byteCount)
        pixels.colorspace = colorspace
    }

    private func fill(_ pixels: inout v4l2_pix_format_mplane) {
        pixels.width = UInt32(size.width)
        pixels.height = UInt32(size.height)
        pixels.pixelformat = fourCC.rawValue
        pixels.field = V4L2_FIELD_NONE.rawValue
        pixels.num_planes = 1
        pixels.plane_fmt.0.bytesperline = UInt32(stride)
        pixels.plane_fmt.0.sizeimage = UInt32(byteCount)
        pixels.colorspace = colorspace
    }

    private mutating func take(_ pixels: v4l2_pix_format) {
        size = FrameSize(width: Int(pixels.width), height: Int(pixels.height))
        fourCC = FourCC(rawValue: pixels.pixelformat)
        stride = Int(pixels.bytesperline)
        byteCount = Int(pixels.sizeimage)
        colorspace = pixels.colorspace
    }

    private mutating func take(_ pixels: v4l2_pix_format_mplane) {
        size = FrameSize(width: Int(pixels.width), height: Int(pixels.height))
        fourCC = FourCC(rawValue: pixels.pixelformat)
        stride = Int(pixels.plane_fmt.0.bytesperline)
        byteCount = Int(pixels.plane_fmt.0.sizeimage)
        colorspace = pixels.colorspace
    }
}
