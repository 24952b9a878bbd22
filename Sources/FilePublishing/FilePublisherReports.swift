import Bitstream
import Media
import StreamLogic

// Reports.
extension FilePublisher {
    func enter(_ next: StreamState) {
        guard next != state else { return }
        state = next
        reporter.emit(.stateChanged(next))
    }
}

/// Computes the rates of sent media once per interval.
struct FileStatusReporter {
    private struct Sample {
        var time = MediaTimestamp.zero
        var frames = 0
        var audioPackets = 0
        var byteCount = 0
    }

    private let interval: Duration
    private var last = Sample()
    /// `nil` before `start`.
    private(set) var nextTime: MediaTimestamp?

    init(interval: Duration) { self.interval = interval }

    mutating func start(now: MediaTimestamp) {
        last.time = now
        nextTime = now + interval
    }

    /// - Returns: the media sent since the previous report, if a report is due.
    mutating func due(_ tally: MediaTally, state: StreamState, now: MediaTimestamp) -> FileStreamStatus? {
        guard let time = nextTime, now >= time else { return nil }
        // After a pause of the whole program, skip the missed reports.
        nextTime = time + interval > now ? time + interval : now + interval
        let current = Sample(
            time: now, frames: tally.video.count, audioPackets: tally.audio.count,
            byteCount: tally.video.byteCount + tally.audio.byteCount)
        defer { last = current }
        let seconds = max(0.001, (now - last.time).inSeconds)
        let rates = StreamRates(
            videoFramesPerSecond: Double(current.frames - last.frames) / seconds,
            audioPacketsPerSecond: Double(current.audioPackets - last.audioPackets) / seconds,
            total: Bitrate(bitsPerSecond: Int(Double(current.byteCount - last.byteCount) * 8 / seconds)))
        return FileStreamStatus(
            state: state, rates: rates, sentFrames: current.frames, sentAudioPackets: current.audioPackets)
    }
}
