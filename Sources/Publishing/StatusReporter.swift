import Media
import StreamLogic

/// Turns the counters into rates, once in the status interval.
struct StatusReporter {
    /// Rates of a shorter time say little.
    private static let shortestTime = Duration.milliseconds(500)

    private var last: (time: MediaTimestamp, counters: PublishCounters)
    private var lastRates: StreamRates?

    init(now: MediaTimestamp) { last = (now, PublishCounters()) }

    /// What went out since the report before.
    mutating func status(_ snapshot: StreamSnapshot) -> StreamStatus {
        let rates = StreamRates(from: last.counters, to: snapshot.counters, in: snapshot.time - last.time)
        last = (snapshot.time, snapshot.counters)
        lastRates = rates
        return StreamStatus(snapshot, rates: rates)
    }

    /// The same for somebody who asks between two reports; the next report is not changed by it.
    func statusNow(_ snapshot: StreamSnapshot) -> StreamStatus {
        let time = snapshot.time - last.time
        let rates = StreamRates(from: last.counters, to: snapshot.counters, in: time)
        return StreamStatus(snapshot, rates: time < Self.shortestTime ? lastRates ?? rates : rates)
    }
}
