import DequeModule
import Media

/// Estimates the link from the bytes delivered and the delay that builds up.
///
/// Only a full link shows its capacity. It is therefore measured only while media queues up, and from the start of that
/// queue: before, the delivered rate was limited by the rate sent.
struct LinkEstimator: Sendable {
    private struct Sample {
        let time: MediaTimestamp
        let appended: Int
        let delivered: Int
        let delay: Duration
    }

    private var samples: Deque<Sample> = []
    /// Delay on an idle link: the round trip to the receiver, plus the wait for a turn on networks that assign the
    /// channel in turns.
    private var baseDelay = Duration.zero
    /// Periods without delivery that were longer than the measurement interval, with their ends.
    private var gaps: Deque<(end: MediaTimestamp, length: Duration)> = []
    private var gapAllowance = Duration.zero
    private var firstDelivered: Int?
    /// Since when the link has been full.
    private(set) var busySince: MediaTimestamp?
    /// When bytes were last delivered, or none were waiting.
    private var lastProgress: MediaTimestamp?
    /// The last measured rate of the full link, all media together.
    private(set) var capacity: Bitrate?
    /// The intermediate buffer that acknowledges data ahead of the link.
    private(set) var ahead = BytesAhead()

    /// One GOP: a single keyframe proves nothing.
    private let gopDuration: Duration

    private static let memory = Duration.seconds(10)
    /// Long delays are possible (a satellite), but so is a queue that never empties, which must not count as the
    /// route's delay.
    private static let longestWay = Duration.milliseconds(800)
    private static let longestTurn = Duration.milliseconds(400)
    private static let measurementInterval = Duration.milliseconds(100)
    private static let busyDelay = Duration.milliseconds(150)
    private static let idleDelay = Duration.milliseconds(100)
    private static let exceeding = 1.1
    private static let latestTime = Duration.milliseconds(400)
    /// Over a shorter time, a full link's rate is mostly random.
    private static let shortestBusyTime = Duration.milliseconds(300)
    /// Behind a buffer that accepts much at once and then nothing for a while.
    private static let burstTime = Duration.milliseconds(2_500)
    private static let longGap = Duration.milliseconds(500)
    /// The buffer is not full for longer than this; a longer gap is an outage.
    private static let longestFullTime = Duration.seconds(3)
    /// The least share of a known link's rate for its estimate behind such a buffer.
    private static let leastShareAhead = 0.8

    init(gopDuration: Duration) { self.gopDuration = gopDuration }

    mutating func measured(_ measurement: StreamMeasurement) {
        let now = measurement.now
        noteProgress(measurement)
        samples.append(
            Sample(
                time: now, appended: measurement.appendedBytes, delivered: measurement.deliveredBytes,
                delay: measurement.deliveryDelay))
        while let first = samples.first, now - first.time > Self.memory { samples.removeFirst() }
        // Before the first acknowledgment, the delay says nothing about the route.
        if let firstDelivered, measurement.deliveredBytes > firstDelivered {
            var least = Self.longestWay
            for sample in samples where sample.delivered > firstDelivered && sample.delay < least {
                least = sample.delay
            }
            baseDelay = least + gapAllowance
        } else {
            baseDelay = min(measurement.deliveryDelay, Self.longestWay)
        }
        if busySince == nil, excessDelay > Self.busyDelay { busySince = now }
        if excessDelay < Self.idleDelay { busySince = nil }
        ahead.measured(delivered: measurement.deliveredBytes, isDelayed: busySince != nil, now: now)
        if let rate = busyRate {
            capacity = rate
            ahead.linkCarries(rate)
        }
        if busySince == nil, let capacity = capacity ?? (ahead.isKnown ? ahead.rate : nil),
            let delivered = deliveredRate(over: gopDuration),
            delivered > capacity * (Self.exceeding + gapAllowance.inSeconds), ahead.provesBetterLink
        {
            // It delivers more without being full, so it is not the link that was estimated.
            capacityRefuted()
        }
    }

    /// Records when bytes are delivered. A gap that occurs twice is the network's normal behavior and not a loss.
    private mutating func noteProgress(_ measurement: StreamMeasurement) {
        let now = measurement.now
        firstDelivered = firstDelivered ?? measurement.deliveredBytes
        let hasProgress = samples.last.map { measurement.deliveredBytes > $0.delivered } ?? true
        if hasProgress, let lastProgress, now - lastProgress > Self.measurementInterval {
            gaps.append((now, now - lastProgress - Self.measurementInterval))
        }
        if hasProgress || measurement.undeliveredBytes == 0 { lastProgress = now }
        while let first = gaps.first, now - first.end > Self.memory { gaps.removeFirst() }
        gapAllowance = min(secondLongestGap, Self.longestTurn)
    }

    /// `.zero` with fewer than two gaps. In one pass: there may be a hundred of them, ten times a second.
    private var secondLongestGap: Duration {
        var (longest, second) = (Duration.zero, Duration.zero)
        for gap in gaps where gap.length > second {
            if gap.length > longest { second = longest } else { second = gap.length }
            longest = max(longest, gap.length)
        }
        return second
    }

    /// Sets a first guess of the capacity if there is no better value.
    mutating func guessed(_ rate: Bitrate) { capacity = capacity ?? rate }

    /// More was delivered than a link of this capacity allows.
    mutating func capacityRefuted() {
        capacity = nil
        if ahead.isKnown, let delivered = deliveredRate(over: gopDuration) { ahead.linkRose(to: delivered) }
    }

    /// The link is overloaded, for the first time since it was not.
    mutating func wasFull() {
        ahead.linkWasFull(isBursty: gaps.contains { $0.length >= Self.longGap })
    }

    /// Resets everything: a new connection may take another route.
    mutating func reset() { self = LinkEstimator(gopDuration: gopDuration) }

    /// Delivery has resumed. After a short gap, the intermediate buffer is still there.
    mutating func resumed() {
        let wasShort = (gaps.last?.length ?? .zero) < Self.longestFullTime
        let known = ahead
        reset()
        if wasShort { ahead = known }
    }

    /// Delay of media on an idle link.
    var wayDelay: Duration { firstDelivered == nil ? .zero : baseDelay }

    /// Delay of media beyond that of an idle link.
    var excessDelay: Duration { (samples.last?.delay ?? .zero) - baseDelay }

    /// The least excess delay within the window; `nil` if measurements do not cover it.
    func leastExcessDelay(over window: Duration) -> Duration? {
        guard let first = samples.first, let last = samples.last, last.time - first.time >= window else { return nil }
        return recent(window).map(\.delay).min().map { $0 - baseDelay }
    }

    /// The largest excess delay within the window.
    func mostExcessDelay(over window: Duration) -> Duration { (recent(window).map(\.delay).max() ?? .zero) - baseDelay }

    /// How long nothing has been delivered although data is waiting.
    func stalledTime(now: MediaTimestamp) -> Duration { lastProgress.map { now - $0 } ?? .zero }

    /// Extends a time so that one turn of the network makes little difference.
    func stretched(_ time: Duration) -> Duration { time + gapAllowance + gapAllowance }

    /// The delivered rate of the full link, over the last second at most, or several turns.
    var busyRate: Bitrate? {
        guard let busySince, let last = samples.last, last.time - busySince >= stretched(Self.shortestBusyTime) else {
            return nil
        }
        if let rate = rateBehindBuffer { return rate }
        return rate(over: min(stretched(stretched(.seconds(1))), last.time - busySince), \.delivered)
    }

    /// The rate behind a buffer that accepts much at once. Short windows are meaningless there, so the result stays
    /// near the known rate.
    private var rateBehindBuffer: Bitrate? {
        guard ahead.isKnown, let full = ahead.rate, let rate = rate(over: Self.burstTime, \.delivered) else {
            return nil
        }
        return min(full, max(rate, full * Self.leastShareAhead))
    }

    /// The present rate of the full link. When a link gets worse, half of the last second still shows the better rate.
    var latestBusyRate: Bitrate? {
        guard let busyRate else { return rateBehindBuffer }
        if ahead.isKnown { return busyRate }
        return deliveredRate(over: Self.latestTime).map { min($0, busyRate) } ?? busyRate
    }

    func deliveredRate(over window: Duration) -> Bitrate? { rate(over: stretched(window), \.delivered) }
    func appendedRate(over window: Duration) -> Bitrate? { rate(over: stretched(window), \.appended) }

    private func rate(over window: Duration, _ count: KeyPath<Sample, Int> & Sendable) -> Bitrate? {
        guard let last = samples.last, let first = samples.last(where: { last.time - $0.time >= window }) else {
            return nil
        }
        return Self.rate(bytes: last[keyPath: count] - first[keyPath: count], in: last.time - first.time)
    }

    /// The highest delivered rate within any tenth of a second, or turn, of the window. It does not prove the link's
    /// rate, but suggests that it exceeds the last estimate.
    func burstRate(over window: Duration) -> Bitrate {
        let recent = recent(window)
        var best = Bitrate(bitsPerSecond: 0)
        var first = recent.startIndex
        for index in recent.indices {
            while recent[index].time - recent[first].time > stretched(.milliseconds(150)) { first += 1 }
            let time = recent[index].time - recent[first].time
            guard time >= stretched(.milliseconds(80)) else { continue }
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
