/// What one filter of a live stream has done so far.
public struct FilterReading: Hashable, Sendable {
    public let filter: FilterID
    public let frames: Int
    public let nanoseconds: Int64
    /// It is left out for now: there is no time for it.
    public let isDropped: Bool

    public init(_ filter: FilterID, frames: Int, nanoseconds: Int64, isDropped: Bool) {
        self.filter = filter
        self.frames = frames
        self.nanoseconds = nanoseconds
        self.isDropped = isDropped
    }

    /// For people.
    public var text: String { "\(filter)" + (isDropped ? " (left out: too slow)" : "") }
}
