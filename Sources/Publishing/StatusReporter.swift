import Media
import StreamLogic

/// Turns the counters into rates, once in the status interval.
struct StatusReporter {
    private var last: (time: MediaTimestamp, counters: PublishCounters)

    init(now: MediaTimestamp) { last = (now, PublishCounters()) }

    /// What went out since the report before.
    mutating func status(_ snapshot: StreamSnapshot) -> Event {
        let counters = snapshot.counters
        let rates = StreamRates(from: last.counters, to: counters, in: snapshot.time - last.time)
        last = (snapshot.time, counters)
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
}
