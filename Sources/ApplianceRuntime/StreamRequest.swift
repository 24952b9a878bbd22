import DevicePorts
import Settings
import StreamLogic

/// What a stream is made of; goes to the stream's thread.
public struct StreamRequest: Sendable {
    public let description: StreamDescription
    public let device: DeviceDescription
    public let board: BoardDescription?
    /// Of `network.json`: two letters.
    public let country: String?
    public let stateDirectory: String
    /// Where the frames are shown; `nil` for nowhere.
    public let preview: (any PreviewSink)?
}

/// A snapshot of a camera that no stream has open; goes to a thread of its own.
public struct StillRequest: Sendable {
    public let snapshot: SnapshotRequest
    public let device: DeviceDescription
    public let board: BoardDescription?
    /// Of `network.json`: two letters.
    public let country: String?
}

/// The frames of a camera that no stream has open, for a screen; goes to a thread of its own.
public struct IdlePreviewRequest: Sendable {
    public let device: DeviceDescription
    public let board: BoardDescription?
    /// Of `network.json`: two letters.
    public let country: String?
    public let preview: any PreviewSink

    /// Whether the camera is opened in the same way, and shown at the same place.
    func isSame(as other: IdlePreviewRequest) -> Bool {
        device == other.device && board == other.board && country == other.country && preview === other.preview
    }
}
