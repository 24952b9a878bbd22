/// Whether and how a stream may change the size of its frames when the link asks for it.
public enum ResizePolicy: String, CaseIterable, Sendable {
    /// The size stays; a poor link costs frames.
    case never
    /// The publication ends cleanly and starts again in the other size.
    case restart
    /// The size changes at a keyframe within the stream, with a sequence header and metadata of its own.
    case seamless
}
