import Media

/// A request for a JPEG of one frame.
public struct SnapshotRequest: Hashable, Sendable {
    public static let qualities = 1...100
    public static let usualQuality = 90

    /// Returned with the answer.
    public let id: CommandID
    /// JPEG quality, one of `qualities`.
    public var quality: Int
    /// Where to write the file; `nil` to return its bytes in the answer.
    public var path: String?
    /// If the JPEG would be larger, it is taken at the stream's size, provided the camera is open for nothing else.
    public var largestByteCount: Int?
    /// The light has just changed: wait until the exposure has settled.
    public var awaitsExposure = false
    /// Whether the time of day is known; only then does the file carry a date.
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
    /// Empty when the file was written to the request's path.
    public let bytes: [UInt8]
    public let byteCount: Int

    public init(size: FrameSize, bytes: [UInt8], byteCount: Int) {
        self.size = size
        self.bytes = bytes
        self.byteCount = byteCount
    }
}

/// The result of a `SnapshotRequest`.
public enum SnapshotAnswer: Hashable, Sendable {
    case taken(SnapshotRequest, Snapshot)
    case failed(SnapshotRequest, SnapshotFailure)

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
        case .failed(_, let failure): "no snapshot: \(failure)"
        }
    }

    var fields: [EventField] {
        switch self {
        case .taken(let request, let snapshot):
            [
                ("width", .integer(snapshot.size.width)), ("height", .integer(snapshot.size.height)),
                ("bytes", .integer(snapshot.byteCount)),
            ] + (request.path.map { [("file", .text($0))] } ?? [])
        case .failed(_, let failure): [("kind", .text(failure.name)), ("reason", .text(failure.description))]
        }
    }
}
