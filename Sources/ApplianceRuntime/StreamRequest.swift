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

/// What the files say of a camera that is open without a stream.
public struct IdleCameraDescription: Hashable, Sendable {
    public let device: DeviceDescription
    public let board: BoardDescription?
    /// Of `network.json`: two letters.
    public let country: String?

    init(_ files: DescriptionFiles) {
        device = files.device
        board = files.board
        country = files.network.country
    }
}

/// A snapshot of a camera that no stream has open; goes to a thread of its own.
public struct StillRequest: Sendable {
    public let snapshot: SnapshotRequest
    public let camera: IdleCameraDescription
}

/// The frames of a camera that no stream has open, for a screen; goes to a thread of its own.
public struct IdlePreviewRequest: Sendable {
    public let camera: IdleCameraDescription
    public let preview: any PreviewSink

    /// Whether the camera is opened in the same way, and shown at the same place.
    func isSame(as other: IdlePreviewRequest) -> Bool { camera == other.camera && preview === other.preview }
}
