import Filters
import Media

/// A watermark.
final class ImageFilter: FrameFilter {
    let image: DecodedImage
    private let setting: FilterSetting
    private var overlay: Overlay?

    init(_ setting: FilterSetting, _ image: DecodedImage) {
        self.setting = setting
        self.image = image
    }

    var isIdentity: Bool { setting.number(.opacity) == 0 }

    func prepare(for format: FrameFormat) {
        let size = shownSize(in: format.size)
        guard size.pixelCount > 0, let pixels = image.pixels(scaledTo: size) else {
            overlay = nil
            return
        }
        overlay = Overlay(
            pixels,
            at: setting.position.corner(of: size, in: format.size, margin: setting.number(.margin)),
            opacity: setting.number(.opacity), in: format)
    }

    /// Keeps the file's shape and fits into the frame.
    private func shownSize(in frame: FrameSize) -> FrameSize {
        let (width, height) = (Double(image.size.width), Double(image.size.height))
        guard width > 0, height > 0 else { return image.size }
        let wanted = setting[.width] == nil ? 1 : setting.number(.width) * Double(frame.width) / width
        let factor = min(wanted, Double(frame.width) / width, Double(frame.height) / height)
        return FrameSize(
            width: min(max(1, Int((width * factor).rounded())), frame.width),
            height: min(max(1, Int((height * factor).rounded())), frame.height))
    }

    func apply(to rows: Range<Int>, of planes: FramePlanes) { overlay?.blend(rows: rows, into: planes) }
}
