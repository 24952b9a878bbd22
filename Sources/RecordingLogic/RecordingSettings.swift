import Media

/// How recordings are cut, and how much they may fill.
public struct RecordingSettings: Hashable, Sendable {
    public static let lengths = Duration.seconds(10)...Duration.seconds(3600)
    /// In percent of the disk.
    public static let shares = 1...95
    /// FAT32 ends files at 4 GiB. The rest is for a last GOP and the index.
    public static let largestFile = 3_900_000_000

    /// A new file starts at the first keyframe after this long.
    public var length: Duration
    /// Minutes of all recordings together; `nil` for no limit.
    public var minutes: Int?
    /// Percent of the disk that all recordings together may fill.
    public var share: Int
    /// Full means the end: no recording is deleted for a new one.
    public var keepsAll: Bool

    /// Values outside the ranges are replaced by the nearest within.
    public init(
        length: Duration = .seconds(60), minutes: Int? = nil, share: Int = 80, keepsAll: Bool = false
    ) {
        self.length = min(max(length, Self.lengths.lowerBound), Self.lengths.upperBound)
        self.minutes = minutes.map { max(1, $0) }
        self.share = min(max(share, Self.shares.lowerBound), Self.shares.upperBound)
        self.keepsAll = keepsAll
    }
}
