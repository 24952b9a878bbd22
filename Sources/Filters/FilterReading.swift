/// The statistics of one filter of a live stream.
public struct FilterReading: Hashable, Sendable {
    public let filter: FilterID
    public let frames: Int
    public let nanoseconds: Int64
    /// The filter is skipped for now, since it takes too much time.
    public let isDropped: Bool

    public init(_ filter: FilterID, frames: Int, nanoseconds: Int64, isDropped: Bool) {
        self.filter = filter
        self.frames = frames
        self.nanoseconds = nanoseconds
        self.isDropped = isDropped
    }

    /// For people.
    public var text: String { "\(filter)" + (isDropped ? " (off: too slow)" : "") }
}
