import Controls
import Filters

/// A command to a publisher from another thread. Events report the result.
public enum PublisherCommand: Hashable, Sendable {
    /// End the stream properly.
    case stop
    /// Apply these changes, all at one frame, or none.
    /// - Parameter id: set if a client waits for its `CommandOutcome`.
    case apply(RequestedChanges, CommandID? = nil)
    /// Change the chain of filters at one frame.
    /// - Parameter id: as for `apply`.
    case filter(FilterChange, CommandID? = nil)
    /// Answer with the stream's status.
    case reportStatus(CommandID)
    /// Answer with each setting and its value, the current camera, and each filter.
    case listSettings(CommandID)
    /// Answer with the state of each control.
    case listControls(CommandID)
    /// Mute or unmute the audio.
    case toggleMute
    /// Send silence and a still frame, or audio and frames again.
    /// - Parameter id: as for `apply`.
    case pause(Bool, CommandID? = nil)
    case togglePause
    /// The pause image's file has changed: read it again.
    case loadPauseImage
    /// Answered by `StreamEvent.snapshot`.
    case takeSnapshot(SnapshotRequest)
    /// Start or stop reporting the brightness in front of the camera.
    case watchBrightness(Bool)
    /// Switch to another of the stream's cameras.
    /// - Parameter id: as for `apply`.
    case switchCamera(CameraChoice, CommandID? = nil)
    /// A recording has started, or the page has viewers: do not wait for a server with the media.
    case startMedia
    /// Start or stop one of the stream's targets, by its name.
    /// - Parameter id: as for `apply`.
    case switchTarget(String, isOn: Bool, CommandID? = nil)
}

/// Ties an answer to its command. The sender numbers its commands.
public struct CommandID: Hashable, Sendable {
    public let number: UInt64

    public init(_ number: UInt64) { self.number = number }
}

/// A command that waits for the camera's answer to changes of controls.
public struct ControlAsker: Hashable, Sendable {
    public let id: CommandID
    /// The other changes of the same line, which are done.
    public let others: [String]

    public init(_ id: CommandID, others: [String] = []) {
        self.id = id
        self.others = others
    }
}

/// The result of a command, for the client that waits for it; everyone else reads the events.
public enum CommandOutcome: Hashable, Sendable {
    /// - Parameter lines: for people.
    case done([String])
    case refused(CommandRefusal)
    case controls([ControlStatus])
    indirect case status(StreamStatus)
}
