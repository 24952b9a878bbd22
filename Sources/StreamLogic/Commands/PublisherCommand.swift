import Controls
import Filters

/// What another thread asks of a publisher. Events report what became of it.
public enum PublisherCommand: Hashable, Sendable {
    /// End the stream in order.
    case stop
    /// Make these changes, all of them at one frame, or none.
    /// - Parameter id: somebody waits for a `CommandOutcome` of it.
    case apply(RequestedChanges, CommandID? = nil)
    /// Change the chain of filters, at one frame.
    /// - Parameter id: as for `apply`.
    case filter(FilterChange, CommandID? = nil)
    /// Answer with the stream's status.
    case reportStatus(CommandID)
    /// Answer with each setting and its value, the camera that is on, and each filter.
    case listSettings(CommandID)
    /// Answer with each control as it is.
    case listControls(CommandID)
    /// Let the audio go out as silence, or as itself again.
    case toggleMute
    /// Let silence and a still go out, or audio and frames again.
    /// - Parameter id: as for `apply`.
    case pause(Bool, CommandID? = nil)
    case togglePause
    /// The file of the pause image has changed: read it again.
    case loadPauseImage
    /// `StreamEvent.snapshot` answers.
    case takeSnapshot(SnapshotRequest)
    /// Tell from time to time how bright it is in front of the camera, or no longer.
    case watchBrightness(Bool)
    /// Let another of its cameras be on.
    /// - Parameter id: as for `apply`.
    case switchCamera(CameraChoice, CommandID? = nil)
}

/// Ties an answer to the command that it is of. Whoever asks numbers his commands.
public struct CommandID: Hashable, Sendable {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }
}

/// What has become of a command, for the one who waits for it; everybody else has the events.
public enum CommandOutcome: Hashable, Sendable {
    /// - Parameter lines: for people.
    case done([String])
    case refused(reason: String)
    case controls([ControlStatus])
    indirect case status(StreamStatus)
}
