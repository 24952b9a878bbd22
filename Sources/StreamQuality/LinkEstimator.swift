import DequeModule
import Media

/// What the link does, read off the bytes that came through and the delay that piled up.
///
/// Only a link that is full shows what it carries, so the capacity is taken while media piles up, and only since
/// it began to: what came through before was what was sent, not what could be.
struct LinkEstimator: Sendable {
    private struct Sample {
        let time: MediaTimestamp
        let appended: Int
        let delivered: Int
        let delay: Duration
    }

    private var samples: Deque<Sample> = []
    /// Delay that is there on an idle link: the way to the receiver and back, and the last picture.
    private var baseDelay = Duration.zero
    /// Since when the link has been full.
    private(set) var busySince: MediaTimestamp?
    /// When bytes came through last, or none waited.
    private var lastProgress: MediaTimestamp?
    /// What a full link was last seen to carry, all media together.
    private(set) var capacity: Bitrate?

    private static let memory = Duration.seconds(10)
    /// A longer way is possible (a satellite), but so is a queue that never empties; it must not pass for the way.
    private static let longestBaseDelay = Duration.milliseconds(400)
    private static let busyDelay = Duration.milliseconds(150)
    private static let idleDelay = Duration.milliseconds(100)
    /// Shorter than this, a full link's rate is mostly chance.
    private static let shortestBusyTime = Duration.milliseconds(300)
    private static let rateWindow = Duration.seconds(1)

    mutating func measured(_ measurement: StreamMeasurement) {
        let now = measurement.now
        if samples.last.map({ measurement.deliveredBytes > $0.delivered }) ?? true || measurement.undeliveredBytes == 0
        {
            lastProgress = now
        }
        samples.append(
            Sample(
                time: now, appended: measurement.appendedBytes, delivered: measurement.deliveredBytes,
                delay: measurement.deliveryDelay))
        while let first = samples.first, now - first.time > Self.memory { samples.removeFirst() }
        baseDelay = min(samples.reduce(Self.longestBaseDelay) { min($0, $1.delay) }, Self.longestBaseDelay)
        if busySince == nil, excessDelay > Self.busyDelay { busySince = now }
        if excessDelay < Self.idleDelay { busySince = nil }
        if let rate = busyRate { capacity = rate }
    }

    /// Forgets everything: a new connection may go another way.
    mutating func reset() { self = LinkEstimator() }

    /// A full link's rate held for what it was; the link has since shown that it carries more.
    mutating func capacityExceeded() { capacity = nil }

    /// How much later than on an idle link media arrives.
    var excessDelay: Duration { (samples.last?.delay ?? .zero) - baseDelay }

    /// The least (or the most) excess delay in the last while; `nil` when it was not measured that long.
    func leastExcessDelay(over window: Duration) -> Duration? {
        recent(window).map(\.delay).min().map { $0 - baseDelay }
    }
    func mostExcessDelay(over window: Duration) -> Duration { (recent(window).map(\.delay).max() ?? .zero) - baseDelay }

    /// How long nothing has come through although something waits.
    func stalledTime(now: MediaTimestamp) -> Duration { lastProgress.map { now - $0 } ?? .zero }

    /// What comes through while the link is full, over the last second at most.
    var busyRate: Bitrate? {
        guard let busySince, let last = samples.last, last.time - busySince >= Self.shortestBusyTime else { return nil }
        return rate(over: min(Self.rateWindow, last.time - busySince), \.delivered)
    }

    func deliveredRate(over window: Duration) -> Bitrate? { rate(over: window, \.delivered) }
    func appendedRate(over window: Duration) -> Bitrate? { rate(over: window, \.appended) }

    private func rate(over window: Duration, _ count: KeyPath<Sample, Int> & Sendable) -> Bitrate? {
        guard let last = samples.last, let first = samples.last(where: { last.time - $0.time >= window }) else {
            return nil
        }
        return Self.rate(bytes: last[keyPath: count] - first[keyPath: count], in: last.time - first.time)
    }

    /// The most that came through in any fifth of a second of the last while: no proof of what the link carries,
    /// but a hint that it is more than the last estimate.
    func burstRate(over window: Duration) -> Bitrate {
        let recent = recent(window)
        var best = Bitrate(bitsPerSecond: 0)
        var first = recent.startIndex
        for index in recent.indices {
            while recent[index].time - recent[first].time > .milliseconds(250) { first += 1 }
            let time = recent[index].time - recent[first].time
            guard time >= .milliseconds(150) else { continue }
            best = max(best, Self.rate(bytes: recent[index].delivered - recent[first].delivered, in: time))
        }
        return best
    }

    private func recent(_ window: Duration) -> [Sample] {
        guard let last = samples.last else { return [] }
        return samples.filter { last.time - $0.time <= window }
    }

    private static func rate(bytes: Int, in time: Duration) -> Bitrate {
        Bitrate(bitsPerSecond: Int(Double(bytes) * 8 / max(time.inSeconds, 0.001)))
    }
}
