import Media

/// A JPEG of one frame that somebody has asked for.
public struct SnapshotRequest: Hashable, Sendable {
    public static let qualities = 1...100
    public static let usualQuality = 90

    /// The answer brings it back.
    public let id: CommandID
    /// Of the JPEG, one of `qualities`.
    public var quality: Int
    /// Where the file is to be; `nil` when the answer is to bring its bytes.
    public var path: String?
    /// A larger one is taken in the stream's size, where the camera is open for nothing else.
    public var largestByteCount: Int?
    /// The light has just changed: the frame is taken when exposure has followed.
    public var awaitsExposure = false
    /// Whether the time of day is known, for the file to tell.
    public var isClockSet = true

    public init(_ id: CommandID, quality: Int = usualQuality, path: String? = nil) {
        self.id = id
        self.quality = quality
        self.path = path
    }
}

/// A JPEG file of one frame.
public struct Snapshot: Hashable, Sendable {
    public let size: FrameSize
    /// Empty when the file was written where the request says.
    public let bytes: [UInt8]
    public let byteCount: Int

    public init(size: FrameSize, bytes: [UInt8], byteCount: Int) {
        self.size = size
        self.bytes = bytes
        self.byteCount = byteCount
    }
}

/// What became of a `SnapshotRequest`.
public enum SnapshotAnswer: Hashable, Sendable {
    case taken(SnapshotRequest, Snapshot)
    case failed(SnapshotRequest, reason: String)

    public var request: SnapshotRequest {
        switch self {
        case .taken(let request, _), .failed(let request, _): request
        }
    }
}

extension SnapshotAnswer {
    var name: String {
        switch self {
        case .taken: "snapshot"
        case .failed: "snapshotFailed"
        }
    }

    var text: String {
        switch self {
        case .taken(let request, let snapshot):
            "snapshot of \(snapshot.size), \(snapshot.byteCount) bytes" + (request.path.map { " in \($0)" } ?? "")
        case .failed(_, let reason): "no snapshot: \(reason)"
        }
    }

    var fields: [EventField] {
        switch self {
        case .taken(let request, let snapshot):
            [
                ("width", .integer(snapshot.size.width)), ("height", .integer(snapshot.size.height)),
                ("bytes", .integer(snapshot.byteCount)),
            ] + (request.path.map { [("file", .text($0))] } ?? [])
        case .failed(_, let reason): [("reason", .text(reason))]
        }
    }
}
