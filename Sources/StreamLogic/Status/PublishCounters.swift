import Filters
import Media

/// What has gone through a publisher so far. Every thread adds to it.
public struct PublishCounters: Hashable, Sendable {
    /// Frames that reached the encoder.
    public var capturedFrames = 0
    /// Frames that the source gave beyond the frame rate that is wanted: they reached no encoder.
    public var decimatedFrames = 0
    /// Frames that the encoder left out by its own decision.
    public var skippedFrames = 0
    /// How often whole frames were scaled, converted or copied on their way into the encoder.
    public var conversions = 0
    public var videoSource = VideoSourceStatistics()
    /// In the chain's order.
    public var filters: [FilterReading] = []
    public var audioSource = AudioSourceStatistics()
    /// `nil` without a preview.
    public var preview: PreviewStatistics?
    /// Frames that the encoder gave, and their bytes.
    public var encodedFrames = 0
    public var encodedVideoBytes = 0
    public var sentFrames = 0
    public var sentVideoBytes = 0
    public var sentAudioPackets = 0
    public var sentAudioBytes = 0
    /// The decode times of the last that were sent.
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

    /// Headers for a connection that takes over: at the time that the stream has come to, not that of their encoders'
    /// start. Whatever is still to be sent comes later than they.
    public func brought(upToDate headers: [EncodedPacket]) -> [EncodedPacket] {
        let times = headers.map { ($0.isVideo ? sentVideoTime : sentAudioTime) ?? $0.decodeTime }
        return headers.map { header in
            var header = header
            header.decodeTime = times.min() ?? header.decodeTime
            return header
        }
    }

    /// Frames that the source had and nobody took in time, mostly because the processor is too slow for them. A camera's
    /// broken ones are among them.
    public var missedFrames: Int { videoSource.droppedFrames }

    /// For people, behind the other counts; empty where there are none.
    public var missedText: String { missedFrames > 0 ? ", \(missedFrames) missed" : "" }

    public var sentBytes: Int { sentVideoBytes + sentAudioBytes }
}
