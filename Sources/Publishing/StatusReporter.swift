import Media
import StreamLogic

/// Turns the counters into rates, once in the status interval.
struct StatusReporter {
    private var last: (time: MediaTimestamp, counters: PublishCounters)

    init(now: MediaTimestamp) { last = (now, PublishCounters()) }

    /// What went out since the report before.
    mutating func status(_ snapshot: StreamSnapshot) -> StreamStatus {
        let rates = StreamRates(from: last.counters, to: snapshot.counters, in: snapshot.time - last.time)
        last = (snapshot.time, snapshot.counters)
        return StreamStatus(snapshot, rates: rates)
    }
}
