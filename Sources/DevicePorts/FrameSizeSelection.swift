import Media

/// A camera, or a source that wraps one, whose device itself can output frames in several sizes, one at a time.
public protocol FrameSizeSelection: AnyObject {
    var layouts: SourceLayouts { get }

    /// Selects one of the sizes in `layouts`, from the next requested frame on. Frames requested before still have the
    /// previous size.
    func selectSize(_ size: FrameSize)
}

/// The possible layouts of a source's frames: one for each of its device's sizes.
public struct SourceLayouts: Hashable, Sendable {
    /// The layout of the first frames, which is the largest.
    public let full: FrameLayout
    public let smaller: [FrameLayout]

    public init(_ full: FrameLayout, smaller: [FrameLayout] = []) {
        self.full = full
        self.smaller = smaller
    }

    public var all: [FrameLayout] { [full] + smaller }
}
