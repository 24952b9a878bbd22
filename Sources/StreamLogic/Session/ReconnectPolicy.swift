import Media

/// When and how often to reconnect.
public struct ReconnectPolicy: Hashable, Sendable {
    public enum Limit: Hashable, Sendable {
        /// Attempts after a loss or a failed start. After a loss, attempts made while the link is known to be down do
        /// not count.
        case attempts(Int)
        case endless
    }

    /// What to do after a failure that only a change of settings can cure: wrong credentials, no such application.
    public enum PermanentFailures: Hashable, Sendable {
        /// End the stream if it was never live since the start. After that, such a failure more likely means a server
        /// that is still starting, so it is retried like any other.
        case endBeforeFirstPublishing
        case endAlways
        case retry
    }

    public var limit: Limit
    public var permanentFailures: PermanentFailures
    /// Before the first attempt; doubled for each attempt, up to `longestDelay`.
    public var firstDelay: Duration
    public var longestDelay: Duration
    /// Replaces `longestDelay` while the link is up but no connection succeeds, if attempts are unlimited. An attempt
    /// costs one packet, and a server that returns is found at once. A server that answers and refuses is left alone
    /// for longer.
    public var longestDelayUnreachable: Duration
    /// Each delay is shortened by a random part of up to this fraction, 0...1, so that a thousand cameras do not
    /// reconnect at the same moment.
    public var jitter: Double
    /// A connection that lasted this long resets the counts and delays.
    public var stableAfter: Duration

    public init(
        limit: Limit = .attempts(3), permanentFailures: PermanentFailures = .endBeforeFirstPublishing,
        firstDelay: Duration = .milliseconds(500), longestDelay: Duration = .seconds(8),
        longestDelayUnreachable: Duration = .milliseconds(500), jitter: Double = 0.25,
        stableAfter: Duration = .seconds(5)
    ) {
        self.limit = limit
        self.permanentFailures = permanentFailures
        self.firstDelay = firstDelay
        self.longestDelay = max(longestDelay, firstDelay)
        self.longestDelayUnreachable = longestDelayUnreachable
        self.jitter = min(max(jitter, 0), 1)
        self.stableAfter = stableAfter
    }

    /// - Parameter random: 0..<1.
    func delayUnreachable(random: Double) -> Duration { longestDelayUnreachable * (1 - jitter * random) }

    /// - Parameters:
    ///   - step: consecutive failures before this one.
    ///   - random: 0..<1.
    func delay(step: Int, random: Double) -> Duration {
        let doubled = (0..<min(step, 30)).reduce(firstDelay) { delay, _ in min(delay * 2, longestDelay) }
        return doubled * (1 - jitter * random)
    }
}
