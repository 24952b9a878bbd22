import Media

/// Decides which address to try when (RFC 8305). IPv6 and IPv4 alternate. A new attempt starts every 250 ms while earlier ones
/// are unanswered, and at once when one fails. The first to connect wins; the caller handles that.
///
///     waiting for names ──IPv6 answer, or IPv4 answer and 50 ms──▶ trying ──nothing left──▶ exhausted
struct HappyEyeballs<Address> {
    typealias Family = SocketAddress.Family

    enum Action {
        case connect(Address)
        /// Every address has failed, or there was none.
        case giveUp
    }

    /// RFC 8305 section 5, Connection Attempt Delay.
    static var attemptDelay: Duration { .milliseconds(250) }
    /// RFC 8305 section 3, Resolution Delay: how long IPv4 waits for the IPv6 addresses.
    static var resolutionDelay: Duration { .milliseconds(50) }

    private enum State {
        case waitingForNames
        /// IPv4 addresses are known, IPv6 ones are not. The first attempt waits until this time.
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

    /// - Parameter families: the address families being looked up.
    init(lookingUp families: [Family] = [.ipv4, .ipv6]) { unanswered = families }

    /// When to call `timePassed`; `nil` if only other events matter.
    var nextTime: MediaTimestamp? {
        switch state {
        case .waitingForNames, .exhausted: nil
        case .waitingForIPv6(let time): time
        case .trying(let time): hasAddresses ? time : nil
        }
    }

    /// Reports the answer for one family. An empty answer or a failure counts too.
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

    /// Reports that no more answers will come, because the time for the lookup is over.
    mutating func lookupTimeEnded(now: MediaTimestamp) -> [Action] {
        unanswered = []
        if case .waitingForIPv6 = state { state = .trying(nextAttempt: now) }
        return timePassed(now: now)
    }

    /// Reports an attempt that ended without a connection; the next may start at once.
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

    /// The untried addresses of a family.
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
