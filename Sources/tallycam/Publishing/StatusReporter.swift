import Glibc
import LinuxIO
import Media
import StreamLogic
import StreamQuality

/// Turns the counters into rates, for status reports and for a live view four times a second.
struct StatusReporter {
    private static let viewInterval = Duration.milliseconds(250)
    /// What the view's rates are averaged over.
    private static let viewWindow = Duration.seconds(2)

    private struct Sample {
        let time: MediaTimestamp
        let counters: PublishCounters
    }

    /// What is reported at one moment.
    struct Snapshot {
        var counters: PublishCounters
        var buffered: Duration
        var state: StreamState
        /// Connected, and nothing comes through.
        var isStalled = false
        var encoder: String?
        var point: OperatingPoint
        /// What the link was last seen to carry.
        var linkEstimate: Bitrate?
        /// Of the last change.
        var reason: QualityChangeReason?
    }

    private let target: String
    private var size: PictureSize?
    private let bufferLimits: SendBufferLimits
    /// What the bars of rates end at.
    private var largestBitrate: Bitrate
    private var lastStatus: Sample
    private var recent: [Sample]
    private(set) var nextViewTime: MediaTimestamp

    init(options: PublishOptions, now: MediaTimestamp) {
        target = options.destination.label
        bufferLimits = options.quality.bufferLimits
        size = nil
        largestBitrate = Bitrate(bitsPerSecond: 0)
        lastStatus = Sample(time: now, counters: PublishCounters())
        recent = [lastStatus]
        nextViewTime = now
        configured(LiveConfiguration(settings: options.quality, dimension: options.media.dimension))
    }

    /// The stream is so from now on.
    mutating func configured(_ configuration: LiveConfiguration) {
        let settings = configuration.settings
        size = settings.videoQuality == nil ? nil : configuration.dimension.size
        let video = settings.videoQuality == nil ? 0 : settings.bitrateRange.maximum.bitsPerSecond
        largestBitrate = Bitrate(bitsPerSecond: video + (settings.audioQuality?.bitrate.bitsPerSecond ?? 0))
    }

    /// What the view shows is no longer so.
    mutating func viewExpired(now: MediaTimestamp) { nextViewTime = now }

    /// What went out since the report before.
    mutating func status(_ snapshot: Snapshot, now: MediaTimestamp) -> Event {
        let counters = snapshot.counters
        let current = Sample(time: now, counters: counters)
        let rates = Rates(from: lastStatus, to: current)
        lastStatus = current
        var fields: [(name: String, value: Event.Value)] = [
            ("state", .text(snapshot.state.rawValue)), ("encoder", .text(snapshot.encoder ?? "none")),
            ("videoFramesPerSecond", .number(rates.videoFramesPerSecond)),
            ("audioFramesPerSecond", .number(rates.audioUnitsPerSecond)),
            ("bitsPerSecond", .integer(rates.total.bitsPerSecond)),
            ("bufferedSeconds", .number(snapshot.buffered.inSeconds)),
            ("videoFrames", .integer(counters.sentFrames)), ("videoSkipped", .integer(counters.skippedFrames)),
            ("videoDropped", .integer(counters.droppedFrames)),
            ("videoDecimated", .integer(counters.decimatedFrames)),
        ]
        fields += snapshot.point.fields
        fields += counters.sourceFields
        if let estimate = snapshot.linkEstimate {
            fields.append(("linkBitsPerSecond", .integer(estimate.bitsPerSecond)))
        }
        if let reason = snapshot.reason { fields.append(("reason", .text(reason.name))) }
        return Event(
            nil, code: EventCode.status.rawValue,
            text: "\(fixed(rates.videoFramesPerSecond, decimals: 1)) fps, "
                + "\(fixed(rates.total.kilobitsPerSecond, decimals: 0)) of "
                + "\(fixed(snapshot.point.mediaBitrate.kilobitsPerSecond, decimals: 0)) kbit/s (\(snapshot.point.qualityName)), "
                + "\(fixed(snapshot.buffered.inSeconds, decimals: 2)) s buffered, \(counters.sentFrames) pictures sent, "
                + "\(counters.skippedFrames) skipped, \(counters.droppedFrames) dropped, "
                + "\(counters.decimatedFrames) decimated",
            fields: fields)
    }

    /// The view's lines. To be shown four times a second.
    mutating func view(_ snapshot: Snapshot, since begin: MediaTimestamp?, now: MediaTimestamp) -> [String] {
        nextViewTime = now + Self.viewInterval
        let counters = snapshot.counters
        let current = Sample(time: now, counters: counters)
        recent.append(current)
        recent.removeAll { now - $0.time > Self.viewWindow }
        let rates = Rates(from: recent.first ?? current, to: current)
        let view = LiveView.Snapshot(
            state: snapshot.state != .connected
                ? snapshot.state.rawValue : snapshot.isStalled ? "stalled" : "live",
            target: target,
            elapsed: begin.map { now - $0 } ?? .zero, quality: snapshot.point.qualityName, size: size,
            framesPerSecond: rates.videoFramesPerSecond,
            targetFramesPerSecond: size == nil ? 0 : snapshot.point.frameRate.framesPerSecond, bitrate: rates.total,
            targetBitrate: snapshot.point.mediaBitrate, largestBitrate: largestBitrate,
            linkEstimate: snapshot.linkEstimate, reason: snapshot.reason?.rawValue, buffered: snapshot.buffered,
            bufferLimits: bufferLimits, videoFrames: counters.sentFrames, skippedFrames: counters.skippedFrames,
            droppedFrames: counters.droppedFrames, decimatedFrames: counters.decimatedFrames,
            sources: SourceSummary(counters.sourceFields))
        return LiveView.lines(view, columns: TerminalSize(of: STDERR_FILENO)?.columns ?? 80)
    }

    private struct Rates {
        var videoFramesPerSecond = 0.0
        var audioUnitsPerSecond = 0.0
        var total = Bitrate(bitsPerSecond: 0)

        init(from first: Sample, to last: Sample) {
            let seconds = (last.time - first.time).inSeconds
            guard seconds > 0.05 else { return }
            videoFramesPerSecond = Double(last.counters.sentFrames - first.counters.sentFrames) / seconds
            audioUnitsPerSecond = Double(last.counters.sentAudioUnits - first.counters.sentAudioUnits) / seconds
            total = Bitrate(
                bitsPerSecond: Int(Double(last.counters.sentBytes - first.counters.sentBytes) * 8 / seconds))
        }
    }
}
