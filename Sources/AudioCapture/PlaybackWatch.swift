import Media

/// Detects whether a computer really takes audio. A computer that falls asleep, or whose cable is pulled unnoticed, is still
/// reported as recording but takes nothing.
struct PlaybackWatch {
    /// The same as for frames.
    private static let timeout = Duration.seconds(5)

    /// After the latest write.
    private var fill: Duration
    /// When the fill last decreased.
    private var fallTime: MediaTimestamp
    private(set) var isStalled = false

    init(fill: Duration, now: MediaTimestamp) {
        self.fill = fill
        fallTime = now
    }

    /// - Parameter fill: before the next write.
    mutating func looked(fill: Duration, now: MediaTimestamp) {
        if fill < self.fill { fallTime = now }
        isStalled = now - fallTime >= Self.timeout
    }

    /// - Parameter fill: after the write, if anything was written.
    mutating func written(fill: Duration) { self.fill = fill }
}
