import Media

/// Detects whether a computer that wants frames takes them. A sleeping computer does not, nor does one whose cable was pulled
/// without its controller noticing; neither case is reported.
struct StallWatch {
    private static let timeout = Duration.seconds(5)
    /// How often to check whether the computer is awake.
    private static let interval = Duration.seconds(1)

    /// When there was last room for a frame.
    private var roomTime: MediaTimestamp
    /// When to check again whether it takes frames; `nil` while it does.
    private(set) var nextLook: MediaTimestamp?

    init(now: MediaTimestamp) { roomTime = now }

    /// A frame was about to be sent.
    /// - Returns: whether the computer has taken nothing for so long that the camera should be closed.
    mutating func tried(hasRoom: Bool, now: MediaTimestamp) -> Bool {
        guard !hasRoom else {
            roomTime = now
            return false
        }
        guard now - roomTime >= Self.timeout else { return false }
        nextLook = now + Self.interval
        return true
    }

    /// The time for a check has come.
    /// - Returns: whether the computer accepts frames again.
    mutating func looked(hasRoom: Bool, now: MediaTimestamp) -> Bool {
        guard hasRoom else {
            nextLook = now + Self.interval
            return false
        }
        self = StallWatch(now: now)
        return true
    }
}
