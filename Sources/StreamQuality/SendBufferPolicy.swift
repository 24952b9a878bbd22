import Media

/// The limits of a buffer, and what it does when its reader is too slow.
public enum SendBufferPolicy: Hashable, Sendable {
    /// For a server: limited in seconds. Frames are dropped up to the next keyframe; audio is dropped last.
    case target(SendBufferLimits)
    /// For a viewer of the preview: limited to about a second. All waiting packets are dropped, and a keyframe restarts
    /// it.
    case preview

    /// The buffer's thresholds and its longest duration.
    var limits: SendBufferLimits {
        switch self {
        case .target(let limits): limits
        case .preview: .preview
        }
    }
}
