import CLinux
import Controls
import Glibc
import Media

/// The part of its sensor that a camera shows, if its driver can choose one (VIDIOC_S_SELECTION; "Cropping, composing and
/// scaling" in the kernel's V4L2 manual).
struct V4L2Crop: Hashable {
    /// The area shown when no part is selected.
    let whole: FrameArea
    /// The zoom at which one sensor pixel becomes one frame pixel.
    let largestZoom: Double

    /// - Parameters:
    ///   - whole: in sensor pixels, not as a fraction.
    ///   - frame: size of the frame that the driver produces from it.
    /// - Returns: `nil` if any smaller part would have fewer pixels than the frame.
    init?(whole: FrameArea, frame: FrameSize) {
        guard whole.width >= 1, whole.height >= 1, frame.width > 0, frame.height > 0 else { return nil }
        self.whole = whole
        largestZoom = min(whole.width / Double(frame.width), whole.height / Double(frame.height))
        guard largestZoom > 1 else { return nil }
    }

    /// In sensor pixels.
    func area(_ view: ZoomedView) -> FrameArea { whole.part(view.area) }

    /// - Parameter area: in sensor pixels, as the driver reports it.
    func view(_ area: FrameArea) -> ZoomedView? {
        guard area.width >= 1 else { return nil }
        let center = area.center
        return ZoomedView(
            zoom: whole.width / area.width,
            center: FramePoint(x: (center.x - whole.left) / whole.width, y: (center.y - whole.top) / whole.height))
    }
}

extension V4L2Device {
    /// - Returns: `nil` if the driver cannot choose a part, or refuses to show everything.
    func crop(frame: FrameSize) -> V4L2Crop? {
        guard let whole = selection(V4L2_SEL_TGT_CROP_DEFAULT), let crop = V4L2Crop(whole: whole, frame: frame),
            // The previous user may have left a part selected.
            (try? setCrop(whole)) != nil
        else { return nil }
        defer { try? setCrop(whole) }
        // A driver that does not scale treats this as a hint, or changes the frame size.
        let least = crop.area(ZoomedView(zoom: crop.largestZoom))
        guard self.crop == whole, (try? setCrop(least)) != nil, let taken = self.crop, taken.width < whole.width,
            frameSize == frame
        else { return nil }
        return crop
    }

    private var frameSize: FrameSize? {
        var format = v4l2_format()
        format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        guard (try? request("VIDIOC_G_FMT", clinux_vidioc_g_fmt, &format)) != nil else { return nil }
        return FrameSize(width: Int(format.fmt.pix.width), height: Int(format.fmt.pix.height))
    }

    var crop: FrameArea? { selection(V4L2_SEL_TGT_CROP) }

    private func selection(_ target: Int32) -> FrameArea? {
        var selection = v4l2_selection()
        selection.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        selection.target = UInt32(target)
        guard (try? request("VIDIOC_G_SELECTION", clinux_vidioc_g_selection, &selection)) != nil else { return nil }
        return FrameArea(
            left: Double(selection.r.left), top: Double(selection.r.top), width: Double(selection.r.width),
            height: Double(selection.r.height))
    }

    /// - Parameter area: in sensor pixels; the driver takes the nearest possible area.
    func setCrop(_ area: FrameArea) throws(V4L2Error) {
        func pixels(_ value: Double) -> Int32 { Int32(max(-1e6, min(1e6, value.rounded()))) }
        var selection = v4l2_selection()
        selection.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
        selection.target = UInt32(V4L2_SEL_TGT_CROP)
        selection.r = v4l2_rect(
            left: pixels(area.left), top: pixels(area.top), width: UInt32(max(1, pixels(area.width))),
            height: UInt32(max(1, pixels(area.height))))
        try request("VIDIOC_S_SELECTION", clinux_vidioc_s_selection, &selection)
    }
}
