import Media

/// Detects a peer that no longer acknowledges data: dead, unreachable, or not reading.
public struct TransferWatch {
    /// How long nothing may be acknowledged while data is in flight.
    public static let timeout = Duration.seconds(5)

    /// On a working route, acknowledgments normally come more often than this.
    public static let pause = Duration.milliseconds(400)

    private var mostDelivered = Int.min
    private var lastProgress: MediaTimestamp?

    public init() {}

    /// The latest time to call `measured`; `nil` when nothing is in flight.
    public var deadline: MediaTimestamp? { lastProgress.map { $0 + Self.timeout } }

    /// Whether nothing has been acknowledged for a while although data is in flight.
    public func hasPaused(now: MediaTimestamp) -> Bool { lastProgress.map { now - $0 >= Self.pause } ?? false }

    /// - Parameters:
    ///   - delivered: bytes acknowledged so far.
    ///   - pending: bytes in flight.
    /// - Returns: whether to give up the peer.
    public mutating func measured(delivered: Int, pending: Int, now: MediaTimestamp) -> Bool {
        guard pending > 0 else {
            lastProgress = nil
            mostDelivered = max(mostDelivered, delivered)
            return false
        }
        if delivered > mostDelivered || lastProgress == nil {
            lastProgress = now
            mostDelivered = max(mostDelivered, delivered)
        }
        return deadline.map { now >= $0 } ?? false
    }
}
