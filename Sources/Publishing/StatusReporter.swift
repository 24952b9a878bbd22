import Media
import StreamLogic

/// Computes the rates of sent media once per status interval.
struct StatusReporter {
    /// Rates over a shorter time mean little.
    private static let shortestTime = Duration.milliseconds(500)

    private var last: (time: MediaTimestamp, sent: SentCounters)
    private var lastRates: StreamRates?

    init(now: MediaTimestamp) { last = (now, SentCounters()) }

    /// Rates are measured since the previous report.
    mutating func status(_ snapshot: StreamSnapshot) -> StreamStatus {
        let rates = StreamRates(from: last.sent, to: snapshot.sent, in: snapshot.time - last.time)
        last = (snapshot.time, snapshot.sent)
        lastRates = rates
        return StreamStatus(snapshot, rates: rates)
    }

    /// The same between two reports, without changing the next one.
    func statusNow(_ snapshot: StreamSnapshot) -> StreamStatus {
        let time = snapshot.time - last.time
        let rates = StreamRates(from: last.sent, to: snapshot.sent, in: time)
        return StreamStatus(snapshot, rates: time < Self.shortestTime ? lastRates ?? rates : rates)
    }
}
