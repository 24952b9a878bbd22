import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import StreamQuality
import Synchronization

/// Source and encoder: the work of the video thread.
final class VideoPipeline {
    private let source: any VideoSource
    private let encoder: any VideoEncoder
    private var pacer: FramePacer
    private let queue: MediaQueue
    private let counters: SharedCounters
    private let keyFrameRequested: Flag
    private let reports: Mailbox<TrackReport>
    private var lastDecodeTime: MediaTimestamp?

    init(
        track: VideoTrack, queue: MediaQueue, counters: SharedCounters, keyFrameRequested: Flag,
        reports: Mailbox<TrackReport>
    ) {
        source = track.source
        encoder = track.encoder
        pacer = track.pacer
        self.queue = queue
        self.counters = counters
        self.keyFrameRequested = keyFrameRequested
        self.reports = reports
    }

    /// Encodes until the source ends, or a picture is later than `end`, and reports how it ended.
    func run(until end: MediaTimestamp?) {
        do {
            try encodeAll(until: end)
            reports.send(.ended(.video, note: source.endingNote))
        } catch let error as VideoEncodingError {
            reports.send(.failed(CommandFailure(.media, code: -1303, "\(error)")))
        } catch {
            reports.send(.failed(CommandFailure(.media, code: -1301, "\(error)")))
        }
    }

    private func encodeAll(until end: MediaTimestamp?) throws {
        while let frame = try source.nextFrame() {
            if let end, frame.captureTime >= end { return }
            guard pacer.frameCaptured(at: frame.captureTime) else { continue }
            if keyFrameRequested.take() { encoder.requestKeyFrame() }
            let packets = try encoder.encode(frame)
            counters.update {
                $0.capturedFrames += 1
                $0.skippedFrames = encoder.skippedFrameCount
                $0.convertedFrames = encoder.convertedFrameCount
                $0.videoSource = source.statistics
            }
            let events = queue.append(packets.map(spread))
            if !events.isEmpty { reports.send(.buffer(events)) }
        }
    }

    /// RTMP counts whole milliseconds, from a zero that lies anywhere within one. Pictures from a
    /// pipe can come closer to each other: they are moved a millisecond apart, so that no two
    /// have one timestamp.
    private func spread(_ packet: EncodedPacket) -> EncodedPacket {
        guard case .video = packet.kind else { return packet }
        var packet = packet
        if let lastDecodeTime { packet.decodeTime = max(packet.decodeTime, lastDecodeTime + .milliseconds(1)) }
        lastDecodeTime = packet.decodeTime
        return packet
    }
}

/// A request from one thread that another one takes up once.
final class Flag: Sendable {
    private let isRaised = Atomic(false)

    func raise() { isRaised.store(true, ordering: .relaxed) }
    func take() -> Bool { isRaised.exchange(false, ordering: .relaxed) }
}
