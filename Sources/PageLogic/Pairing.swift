import Media

/// Decides which browser may use the page: one that a person at the camera admits by a press of the button while it waits.
///
///     free ─requested─▶ waiting ─pressed─▶ admitted ─keyTaken─▶ free
///                          └── two minutes ──▶ free ◀── two minutes ──┘
package struct Pairing: Sendable {
    /// A browser waits this long for the press, and an admitted one may take this long to fetch its key.
    package static let patience = Duration.seconds(120)

    /// A browser that asks to be paired.
    package struct Attempt: Hashable, Sendable {
        /// The hash of a secret that only this browser has.
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
        case waiting(Duration)
        case admitted
    }

    private enum State {
        case free
        case waiting(Attempt, until: MediaTimestamp)
        case admitted(Attempt, until: MediaTimestamp)
    }

    private var state = State.free

    package init() {}

    /// A browser asks. One that asks again keeps its time.
    /// - Returns: `nil` if it waits now; otherwise how long another browser keeps it from that.
    package mutating func requested(by attempt: Attempt, now: MediaTimestamp) -> Duration? {
        timeReached(now: now)
        switch state {
        case .free: state = .waiting(attempt, until: now + Self.patience)
        case .waiting(let other, let end), .admitted(let other, let end):
            guard other.secret.isEqualInConstantTime(to: attempt.secret) else { return end - now }
        }
        return nil
    }

    /// - Returns: the browser that the press admits; `nil` if the press means something else.
    package mutating func pressed(now: MediaTimestamp) -> Attempt? {
        timeReached(now: now)
        guard case .waiting(let attempt, _) = state else { return nil }
        state = .admitted(attempt, until: now + Self.patience)
        return attempt
    }

    package mutating func progress(ofSecret secret: [UInt8], now: MediaTimestamp) -> Progress {
        timeReached(now: now)
        switch state {
        case .waiting(let attempt, let end) where attempt.secret.isEqualInConstantTime(to: secret):
            return .waiting(end - now)
        case .admitted(let attempt, _) where attempt.secret.isEqualInConstantTime(to: secret): return .admitted
        default: return .none
        }
    }

    /// The admitted browser fetches its key, once.
    /// - Returns: `nil` if it was not admitted.
    package mutating func keyTaken(bySecret secret: [UInt8], now: MediaTimestamp) -> Attempt? {
        guard progress(ofSecret: secret, now: now) == .admitted, case .admitted(let attempt, _) = state else {
            return nil
        }
        state = .free
        return attempt
    }

    /// Whether a press would admit a browser.
    package var isWaiting: Bool { if case .waiting = state { true } else { false } }

    /// When an attempt ends by itself.
    package var nextDeadline: MediaTimestamp? {
        switch state {
        case .free: nil
        case .waiting(_, let end), .admitted(_, let end): end
        }
    }

    package mutating func timeReached(now: MediaTimestamp) {
        if let end = nextDeadline, end <= now { state = .free }
    }
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
