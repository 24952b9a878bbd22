import Media
import StreamQuality

/// Receives a stream's encoded packets from a `PacketHub`.
public protocol PacketSink: AnyObject, Sendable {
    /// Receives packets of one track, in the order of their decode times. Called with the hub's lock held, so it must neither
    /// wait nor call the hub.
    /// - Returns: what happened to them. `keyframeNeeded` asks the encoder for one.
    func append(_ packets: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent]
    /// Restarts: waiting packets are void, and these headers decode the packets to come. Called with the hub's lock held.
    /// - Returns: as `append`.
    func restart(headers: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent]
    /// Packets from here on need new headers, which a server accepts only on a new connection. Called with the hub's lock.
    func epochStarted()
    /// No more packets follow. Called with the hub's lock held.
    func mediaEnded()
    /// Packets or the end have arrived. Called without the hub's lock, on the thread that brought them.
    /// - Parameter events: the result of `append`.
    func wake(_ events: [SendBufferEvent])
}

/// Keeps a stream's packets, and learns which of them servers have.
public protocol PacketArchive: PacketSink {
    /// A server has all media of this range of capture times. Any thread.
    func acknowledged(by target: String, _ range: Range<MediaTimestamp>)
}
