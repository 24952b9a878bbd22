/// What another thread asks of a publisher. Events report what became of it.
public enum PublisherCommand: Hashable, Sendable {
    /// End the stream in order.
    case stop
    /// Make these changes, all of them at one keyframe, or none.
    case apply([LiveConfiguration.Change])
    /// Note each setting with its value.
    case showConfiguration
    /// Let the audio go out as silence, or as itself again.
    case toggleMute
    /// Let another of its cameras be on.
    case switchCamera(CameraChoice)
}
