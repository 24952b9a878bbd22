import DevicePorts
import Filters
import LinuxIO
import Media

/// Why filters cannot be loaded, or cannot process a frame.
public enum FilteringError: Error, Hashable, Sendable {
    case unreadableFile(FilterID, SystemCallError)
    /// - Parameter reason: why the image is incomplete or invalid, for people.
    case unusableImage(FilterID, path: String, reason: String)
    case tooLargeImage(FilterID, path: String, FrameSize)
    case unusableFont(FilterID, path: String, reason: String)
    /// Includes the faulty line.
    case unusableCube(FilterID, path: String, ColorCubeError)
    /// The frame is not NV12 or I420 in linear rows, or has an unsupported size.
    case unsupportedFrame(FrameLayout)
    /// The frame's memory is smaller than its layout requires.
    case incompleteFrame(FrameLayout, byteCount: Int)
}

extension FilteringError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unreadableFile(let filter, let error): "filter \(filter): \(error.fileProblem)"
        case .unusableImage(let filter, let path, let reason):
            "filter \(filter): \(path) is not an image: \(reason)"
        case .tooLargeImage(let filter, let path, let size):
            "filter \(filter): \(path) has \(size) pixels; reduce it to at most \(DecodedImage.mostPixels) in all "
                + "and \(DecodedImage.longestSide) a side"
        case .unusableFont(let filter, let path, let reason): "filter \(filter): \(path) is not a font: \(reason)"
        case .unusableCube(let filter, let path, let error): "filter \(filter): \(path), \(error)"
        case .unsupportedFrame(let layout):
            "filters work on NV12 and I420, not on \(layout.format.rawValue) frames of \(layout.size) with "
                + "\(layout.planes.count) planes and modifier \(layout.modifier)"
        case .incompleteFrame(let layout, let byteCount):
            "a \(layout.size) \(layout.format.rawValue) frame came with \(byteCount) bytes instead of \(layout.byteCount)"
        }
    }
}
