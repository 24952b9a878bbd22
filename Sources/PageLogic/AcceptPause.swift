import Media

/// When the kernel has no descriptor or memory for another connection, that connection stays in its queue and the listener
/// stays readable. Looking again at once would take the whole processor.
package struct AcceptPause: Sendable {
    package static let length = Duration.seconds(1)
    /// The log has room for other things.
    package static let silence = Duration.seconds(600)

    /// When to look for connections again; `nil` for now.
    package private(set) var end: MediaTimestamp?
    private var toldUntil: MediaTimestamp?

    package init() {}

    /// - Returns: whether to tell people.
    package mutating func failed(now: MediaTimestamp) -> Bool {
        end = now + Self.length
        if let toldUntil, now < toldUntil { return false }
        toldUntil = now + Self.silence
        return true
    }

    package mutating func timeReached(now: MediaTimestamp) { if let end, end <= now { self.end = nil } }
}
