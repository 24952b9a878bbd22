import Media
import StreamQuality

/// What one sink of a stream has accepted and dropped so far.
public struct SentCounters: Hashable, Sendable {
    public var sentFrames = 0
    public var sentVideoBytes = 0
    public var sentAudioPackets = 0
    public var sentAudioBytes = 0
    /// Decode times of the last packets sent.
    private var sentVideoTime: MediaTimestamp?
    private var sentAudioTime: MediaTimestamp?
    /// Frames that the send buffer dropped because the network was too slow.
    public var droppedFrames = 0
    public var droppedAudioPackets = 0

    public init() {}

    public mutating func packetSent(_ packet: EncodedPacket) {
        switch packet.kind {
        case .video:
            sentFrames += 1
            sentVideoBytes += packet.payload.count
            sentVideoTime = packet.decodeTime
        case .audio:
            sentAudioPackets += 1
            sentAudioBytes += packet.payload.count
            sentAudioTime = packet.decodeTime
        case .videoHeader, .audioHeader: break
        }
    }

    public mutating func packetsDropped(_ items: [DroppedItem]) {
        let frames = items.count { $0.kind.isVideo }
        droppedFrames += frames
        droppedAudioPackets += items.count - frames
    }

    /// Headers for a connection that takes over, with the stream's present time instead of the encoders' start time.
    /// All packets still to be sent have later times.
    public func brought(upToDate headers: [EncodedPacket]) -> [EncodedPacket] {
        let times = headers.map { ($0.isVideo ? sentVideoTime : sentAudioTime) ?? $0.decodeTime }
        return headers.map { header in
            var header = header
            header.decodeTime = times.min() ?? header.decodeTime
            return header
        }
    }

    public var sentBytes: Int { sentVideoBytes + sentAudioBytes }
}
