import Media

/// A source's frames, as an encoder has to know them before the first one comes.
public struct SourceFrames: Hashable, Sendable {
    public let layouts: SourceLayouts
    public let memoryKind: FrameMemoryKind
    /// `nil` when the source does not know.
    public let colors: VideoColors?
    /// The camera's name, where a stream has several: frames of another one are others, even if they look the same.
    public let camera: String?

    public init(
        layouts: SourceLayouts, memoryKind: FrameMemoryKind, colors: VideoColors? = nil, camera: String? = nil
    ) {
        self.layouts = layouts
        self.memoryKind = memoryKind
        self.colors = colors
        self.camera = camera
    }
}

/// How far an encoder is with getting ready for the frames of another source.
public enum SourcePreparation: Hashable, Sendable {
    /// Frames of the present source go on meanwhile.
    case underWay
    /// - Parameter size: in which it takes the other source's frames best, of those that this one gives.
    case ready(FrameSize)
    /// It encodes the present source's frames only.
    case failed(reason: String)
}
