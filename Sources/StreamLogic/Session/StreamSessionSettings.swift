import Media

/// Timeouts of a stream's session. `ReconnectPolicy` has those of reconnecting.
public struct StreamSessionSettings: Hashable, Sendable {
    /// The stream's URL without secrets, for events.
    public var destination: String
    public var reconnect: ReconnectPolicy
    /// The time between status reports, 1...30 s.
    public var statusInterval: Duration {
        didSet { statusInterval = Self.clamped(statusInterval) }
    }
    /// How long one attempt may take from lookup to publishing. The layers below have a limit for each step; this one
    /// limits the sum.
    public var attemptTimeout: Duration
    /// How long the end of a stream may take before the connection is cut. Stop returns within this time.
    public var stopTimeout: Duration

    public init(
        destination: String = "", reconnect: ReconnectPolicy = ReconnectPolicy(),
        statusInterval: Duration = .seconds(3), attemptTimeout: Duration = .seconds(30),
        stopTimeout: Duration = .milliseconds(800)
    ) {
        self.destination = destination
        self.reconnect = reconnect
        self.statusInterval = Self.clamped(statusInterval)
        self.attemptTimeout = attemptTimeout
        self.stopTimeout = stopTimeout
    }

    private static func clamped(_ interval: Duration) -> Duration { min(max(interval, .seconds(1)), .seconds(30)) }
}
