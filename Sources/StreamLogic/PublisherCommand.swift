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
    /// `StreamEvent.snapshot` answers.
    case takeSnapshot(SnapshotRequest)
    /// Tell from time to time how bright it is in front of the camera, or no longer.
    case watchBrightness(Bool)
}

/// Ties an answer to the command that it is of. Whoever asks numbers his commands.
public struct CommandID: Hashable, Sendable {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }
}
