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
    /// Pictures that the send buffer dropped because the network was too slow.
    var droppedFrames = 0
    var droppedAudioUnits = 0

    mutating func packetSent(_ packet: EncodedPacket) {
        switch packet.kind {
        case .video:
            sentFrames += 1
            sentVideoBytes += packet.payload.count
        case .audio:
            sentAudioUnits += 1
            sentAudioBytes += packet.payload.count
        case .videoHeader, .audioHeader: break
        }
    }

    var sentBytes: Int { sentVideoBytes + sentAudioBytes }
}

final class SharedCounters: Sendable {
    private let counters = Mutex(PublishCounters())

    var snapshot: PublishCounters { counters.withLock { $0 } }
    func update(_ body: (inout PublishCounters) -> Void) { counters.withLock { body(&$0) } }
}
