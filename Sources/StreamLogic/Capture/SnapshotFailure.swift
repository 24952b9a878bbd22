/// Why there is no snapshot. What the snapshot was taken from continues.
public enum SnapshotFailure: Hashable, Sendable {
    case othersWaiting(limit: Int)
    case noVideo
    /// The stream is still connecting, so no frames come.
    case connecting
    case streamEnded
    /// It has the camera now.
    case streamStarted
    /// A stream, a computer or the end of the time limit took the camera away.
    case cameraTaken
    /// An earlier snapshot still waits for its driver.
    case cameraHangs
    case camera(reason: String)
    /// The JPEG could not be made or written.
    case file(reason: String)
    case system(reason: String)
}

extension SnapshotFailure {
    /// For programs; it never changes.
    public var name: String {
        switch self {
        case .othersWaiting: "othersWaiting"
        case .noVideo: "noVideo"
        case .connecting: "connecting"
        case .streamEnded: "streamEnded"
        case .streamStarted: "streamStarted"
        case .cameraTaken: "cameraTaken"
        case .cameraHangs: "cameraHangs"
        case .camera: "cameraFailed"
        case .file: "fileFailed"
        case .system: "system"
        }
    }
}

extension SnapshotFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .othersWaiting(let limit): "\(limit) other requests are already waiting"
        case .noVideo: "the stream has no video"
        case .connecting: "the stream is still connecting"
        case .streamEnded: "the stream has ended"
        case .streamStarted: "a stream has started"
        case .cameraTaken: "the camera gave no frame before it was needed elsewhere"
        case .cameraHangs: "an earlier snapshot is stuck in its driver"
        case .camera(let reason), .file(let reason), .system(let reason): reason
        }
    }
}
