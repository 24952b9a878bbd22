import Media

/// Decides which browser may use the page: one that a person at the camera admits by a press of the button while it waits.
///
///     unknown ─requested─▶ waiting ─pressed─▶ admitted ─keyTaken─▶ unknown
///                             └── two minutes ──▶ unknown ◀── two minutes ──┘
///
/// A press does not tell which browser it means. So while several wait, it admits none of them and ends all attempts.
package struct Pairing: Sendable {
    /// A browser waits this long for the press, and an admitted one may take this long to fetch its key.
    package static let patience = Duration.seconds(120)
    /// Attempts that are known. The oldest makes room: the others keep a press from admitting anyone.
    package static let limit = 8

    /// A browser that asks to be paired.
    package struct Attempt: Hashable, Sendable {
        /// The hash of a secret that the camera has given to this browser only.
        package let secret: [UInt8]
        /// For people, such as "Firefox on Android".
        package let name: String

        package init(secret: [UInt8], name: String) {
            self.secret = secret
            self.name = name
        }
    }

    /// How far a browser's attempt is.
    package enum Progress: Hashable, Sendable {
        /// The camera does not know the attempt: it never began, or is over.
        case none
        case waiting(Waiting)
        case admitted
    }

    package struct Waiting: Hashable, Sendable {
        package let rest: Duration
        /// Two digits by which a person knows the browser among those that wait.
        package let code: Int
        /// Other browsers that wait.
        package let otherCount: Int
    }

    /// What a press has meant.
    package enum Press: Hashable, Sendable {
        /// No browser waits: the press means something else.
        case unneeded
        case admitted(Attempt)
        /// Several waited, and none waits any longer.
        case ambiguous(count: Int)
    }

    private struct Entry {
        let attempt: Attempt
        let code: Int
        var isAdmitted = false
        var end: MediaTimestamp
    }

    /// The oldest first.
    private var entries: [Entry] = []

    package init() {}

    /// A browser asks.
    /// - Parameter earlier: hashes of the secrets that it has sent. Their attempts are over: a browser that asks again is the
    ///   same one, and a secret that somebody else has put into it is of no use.
    package mutating func requested(by attempt: Attempt, insteadOf earlier: [[UInt8]], now: MediaTimestamp) {
        timeReached(now: now)
        entries.removeAll { entry in earlier.contains { $0.isEqualInConstantTime(to: entry.attempt.secret) } }
        if entries.count >= Self.limit { entries.remove(at: entries.firstIndex { !$0.isAdmitted } ?? 0) }
        entries.append(Entry(attempt: attempt, code: freeCode(for: attempt.secret), end: now + Self.patience))
    }

    /// From the secret, which the camera has chosen: nobody can ask for another browser's code.
    private func freeCode(for secret: [UInt8]) -> Int {
        let first = secret.prefix(2).reduce(0) { $0 * 256 + Int($1) }
        let codes = (0...Self.limit).map { 10 + (first + $0) % 90 }
        return codes.first { code in !entries.contains { $0.code == code } } ?? codes[0]
    }

    package mutating func pressed(now: MediaTimestamp) -> Press {
        timeReached(now: now)
        guard waitingCount <= 1 else {
            defer { entries.removeAll { !$0.isAdmitted } }
            return .ambiguous(count: waitingCount)
        }
        guard let index = entries.firstIndex(where: { !$0.isAdmitted }) else { return .unneeded }
        return .admitted(admit(index, now: now))
    }

    /// - Returns: the browser with this code, which is admitted now; `nil` if none waits with it.
    package mutating func allowed(code: Int, now: MediaTimestamp) -> Attempt? {
        timeReached(now: now)
        return entries.firstIndex { !$0.isAdmitted && $0.code == code }.map { admit($0, now: now) }
    }

    private mutating func admit(_ index: Int, now: MediaTimestamp) -> Attempt {
        entries[index].isAdmitted = true
        entries[index].end = now + Self.patience
        return entries[index].attempt
    }

    package mutating func progress(ofSecret secret: [UInt8], now: MediaTimestamp) -> Progress {
        timeReached(now: now)
        guard let entry = entries.first(where: { $0.attempt.secret.isEqualInConstantTime(to: secret) }) else {
            return .none
        }
        guard !entry.isAdmitted else { return .admitted }
        return .waiting(Waiting(rest: entry.end - now, code: entry.code, otherCount: waitingCount - 1))
    }

    /// The admitted browser fetches its key, once.
    /// - Returns: `nil` if it was not admitted.
    package mutating func keyTaken(bySecret secret: [UInt8], now: MediaTimestamp) -> Attempt? {
        timeReached(now: now)
        return entries.firstIndex { $0.isAdmitted && $0.attempt.secret.isEqualInConstantTime(to: secret) }
            .map { entries.remove(at: $0).attempt }
    }

    /// Those that wait, with their codes.
    package var waiting: [(code: Int, name: String)] {
        entries.filter { !$0.isAdmitted }.map { ($0.code, $0.attempt.name) }
    }

    private var waitingCount: Int { entries.count { !$0.isAdmitted } }

    /// Whether a press would be for a browser.
    package var isWaiting: Bool { waitingCount > 0 }

    /// When an attempt ends by itself.
    package var nextDeadline: MediaTimestamp? { entries.map(\.end).min() }

    package mutating func timeReached(now: MediaTimestamp) { entries.removeAll { $0.end <= now } }
}

extension [UInt8] {
    /// Takes the same time wherever the two differ, so that it does not tell how much of a secret was right.
    func isEqualInConstantTime(to other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        var difference: UInt8 = 0
        for index in indices { difference |= self[index] ^ other[index] }
        return difference == 0
    }
}
