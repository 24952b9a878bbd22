import DevicePorts
import Media
import SoftwareEncoding

extension SourceLayouts {
    /// The layout with the fewest pixels from which this size can be made: not smaller, and of the same shape.
    func nearest(to size: FrameSize) -> FrameLayout {
        let fitting = smaller.filter { layout in
            layout.format.isPlanar && layout.size.width >= size.width && layout.size.height >= size.height
                && !Letterbox(layout.size, into: size).hasBars
        }
        return fitting.min { $0.size.pixelCount < $1.size.pixelCount } ?? full
    }
}
