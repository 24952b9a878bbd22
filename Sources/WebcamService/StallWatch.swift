import Media

/// Whether the computer takes frames, while it wants some. One that sleeps does not, nor one whose cable was pulled and whose
/// controller has not seen it; nobody says so.
struct StallWatch {
    private static let timeout = Duration.seconds(5)
    /// From one look at whether it is awake to the next.
    private static let interval = Duration.seconds(1)

    /// When there was room for a frame last.
    private var roomTime: MediaTimestamp
    /// When it is to be looked again whether it takes frames; `nil` while it does.
    private(set) var nextLook: MediaTimestamp?

    init(now: MediaTimestamp) { roomTime = now }

    /// A frame was to be sent.
    /// - Returns: whether the computer has taken none for so long that the camera is not kept open for it.
    mutating func tried(hasRoom: Bool, now: MediaTimestamp) -> Bool {
        guard !hasRoom else {
            roomTime = now
            return false
        }
        guard now - roomTime >= Self.timeout else { return false }
        nextLook = now + Self.interval
        return true
    }

    /// It was the time for a look.
    /// - Returns: whether it takes frames again.
    mutating func looked(hasRoom: Bool, now: MediaTimestamp) -> Bool {
        guard hasRoom else {
            nextLook = now + Self.interval
            return false
        }
        self = StallWatch(now: now)
        return true
    }
}
