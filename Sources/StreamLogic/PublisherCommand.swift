/// What another thread asks of a publisher. Events report what became of it.
public enum PublisherCommand: Sendable {
    /// End the stream in order.
    case stop
    /// A line as `ConfigurationTransaction` takes it.
    case line(String)
    /// Let the audio go out as silence, or as itself again.
    case toggleMute
}
