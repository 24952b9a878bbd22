import DevicePorts
import Media
import Synchronization

/// What has gone through a publisher so far. Every thread adds to it.
struct PublishCounters: Sendable {
    /// Pictures that reached the encoder.
    var capturedFrames = 0
    /// Pictures that the source gave beyond the frame rate that is wanted: they reached no encoder.
    var decimatedFrames = 0
    /// Pictures that the encoder left out by its own decision.
    var skippedFrames = 0
    /// How often whole pictures were scaled, converted or copied on their way into the encoder.
    var conversions = 0
    var videoSource = VideoSourceStatistics()
    var audioSource = AudioSourceStatistics()
    /// Pictures that the encoder gave, and their bytes.
    var encodedFrames = 0
    var encodedVideoBytes = 0
    var sentFrames = 0
    var sentVideoBytes = 0
    var sentAudioUnits = 0
    var sentAudioBytes = 0
    /// The decode times of the last that were sent.
    private var sentVideoTime: MediaTimestamp?
    private var sentAudioTime: MediaTimestamp?
    /// Pictures that the send buffer dropped because the network was too slow.
    var droppedFrames = 0
    var droppedAudioUnits = 0

    mutating func packetSent(_ packet: EncodedPacket) {
        switch packet.kind {
        case .video:
            sentFrames += 1
            sentVideoBytes += packet.payload.count
            sentVideoTime = packet.decodeTime
        case .audio:
            sentAudioUnits += 1
            sentAudioBytes += packet.payload.count
            sentAudioTime = packet.decodeTime
        case .videoHeader, .audioHeader: break
        }
    }

    /// Headers for a connection that takes over: at the time that the stream has come to, not that of their encoders'
    /// begin. Whatever is still to be sent comes later than they.
    func brought(upToDate headers: [EncodedPacket]) -> [EncodedPacket] {
        let times = headers.map { ($0.isVideo ? sentVideoTime : sentAudioTime) ?? $0.decodeTime }
        return headers.map { header in
            var header = header
            header.decodeTime = times.min() ?? header.decodeTime
            return header
        }
    }

    var sentBytes: Int { sentVideoBytes + sentAudioBytes }
}

final class SharedCounters: Sendable {
    private let counters = Mutex(PublishCounters())

    var snapshot: PublishCounters { counters.withLock { $0 } }
    func update(_ body: (inout PublishCounters) -> Void) { counters.withLock { body(&$0) } }
}
