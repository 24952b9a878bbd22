import Bitstream
import Controls
import Filters
import Media
import StreamLogic

@testable import StreamQuality

/// A sample of each event with all its fields, and another one without optional fields.
enum EventSamples {
    static let all = full + sparse

    static let full: [StreamEvent] = [
        .stateChanged(.reconnecting), .connected(server: "10.0.0.1:1935"),
        .tlsFallback(reason: "host:443 speaks TLS 1.2"), .publishing(destination: "server/live/***"),
        .retry(failure, .lookup), .retry(failure, .connect), .retry(failure, .handshake), .retry(failure, .close),
        .reconnecting(attempt: 2, limit: 3, delay: .milliseconds(1500)), .serverChanged, .serverChangeFailed(failure),
        .linkDown, .linkUp, .status(status), .qualityChanged(change), .uplinkTooSlow(bitrate: carried),
        .measured(measurement, linkEstimate: carried), .bufferEmpty, .bufferHigh, .bufferLow, .bufferFull,
        .serverAway,
        .bufferDuration(.milliseconds(1250)), .dropped(item, time: .milliseconds(2500)),
        .softwareEncoderInUse(reason: "it hangs"), .encoderRestarted(reason: "it hangs"),
        .hardwareEncoderDead(reason: "it hangs"),
        .source(.started(.camera("front", FrameSize(width: 1280, height: 720), FrameRate(framesPerSecond: 30)))),
        .source(.started(.microphone(sampleRate: 48_000, channelCount: 2))),
        .source(.interrupted(.video, source: "/dev/video0", reason: "unplugged")),
        .source(.returned(.audio, source: "hw:1", after: .milliseconds(2250))),
        .sourceEnded(.video, note: "the file has ended"),
        .cameraSwitched(from: "front", to: "back", after: .milliseconds(350)),
        .cameraSwitchFailed("back", reason: "it is unplugged", keeping: "front"), .filterDropped(FilterID(.smooth)),
        .filterRestored(FilterID(.smooth)),
        .configured(configuration), .filtered(filters),
        .controlled([
            ControlReading(.gain, .number(8), reported: "gain 2"), ControlReading(.mirror, .flag(true), reported: nil),
        ]),
        .refused(.notStarted), .muted(true), .paused(true),
        .pauseImageUnusable(reason: "slate.png is empty"), snapshot(in: "/tmp/a.jpg"), noSnapshot,
        .preview(.lit(display: "HDMI-A-1, 1920x1080 at 60 Hz", isConverted: true)),
        .preview(.dark(reason: "no display is connected (HDMI-A-1)")),
        .ended(encoded, sent, audioSeconds: 61.25), .failed(.closedByPeer, message: "gone"),
    ]

    static let sparse: [StreamEvent] = [
        .reconnecting(attempt: 2, limit: nil, delay: .zero), .status(audioStatus),
        .qualityChanged(QualityChange(from: audioPoint, to: audioPoint, reason: .resumed, linkEstimate: nil)),
        .measured(measurement, linkEstimate: nil), snapshot(in: nil), .failed(nil, message: "gone"),
    ]

    static let filters: FilterChain = {
        var chain = FilterChain()
        try? chain.set(FilterChange("text", [("text", "Studio, {time}"), ("position", "top-left")]))
        try? chain.set(FilterChange("gray", []))
        return chain
    }()

    static func snapshot(in path: String?) -> StreamEvent {
        let snapshot = Snapshot(size: FrameSize(width: 640, height: 480), bytes: [], byteCount: 81_000)
        return .snapshot(.taken(SnapshotRequest(CommandID(7), path: path), snapshot))
    }

    static let noSnapshot = StreamEvent.snapshot(
        .failed(SnapshotRequest(CommandID(8)), .file(reason: "the disk is full")))

    static let failure = ConnectionFailure(code: -1000, text: "not found")
    static let carried = Bitrate(kilobitsPerSecond: 480)

    static let point = OperatingPoint(
        videoQuality: .medium1, videoBitrate: Bitrate(kilobitsPerSecond: 512),
        frameRate: FrameRate(framesPerSecond: 30), frameSize: FrameSize(width: 640, height: 480),
        audioQuality: .high2)
    static let lowerPoint = OperatingPoint(
        videoQuality: .low1, videoBitrate: Bitrate(kilobitsPerSecond: 200), frameRate: FrameRate(framesPerSecond: 12),
        frameSize: FrameSize(width: 320, height: 240), audioQuality: .low1)
    static let audioPoint = OperatingPoint(
        videoQuality: nil, videoBitrate: Bitrate(kilobitsPerSecond: 512), frameRate: FrameRate(framesPerSecond: 30),
        audioQuality: .high2)
    static let change = QualityChange(from: point, to: lowerPoint, reason: .linkCarriesLess, linkEstimate: carried)

    static let configuration = LiveConfiguration(
        settings: QualitySettings(videoQuality: .medium1, audioQuality: .high2), dimension: .standard)

    static let item = DroppedItem(
        kind: .audio, decodeTime: MediaTimestamp(milliseconds: 5000), byteCount: 371, reason: .awaitingKeyframe)

    static let measurement = StreamMeasurement(
        now: .zero, buffer: SendBuffer(), encodedVideoBytes: 5, encodedFrames: 6, skippedFrames: 7)

    static var sent: SentCounters {
        var sent = SentCounters()
        (sent.sentFrames, sent.droppedFrames) = (90, 2)
        (sent.sentVideoBytes, sent.sentAudioPackets, sent.sentAudioBytes) = (40_000, 129, 9_000)
        return sent
    }

    static var encoded: EncodedCounters {
        var counters = EncodedCounters()
        (counters.skippedFrames, counters.decimatedFrames) = (3, 1)
        counters.conversions = 11
        counters.videoSource.capturedFrames = 95
        counters.videoSource.repeatedFrames = 1
        counters.videoSource.passes = 12
        counters.filters = [FilterReading(FilterID(.text), frames: 90, nanoseconds: 4_500_000, isDropped: false)]
        counters.audioSource.capturedSamples = 132_300
        counters.audioSource.driftPPM = 12.5
        counters.audioSource.peakDecibels = -3.25
        counters.audioSource.meanDecibels = -18
        counters.audioSource.gain = MicrophoneGain(hardware: 12, digital: -0.5)
        var (loud, silent) = (AudioSourceStatistics(), AudioSourceStatistics())
        (loud.capturedSamples, loud.driftPPM, loud.peakDecibels, loud.meanDecibels) = (44_100, 2.5, -6, -9)
        silent.silentSamples = 512
        loud.gain = MicrophoneGain(hardware: 18.5, digital: 1.5)
        silent.gain = MicrophoneGain(digital: -60)
        counters.audioSource.sources = [loud, silent]
        var preview = PreviewStatistics()
        (preview.shownFrames, preview.lostFrames, preview.convertedFrames) = (88, 4, 2)
        counters.preview = preview
        return counters
    }

    static var status: StreamStatus {
        var snapshot = snapshot(encoded, sent, point)
        snapshot.camera = "front"
        (snapshot.start, snapshot.time) = (.zero, MediaTimestamp(milliseconds: 75_000))
        snapshot.encoder = EncoderIdentity(name: "v4l2:/dev/video11", isHardware: true)
        snapshot.linkEstimate = carried
        snapshot.reason = .probing
        return StreamStatus(snapshot, rates: rates)
    }

    private static var audioStatus: StreamStatus {
        StreamStatus(snapshot(EncodedCounters(), SentCounters(), audioPoint), rates: rates)
    }

    static let rates = StreamRates(
        videoFramesPerSecond: 29.5, audioPacketsPerSecond: 43, total: Bitrate(bitsPerSecond: 512_400))

    private static func snapshot(
        _ encoded: EncodedCounters, _ sent: SentCounters, _ point: OperatingPoint
    ) -> StreamSnapshot {
        var snapshot = StreamSnapshot(
            time: .zero, target: "server/live/***", state: .live, encoded: encoded, sent: sent,
            configuration: configuration, point: point)
        snapshot.buffered = .milliseconds(250)
        return snapshot
    }
}
