/// What another thread asks of a publisher. What becomes of it is told by events.
public enum PublisherCommand: Sendable {
    /// End the stream in order.
    case stop
    /// A line as `ConfigurationTransaction` takes it.
    case line(String)
    /// Let the sound go out as silence, or as itself again.
    case toggleMute
}
