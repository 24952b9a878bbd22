/// Counts received bytes and decides when to acknowledge them (RTMP 1.0 sections 5.4.3 and 5.4.4).
struct ReceivedByteCounter: Sendable {
    /// Bytes after which the peer expects an acknowledgment; zero until the peer has announced it.
    var window: UInt32 = 0
    private var total: UInt64 = 0
    private var acknowledged: UInt64 = 0

    /// - Returns: the sequence number to acknowledge, if the window is used up. However small the window, a call
    ///   returns at most one.
    mutating func bytesReceived(_ count: Int) -> UInt32? {
        total &+= UInt64(count)
        guard window > 0, total &- acknowledged >= UInt64(window) else { return nil }
        acknowledged = total
        return UInt32(truncatingIfNeeded: total)
    }
}

/// Converts the peer's acknowledgments, which wrap, to a count that does not.
struct AcknowledgedByteCounter: Sendable {
    /// Bytes known to have reached the peer.
    private(set) var acknowledged: UInt64 = 0

    /// - Parameters:
    ///   - sequenceNumber: as received from the peer, modulo 2^32; some services wrap at 2^31.
    ///   - sent: bytes sent so far. A number that acknowledges more is ignored.
    /// - Returns: whether the count increased.
    mutating func acknowledgementReceived(_ sequenceNumber: UInt32, sent: UInt64) -> Bool {
        for bits in [UInt64(32), 31] {
            let modulus: UInt64 = 1 << bits
            guard UInt64(sequenceNumber) < modulus else { continue }
            let below = acknowledged & ~(modulus - 1) | UInt64(sequenceNumber)
            let candidate = below < acknowledged ? below + modulus : below
            if candidate <= sent, candidate > acknowledged {
                acknowledged = candidate
                return true
            }
        }
        return false
    }
}
