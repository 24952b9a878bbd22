/// Counts what the peer sent, and says when to acknowledge (RTMP 1.0 sections 5.4.3 and 5.4.4).
struct ReceivedByteCounter: Sendable {
    /// Bytes after which the peer wants an acknowledgement; zero before it said so.
    var window: UInt32 = 0
    private var total: UInt64 = 0
    private var acknowledged: UInt64 = 0

    /// - Returns: the sequence number to acknowledge, when the window is used up. However small the
    ///   window, there is at most one for each portion of bytes.
    mutating func bytesReceived(_ count: Int) -> UInt32? {
        total &+= UInt64(count)
        guard window > 0, total &- acknowledged >= UInt64(window) else { return nil }
        acknowledged = total
        return UInt32(truncatingIfNeeded: total)
    }
}

/// Makes the peer's acknowledgements, which wrap, into a count that does not.
struct AcknowledgedByteCounter: Sendable {
    /// Bytes that the peer has, as far as is known.
    private(set) var acknowledged: UInt64 = 0

    /// - Parameters:
    ///   - sequenceNumber: what the peer sent, modulo 2^32; some services wrap at 2^31.
    ///   - sent: bytes sent so far. More cannot be acknowledged: such a number is not believed.
    /// - Returns: whether the count grew.
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
