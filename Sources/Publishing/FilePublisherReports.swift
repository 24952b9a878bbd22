import Bitstream
import Media
import StreamLogic

// What is told.
extension FilePublisher {
    func enter(_ next: StreamState) {
        guard next != state else { return }
        state = next
        reporter.emit(Event(.stateChanged(next), destination: options.destination.label))
    }

    func emitEnd(_ tally: MediaTally) {
        reporter.emit(
            Event(
                "ended",
                text: "ended: \(tally.video.count) pictures and "
                    + "\(fixed(tally.audioDuration.inSeconds, decimals: 1)) s of audio sent",
                [
                    "videoFrames": .integer(tally.video.count), "videoBytes": .integer(tally.video.byteCount),
                    "videoSkipped": .integer(0), "videoDropped": .integer(0), "videoDecimated": .integer(0),
                    "audioUnits": .integer(tally.audio.count), "audioBytes": .integer(tally.audio.byteCount),
                    "audioSeconds": .number(tally.audioDuration.inSeconds),
                ]))
    }
}

/// Turns what was sent of a file into rates, once in an interval.
struct FileStatus {
    private struct Sample {
        var time = MediaTimestamp.zero
        var pictures = 0
        var sounds = 0
        var byteCount = 0
    }

    private let interval: Duration
    private var last = Sample()
    /// `nil` before `begin`.
    private(set) var nextTime: MediaTimestamp?

    init(interval: Duration) { self.interval = interval }

    mutating func begin(now: MediaTimestamp) {
        last.time = now
        nextTime = now + interval
    }

    /// - Returns: what went out since the report before, when its time has come.
    mutating func due(_ tally: MediaTally, state: StreamState, now: MediaTimestamp) -> Event? {
        guard let time = nextTime, now >= time else { return nil }
        // After a pause of the whole program the missed reports are left out.
        nextTime = time + interval > now ? time + interval : now + interval
        let current = Sample(
            time: now, pictures: tally.video.count, sounds: tally.audio.count,
            byteCount: tally.video.byteCount + tally.audio.byteCount)
        defer { last = current }
        let seconds = max(0.001, (now - last.time).inSeconds)
        let pictureRate = Double(current.pictures - last.pictures) / seconds
        let soundRate = Double(current.sounds - last.sounds) / seconds
        let bitrate = Bitrate(bitsPerSecond: Int(Double(current.byteCount - last.byteCount) * 8 / seconds))
        return Event(
            nil, code: EventCode.status.rawValue,
            text: "\(fixed(pictureRate, decimals: 1)) fps, \(fixed(bitrate.kilobitsPerSecond, decimals: 0)) kbit/s, "
                + "\(current.pictures) pictures sent",
            fields: [
                ("state", .text(state.rawValue)), ("videoFramesPerSecond", .number(pictureRate)),
                ("audioFramesPerSecond", .number(soundRate)), ("bitsPerSecond", .integer(bitrate.bitsPerSecond)),
                ("videoFrames", .integer(current.pictures)), ("audioUnits", .integer(current.sounds)),
            ])
    }
}
