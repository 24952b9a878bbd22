import CLibcamera
import DevicePorts
import Media

/// A stream as requested from a camera.
struct StreamWish: Sendable {
    let format: PixelFormat
    let size: FrameSize
    let bufferCount: Int
}

extension clibcamera_format {
    /// - Parameter mode: `nil` lets the camera choose.
    init(_ wish: StreamWish, flips: FrameFlips, _ mode: SensorMode?) {
        self.init()
        fourcc = wish.format.fourCC.rawValue
        width = UInt32(wish.size.width)
        height = UInt32(wish.size.height)
        buffer_count = UInt32(wish.bufferCount)
        flips_horizontally = flips.isHorizontal
        flips_vertically = flips.isVertical
        if let mode { sensor = mode.readout }
    }
}

extension VideoColors {
    init?(_ colors: clibcamera_colors) {
        guard colors.primaries > 0 else { return nil }
        self.init(
            primaries: colors.primaries, transfer: colors.transfer, matrix: colors.matrix,
            isFullRange: colors.is_full_range)
    }
}
