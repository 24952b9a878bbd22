import Media

/// Delays a stream's start until the time of day is known.
///
/// Boards have no clock of their own, but signatures and certificates need one. A time server that does not answer must
/// not prevent streaming, so after a timeout the last nonce and the image's date are used.
struct ClockWait: Sendable {
    /// Counted from when a stream is wanted and there is a network.
    static let timeout: Duration = .seconds(20)

    private(set) var isAwaited: Bool
    private(set) var deadline: MediaTimestamp?

    init(isAwaited: Bool) { self.isAwaited = isAwaited }

    /// A stream is wanted. Repeated calls do not extend the wait.
    mutating func started(networkIsUp: Bool, now: MediaTimestamp) {
        if networkIsUp, deadline == nil { deadline = now + Self.timeout }
    }

    /// Without a network no time server can answer.
    mutating func networkLost() { deadline = nil }

    mutating func ended() {
        isAwaited = false
        deadline = nil
    }
}
