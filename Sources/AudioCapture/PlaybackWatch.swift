import Media

/// Whether what is written to a card goes anywhere. A computer that falls asleep, or whose cable is pulled unseen, is still said
/// to record; it takes nothing.
struct PlaybackWatch {
    /// As with frames.
    private static let timeout = Duration.seconds(5)

    /// Behind what was written last.
    private var fill: Duration
    /// When it fell last.
    private var fallTime: MediaTimestamp
    private(set) var isStalled = false

    init(fill: Duration, now: MediaTimestamp) {
        self.fill = fill
        fallTime = now
    }

    /// - Parameter fill: before anything more is written.
    mutating func looked(fill: Duration, now: MediaTimestamp) {
        if fill < self.fill { fallTime = now }
        isStalled = now - fallTime >= Self.timeout
    }

    /// - Parameter fill: behind what was written, if anything was.
    mutating func written(fill: Duration) { self.fill = fill }
}
