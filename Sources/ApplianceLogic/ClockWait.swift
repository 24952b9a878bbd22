import Media

/// Holds a stream's start back until the time of day is known.
///
/// Boards have no clock of their own, and signatures and certificates need one. A time server that does not answer must
/// not keep anybody from streaming: after a while the last nonce and the image's date have to do.
struct ClockWait: Sendable {
    /// From the moment in which a stream is wanted and there is a network.
    static let timeout: Duration = .seconds(20)

    private(set) var isAwaited: Bool
    private(set) var deadline: MediaTimestamp?

    init(isAwaited: Bool) { self.isAwaited = isAwaited }

    /// A stream is wanted; the first of several wishes counts.
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
