import Media

/// What a buffer may hold, and what it does when its reader is too slow.
public enum SendBufferPolicy: Hashable, Sendable {
    /// For a server: limited in seconds. Frames are dropped up to the next keyframe, and audio goes last.
    case target(SendBufferLimits)
    /// For somebody who looks on: limited to about a second. All that waits is dropped, and a keyframe starts it again.
    case preview
    /// For a file: limited in bytes. Nothing is dropped; more than fits ends the recording with an event.
    case recording(maxByteCount: Int)

    /// Where the buffer's duration is little or much, and how long it may become.
    var limits: SendBufferLimits {
        switch self {
        case .target(let limits): limits
        case .preview: .preview
        case .recording: .standard
        }
    }
}
