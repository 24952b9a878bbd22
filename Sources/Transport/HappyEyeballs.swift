import Media

/// Decides which address is tried when (RFC 8305): IPv6 and IPv4 in turn, a new
/// attempt every 250 ms while the ones before have not answered, at once when one
/// has failed. The first that connects wins; that is the caller's to see.
///
///     waiting for names ──IPv6 answer, or IPv4 answer and 50 ms──▶ trying ──nothing left──▶ exhausted
struct HappyEyeballs<Address> {
    typealias Family = SocketAddress.Family

    enum Action {
        case connect(Address)
        /// Every address has failed, or there is none.
        case giveUp
    }

    /// RFC 8305 section 5, Connection Attempt Delay.
    static var attemptDelay: Duration { .milliseconds(250) }
    /// RFC 8305 section 3, Resolution Delay: how long IPv4 waits for IPv6's addresses.
    static var resolutionDelay: Duration { .milliseconds(50) }

    private enum State {
        case waitingForNames
        /// IPv4 is there, IPv6 is not: the first attempt waits until then.
        case waitingForIPv6(until: MediaTimestamp)
        case trying(nextAttempt: MediaTimestamp)
        case exhausted
    }

    private var state = State.waitingForNames
    private var unanswered: [Family]
    private var ipv4: ArraySlice<Address> = []
    private var ipv6: ArraySlice<Address> = []
    private var attemptCount = 0
    private var nextFamily = Family.ipv6

    /// - Parameter families: those whose names are being looked up.
    init(lookingUp families: [Family] = [.ipv4, .ipv6]) { unanswered = families }

    /// When `timePassed` is to be called, `nil` when only other events matter.
    var nextTime: MediaTimestamp? {
        switch state {
        case .waitingForNames, .exhausted: nil
        case .waitingForIPv6(let time): time
        case .trying(let time): hasAddresses ? time : nil
        }
    }

    /// A family's names are looked up; no addresses is an answer too, and so is a failure.
    mutating func lookupAnswered(_ family: Family, with found: [Address], now: MediaTimestamp) -> [Action] {
        unanswered.removeAll { $0 == family }
        self[family] += found
        if case .waitingForNames = state, hasAddresses {
            let waits = family == .ipv4 && unanswered.contains(.ipv6)
            state = waits ? .waitingForIPv6(until: now + Self.resolutionDelay) : .trying(nextAttempt: now)
        } else if case .waitingForIPv6 = state {
            state = .trying(nextAttempt: now)
        }
        return timePassed(now: now)
    }

    /// No more answers will come: the time for looking up is over.
    mutating func lookupTimeEnded(now: MediaTimestamp) -> [Action] {
        unanswered = []
        if case .waitingForIPv6 = state { state = .trying(nextAttempt: now) }
        return timePassed(now: now)
    }

    /// An attempt came to its end without a connection; the next may start at once.
    mutating func attemptFailed(now: MediaTimestamp) -> [Action] {
        attemptCount -= 1
        if case .trying(let time) = state { state = .trying(nextAttempt: min(time, now)) }
        return timePassed(now: now)
    }

    mutating func timePassed(now: MediaTimestamp) -> [Action] {
        if case .waitingForIPv6(let time) = state, now >= time { state = .trying(nextAttempt: now) }
        if case .trying(let time) = state, now >= time, let address = takeAddress() {
            attemptCount += 1
            state = .trying(nextAttempt: now + Self.attemptDelay)
            return [.connect(address)]
        }
        guard case .exhausted = state else {
            guard unanswered.isEmpty, attemptCount == 0, !hasAddresses else { return [] }
            state = .exhausted
            return [.giveUp]
        }
        return []
    }

    private var hasAddresses: Bool { !ipv4.isEmpty || !ipv6.isEmpty }

    /// The addresses of a family that are still to be tried.
    private subscript(family: Family) -> ArraySlice<Address> {
        get { family == .ipv4 ? ipv4 : ipv6 }
        set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
    }

    /// The next address of the family whose turn it is, or else of the other.
    private mutating func takeAddress() -> Address? {
        let other: Family = nextFamily == .ipv6 ? .ipv4 : .ipv6
        for (family, next) in [(nextFamily, other), (other, nextFamily)] {
            if let address = self[family].popFirst() {
                nextFamily = next
                return address
            }
        }
        return nil
    }
}
