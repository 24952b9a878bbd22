import Media
import LinuxIO
import Glibc

/// Turns the counters into a status every 3 s (facts of the stream's contract) and a live view four times a second.
struct StatusReporter {
    private static let statusInterval = Duration.seconds(3)
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
    private var current: Sample
    private var lastStatus: Sample
    private var recent: [Sample]
    private var nextStatus: MediaTimestamp
    private var nextView: MediaTimestamp
    private var buffered = Duration.zero

    init(options: PublishOptions, now: MediaTimestamp) {
        target = "\(options.url)"
        let hasVideo = options.video != .none
        quality = hasVideo ? options.quality.name : "audio \(options.audioQuality.name)"
        size = hasVideo ? options.dimension.size : nil
        framesPerSecond = hasVideo ? options.quality.frameRate.framesPerSecond : 0
        let video = hasVideo ? options.quality.bitrate.bitsPerSecond : 0
        let audio = options.audio == .none ? 0 : options.audioQuality.bitrate.bitsPerSecond
        targetBitrate = Bitrate(bitsPerSecond: video + audio)
        current = Sample(time: now, counters: PublishCounters())
        lastStatus = current
        recent = [current]
        nextStatus = now + Self.statusInterval
        nextView = now
    }

    func nextTime(withView: Bool) -> MediaTimestamp { withView ? min(nextStatus, nextView) : nextStatus }

    mutating func measure(_ counters: PublishCounters, buffered: Duration, now: MediaTimestamp) {
        current = Sample(time: now, counters: counters)
        self.buffered = buffered
    }

    mutating func dueStatus(now: MediaTimestamp, encoder: String?) -> Event? {
        guard now >= nextStatus else { return nil }
        while nextStatus <= now { nextStatus += Self.statusInterval }
        let rates = Rates(from: lastStatus, to: current)
        lastStatus = current
        let counters = current.counters
        return Event(
            "status",
            text: "\(fixed(rates.videoFramesPerSecond, decimals: 1)) fps, "
                + "\(fixed(rates.total.kilobitsPerSecond, decimals: 0)) kbit/s, "
                + "\(fixed(buffered.inSeconds, decimals: 2)) s buffered, \(counters.sentFrames) pictures sent, "
                + "\(counters.skippedFrames) skipped, \(counters.droppedFrames) dropped",
            [
                "state": .text("connected"), "quality": .text(quality), "encoder": .text(encoder ?? "none"),
                "videoFps": .number(rates.videoFramesPerSecond), "audioFps": .number(rates.audioUnitsPerSecond),
                "bitsPerSecond": .integer(rates.total.bitsPerSecond), "bufferedSeconds": .number(buffered.inSeconds),
                "videoFrames": .integer(counters.sentFrames), "videoSkipped": .integer(counters.skippedFrames),
                "videoDropped": .integer(counters.droppedFrames),
            ])
    }

    mutating func dueView(state: String, since begin: MediaTimestamp?, now: MediaTimestamp) -> [String]? {
        guard now >= nextView else { return nil }
        while nextView <= now { nextView += Self.viewInterval }
        recent.append(current)
        recent.removeAll { now - $0.time > Self.viewWindow }
        let rates = Rates(from: recent.first ?? current, to: current)
        let snapshot = LiveView.Snapshot(
            state: state, target: target, elapsed: begin.map { now - $0 } ?? .zero, quality: quality, size: size,
            framesPerSecond: rates.videoFramesPerSecond, targetFramesPerSecond: framesPerSecond, bitrate: rates.total,
            targetBitrate: targetBitrate, buffered: buffered, bufferLimit: .seconds(3),
            videoFrames: current.counters.sentFrames, skippedFrames: current.counters.skippedFrames,
            droppedFrames: current.counters.droppedFrames)
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
