import Encoding
import Media
import StreamQuality
import Synchronization

/// Keeps every packet of a hub, as a recording does.
public final class CollectingSink: PacketSink {
    private let received = Mutex<[EncodedPacket]>([])

    public init() {}

    public var packets: [EncodedPacket] { received.withLock { $0 } }

    public func append(_ packets: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] {
        received.withLock { $0 += packets }
        return []
    }

    public func restart(headers: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] {
        append(headers, now: now)
    }

    public func epochStarted() {}
    public func mediaEnded() {}
    public func wake(_ events: [SendBufferEvent]) {}
}
