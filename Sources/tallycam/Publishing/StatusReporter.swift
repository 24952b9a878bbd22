import ApplianceLogic
import Glibc
import LinuxIO
import Media

/// Turns the counters into rates, for status reports and for a live view four times a second.
struct StatusReporter {
    private static let viewInterval = Duration.milliseconds(250)
    /// What the view's rates are averaged over.
    private static let viewWindow = Duration.seconds(2)

    private struct Sample {
        let time: MediaTimestamp
        let counters: PublishCounters
    }

    private let target: String
    private let quality: String
    private let size: PictureSize?
    private let framesPerSecond: Int
    private let targetBitrate: Bitrate
    private var lastStatus: Sample
    private var recent: [Sample]
    private(set) var nextViewTime: MediaTimestamp

    init(options: PublishOptions, now: MediaTimestamp) {
        target = options.destination.label
        let hasVideo = options.media.video != .none
        quality = hasVideo ? options.media.quality.name : "audio \(options.media.audioQuality.name)"
        size = hasVideo ? options.media.dimension.size : nil
        framesPerSecond = hasVideo ? options.media.quality.frameRate.framesPerSecond : 0
        let video = hasVideo ? options.media.quality.bitrate.bitsPerSecond : 0
        let audio = options.media.audio == .none ? 0 : options.media.audioQuality.bitrate.bitsPerSecond
        targetBitrate = Bitrate(bitsPerSecond: video + audio)
        lastStatus = Sample(time: now, counters: PublishCounters())
        recent = [lastStatus]
        nextViewTime = now
    }

    /// What went out since the report before.
    mutating func status(
        _ counters: PublishCounters, buffered: Duration, state: StreamState, encoder: String?, now: MediaTimestamp
    ) -> Event {
        let current = Sample(time: now, counters: counters)
        let rates = Rates(from: lastStatus, to: current)
        lastStatus = current
        return Event(
            nil, code: EventCode.status.rawValue,
            text: "\(fixed(rates.videoFramesPerSecond, decimals: 1)) fps, "
                + "\(fixed(rates.total.kilobitsPerSecond, decimals: 0)) kbit/s, "
                + "\(fixed(buffered.inSeconds, decimals: 2)) s buffered, \(counters.sentFrames) pictures sent, "
                + "\(counters.skippedFrames) skipped, \(counters.droppedFrames) dropped",
            fields: [
                ("state", .text(state.rawValue)), ("quality", .text(quality)), ("encoder", .text(encoder ?? "none")),
                ("videoFramesPerSecond", .number(rates.videoFramesPerSecond)),
                ("audioFramesPerSecond", .number(rates.audioUnitsPerSecond)),
                ("bitsPerSecond", .integer(rates.total.bitsPerSecond)),
                ("bufferedSeconds", .number(buffered.inSeconds)),
                ("videoFrames", .integer(counters.sentFrames)), ("videoSkipped", .integer(counters.skippedFrames)),
                ("videoDropped", .integer(counters.droppedFrames)),
            ] + counters.sourceFields)
    }

    /// The view's lines, when it is time to draw it again.
    mutating func dueView(
        _ counters: PublishCounters, buffered: Duration, state: StreamState, since begin: MediaTimestamp?,
        now: MediaTimestamp
    ) -> [String]? {
        guard now >= nextViewTime else { return nil }
        nextViewTime = now + Self.viewInterval
        let current = Sample(time: now, counters: counters)
        recent.append(current)
        recent.removeAll { now - $0.time > Self.viewWindow }
        let rates = Rates(from: recent.first ?? current, to: current)
        let snapshot = LiveView.Snapshot(
            state: state == .connected ? "live" : state.rawValue, target: target,
            elapsed: begin.map { now - $0 } ?? .zero, quality: quality, size: size,
            framesPerSecond: rates.videoFramesPerSecond, targetFramesPerSecond: framesPerSecond, bitrate: rates.total,
            targetBitrate: targetBitrate, buffered: buffered, bufferLimit: .seconds(3),
            videoFrames: counters.sentFrames, skippedFrames: counters.skippedFrames,
            droppedFrames: counters.droppedFrames)
        return LiveView.lines(snapshot, columns: TerminalSize(of: STDERR_FILENO)?.columns ?? 80)
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
