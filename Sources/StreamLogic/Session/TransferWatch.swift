import Media

/// Detects a peer that takes nothing any more: dead, out of reach, or not reading.
public struct TransferWatch {
    /// How long nothing may arrive although something is on its way.
    public static let timeout = Duration.seconds(5)

    /// Acknowledgements on a working way come more often than that, as a rule.
    public static let pause = Duration.milliseconds(400)

    private var mostDelivered = Int.min
    private var lastProgress: MediaTimestamp?

    public init() {}

    /// When `measured` is to be called at the latest; `nil` when nothing is on its way.
    public var deadline: MediaTimestamp? { lastProgress.map { $0 + Self.timeout } }

    /// Whether nothing has arrived for a while although something is on its way.
    public func hasPaused(now: MediaTimestamp) -> Bool { lastProgress.map { now - $0 >= Self.pause } ?? false }

    /// - Parameters:
    ///   - delivered: bytes that arrived so far.
    ///   - pending: bytes on their way.
    /// - Returns: whether the peer is to be given up.
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
