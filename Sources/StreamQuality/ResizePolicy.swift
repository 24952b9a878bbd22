/// Whether and how a stream may change its frame size to adapt to the link.
public enum ResizePolicy: String, CaseIterable, Sendable {
    /// The size stays; a poor link costs frames.
    case never
    /// The stream ends properly and starts again at the other size.
    case restart
    /// The size changes at a keyframe within the stream, with a new sequence header and metadata.
    case seamless
}
