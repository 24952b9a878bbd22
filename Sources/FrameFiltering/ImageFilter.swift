import CLibYUV
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

    func prepare(for format: FrameFormat) {
        let size = shownSize(in: format.size)
        guard size.pixelCount > 0 else {
            overlay = nil
            return
        }
        overlay = Overlay(
            scaled(to: size),
            at: setting.position.corner(of: size, in: format.size, margin: setting.number(.margin)),
            opacity: setting.number(.opacity), in: format)
    }

    /// With the file's shape, and not larger than the frame.
    private func shownSize(in frame: FrameSize) -> FrameSize {
        let (width, height) = (Double(image.size.width), Double(image.size.height))
        guard width > 0, height > 0 else { return image.size }
        let wanted = setting[.width] == nil ? 1 : setting.number(.width) * Double(frame.width) / width
        let factor = min(wanted, Double(frame.width) / width, Double(frame.height) / height)
        return FrameSize(
            width: min(max(1, Int((width * factor).rounded())), frame.width),
            height: min(max(1, Int((height * factor).rounded())), frame.height))
    }

    private func scaled(to size: FrameSize) -> Overlay.Pixels {
        guard size != image.size else { return Overlay.Pixels(size: size, bytes: image.pixels) }
        // The order of the channels is all one to it.
        let bytes = [UInt8](unsafeUninitializedCapacity: 4 * size.pixelCount) { buffer, count in
            buffer.initialize(repeating: 0)
            _ = ARGBScale(
                image.pixels, Int32(4 * image.size.width), Int32(image.size.width), Int32(image.size.height),
                buffer.baseAddress, Int32(4 * size.width), Int32(size.width), Int32(size.height), kFilterBox)
            count = buffer.count
        }
        return Overlay.Pixels(size: size, bytes: bytes)
    }

    func apply(to rows: Range<Int>, of planes: FramePlanes) { overlay?.blend(rows: rows, into: planes) }
}
