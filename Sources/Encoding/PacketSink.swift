import Media
import StreamQuality

/// Takes a stream's encoded packets from a `PacketHub`.
public protocol PacketSink: AnyObject, Sendable {
    /// Takes packets of one track; each track comes in the order of its decode times. Called with the hub's lock held: it
    /// neither waits nor calls the hub.
    /// - Returns: what happened with them. `keyframeNeeded` asks the encoder for one.
    func append(_ packets: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent]
    /// Starts again: what waits is void, and these headers decode what comes. Called with the hub's lock held.
    /// - Returns: as `append`.
    func restart(headers: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent]
    /// Packets from here on need new headers, which a server accepts only on a new connection. Called with the hub's lock.
    func epochStarted()
    /// Nothing more comes. Called with the hub's lock held.
    func mediaEnded()
    /// Something has come, or the end. Called without the hub's lock, on the thread that brought it.
    /// - Parameter events: what `append` returned.
    func wake(_ events: [SendBufferEvent])
}
