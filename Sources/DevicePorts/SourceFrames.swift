import Media

/// The properties of a source's frames that an encoder needs before the first one.
public struct SourceFrames: Hashable, Sendable {
    public let layouts: SourceLayouts
    public let memoryKind: FrameMemoryKind
    /// `nil` if unknown.
    public let colors: VideoColors?
    /// The camera's name, if a stream has several: another camera's frames count as different even if their format is
    /// the same.
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

/// The progress of an encoder's preparation for another source.
public enum SourcePreparation: Hashable, Sendable {
    /// Frames of the present source continue meanwhile.
    case underWay
    /// - Parameter size: the best input size for the other source's frames, among those it offers.
    case ready(FrameSize)
    /// The encoder can only encode the present source's frames.
    case failed(reason: String)
}
