import DevicePorts
import LinuxIO
import Media
import SoftwareEncoding
import StreamQuality

/// Source and encoder: the work of the video thread.
final class VideoPipeline {
    private let source: any VideoSource
    private var encoder: any VideoEncoder
    private let makeEncoder: @Sendable (VideoEncoderConfiguration) throws -> any VideoEncoder
    private var pacer: FramePacer
    private var frameRate: FrameRate
    /// Pictures that encoders before this one left out.
    private var earlierSkips = 0
    private let queue: MediaQueue
    private let counters: SharedCounters
    private let control: EncoderControl
    private let reports: Mailbox<TrackReport>
    private let keyFrameInterval: Duration
    private var lastDecodeTime: MediaTimestamp?

    init(
        track: VideoTrack, queue: MediaQueue, counters: SharedCounters, control: EncoderControl,
        reports: Mailbox<TrackReport>
    ) {
        source = track.source
        encoder = track.encoder
        makeEncoder = track.makeEncoder
        pacer = track.pacer
        keyFrameInterval = track.keyFrameInterval
        frameRate = track.configuration.frameRate
        self.queue = queue
        self.counters = counters
        self.control = control
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
            try obey(control.takeVideoOrders())
            guard pacer.frameCaptured(at: frame.captureTime) else { continue }
            let packets = try encoder.encode(frame).map(spread)
            count(packets)
            let events = queue.append(packets)
            if !events.isEmpty { reports.send(.buffer(events)) }
        }
    }

    private func obey(_ orders: EncoderControl.VideoOrders) throws {
        if let configuration = orders.replacement {
            earlierSkips += encoder.skippedFrameCount
            encoder = try makeEncoder(configuration)
            pace(at: configuration.frameRate)
            queue.videoEncoderReplaced()
        }
        if let setting = orders.setting {
            if setting.frameRate != frameRate {
                try encoder.setFrameRate(
                    setting.frameRate,
                    keyFrameInterval: VideoTrack.keyFrameDistance(keyFrameInterval, at: setting.frameRate))
                pace(at: setting.frameRate)
            }
            try encoder.setBitrate(setting.bitrate)
        }
        if orders.isKeyFrameWanted { encoder.requestKeyFrame() }
    }

    private func pace(at rate: FrameRate) {
        frameRate = rate
        pacer = FramePacer(source: source.frameRate, wanted: rate)
    }

    private func count(_ packets: [EncodedPacket]) {
        let skipped = earlierSkips + encoder.skippedFrameCount
        counters.update { counters in
            counters.capturedFrames += 1
            counters.skippedFrames = skipped
            for packet in packets where !packet.kind.isHeader {
                counters.encodedFrames += 1
                counters.encodedVideoBytes += packet.payload.count
            }
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
