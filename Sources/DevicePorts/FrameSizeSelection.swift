import Media

/// A camera, or a source around one, whose device gives its frames in several sizes without the processor: in one at a time.
public protocol FrameSizeSelection: AnyObject {
    var layouts: SourceLayouts { get }

    /// From the next frame that the device is asked for on they have this size, one of `layouts`. Those that it was asked for
    /// before still come in the size before.
    func selectSize(_ size: FrameSize)
}

/// The layouts that a source's frames can have: one, or as many as its device has sizes.
public struct SourceLayouts: Hashable, Sendable {
    /// Of the first frames, and the largest.
    public let full: FrameLayout
    public let smaller: [FrameLayout]

    public init(_ full: FrameLayout, smaller: [FrameLayout] = []) {
        self.full = full
        self.smaller = smaller
    }

    public var all: [FrameLayout] { [full] + smaller }
}
