import DequeModule
import Media

/// What the link does, read off the bytes that came through and the delay that piled up.
///
/// Only a link that is full shows what it carries, so the capacity is taken while media piles up, and only since
/// it started to: what came through before was what was sent, not what could be.
struct LinkEstimator: Sendable {
    private struct Sample {
        let time: MediaTimestamp
        let appended: Int
        let delivered: Int
        let delay: Duration
    }

    private var samples: Deque<Sample> = []
    /// Delay that is there on an idle link: the way to the receiver and back, and the wait for the next turn on a
    /// network that gives the channel in turns.
    private var baseDelay = Duration.zero
    /// Times in which nothing came through, with their ends, longer than a measurement's own interval.
    private var gaps: Deque<(end: MediaTimestamp, length: Duration)> = []
    private var gapAllowance = Duration.zero
    private var firstDelivered: Int?
    /// Since when the link has been full.
    private(set) var busySince: MediaTimestamp?
    /// When bytes came through last, or none waited.
    private var lastProgress: MediaTimestamp?
    /// What a full link was last seen to carry, all media together.
    private(set) var capacity: Bitrate?
    /// What a buffer on the way takes ahead of the link.
    private(set) var ahead = BytesAhead()

    /// A GOP: a keyframe alone proves nothing.
    private let gopDuration: Duration

    private static let memory = Duration.seconds(10)
    /// A long way is possible (a satellite), but so is a queue that never empties; it must not pass for the way.
    private static let longestWay = Duration.milliseconds(800)
    private static let longestTurn = Duration.milliseconds(400)
    private static let measurementInterval = Duration.milliseconds(100)
    private static let busyDelay = Duration.milliseconds(150)
    private static let idleDelay = Duration.milliseconds(100)
    private static let exceeding = 1.1
    private static let latestTime = Duration.milliseconds(400)
    /// Shorter than this, a full link's rate is mostly chance.
    private static let shortestBusyTime = Duration.milliseconds(300)
    /// Behind a buffer that takes much at once and nothing for a while.
    private static let burstTime = Duration.milliseconds(2_500)
    private static let longGap = Duration.milliseconds(500)
    /// It is full for no longer; what takes longer is an outage.
    private static let longestFullTime = Duration.seconds(3)
    /// The part of a known link's rate that its estimate behind such a buffer is not below.
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
        // Before the first answer came back the delay says nothing about the way.
        if let firstDelivered, measurement.deliveredBytes > firstDelivered {
            let answered = samples.filter { $0.delivered > firstDelivered }
            baseDelay = answered.reduce(Self.longestWay) { min($0, $1.delay) } + gapAllowance
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
            // It delivers more and is not full: it is not the link that was estimated.
            capacityRefuted()
        }
    }

    /// Keeps an eye on when bytes come through. A gap that came twice is how the network works, not a loss of it.
    private mutating func noteProgress(_ measurement: StreamMeasurement) {
        let now = measurement.now
        firstDelivered = firstDelivered ?? measurement.deliveredBytes
        let hasProgress = samples.last.map { measurement.deliveredBytes > $0.delivered } ?? true
        if hasProgress, let lastProgress, now - lastProgress > Self.measurementInterval {
            gaps.append((now, now - lastProgress - Self.measurementInterval))
        }
        if hasProgress || measurement.undeliveredBytes == 0 { lastProgress = now }
        while let first = gaps.first, now - first.end > Self.memory { gaps.removeFirst() }
        let secondLongest = gaps.map(\.length).sorted(by: >).dropFirst().first ?? .zero
        gapAllowance = min(secondLongest, Self.longestTurn)
    }

    /// Takes a first guess for the capacity, for want of a better one.
    mutating func guessed(_ rate: Bitrate) { capacity = capacity ?? rate }

    /// More came through than a link of this capacity lets through.
    mutating func capacityRefuted() {
        capacity = nil
        if ahead.isKnown, let delivered = deliveredRate(over: gopDuration) { ahead.linkRose(to: delivered) }
    }

    /// There is too much for the link, for the first time since it was not.
    mutating func wasFull() {
        ahead.linkWasFull(isBursty: gaps.contains { $0.length >= Self.longGap })
    }

    /// Forgets everything: a new connection may go another way.
    mutating func reset() { self = LinkEstimator(gopDuration: gopDuration) }

    /// Something comes through again. A buffer that was full for a moment is still there.
    mutating func resumed() {
        let wasShort = (gaps.last?.length ?? .zero) < Self.longestFullTime
        let known = ahead
        reset()
        if wasShort { ahead = known }
    }

    /// How late media arrives on an idle link.
    var wayDelay: Duration { firstDelivered == nil ? .zero : baseDelay }

    /// How much later than on an idle link media arrives.
    var excessDelay: Duration { (samples.last?.delay ?? .zero) - baseDelay }

    /// The least excess delay in the last while; `nil` when it was not measured that long.
    func leastExcessDelay(over window: Duration) -> Duration? {
        guard let first = samples.first, let last = samples.last, last.time - first.time >= window else { return nil }
        return recent(window).map(\.delay).min().map { $0 - baseDelay }
    }

    /// The most excess delay in the last while.
    func mostExcessDelay(over window: Duration) -> Duration { (recent(window).map(\.delay).max() ?? .zero) - baseDelay }

    /// How long nothing has come through although something waits.
    func stalledTime(now: MediaTimestamp) -> Duration { lastProgress.map { now - $0 } ?? .zero }

    /// Time enough that one turn of the network makes little difference.
    func stretched(_ time: Duration) -> Duration { time + gapAllowance * 2 }

    /// What comes through while the link is full, over the last second at most, or some turns.
    var busyRate: Bitrate? {
        guard let busySince, let last = samples.last, last.time - busySince >= stretched(Self.shortestBusyTime) else {
            return nil
        }
        if let rate = rateBehindBuffer { return rate }
        return rate(over: min(stretched(stretched(.seconds(1))), last.time - busySince), \.delivered)
    }

    /// What comes through a buffer that takes much at once: a short time shows nothing, and the rate is near to what it was.
    private var rateBehindBuffer: Bitrate? {
        guard ahead.isKnown, let full = ahead.rate, let rate = rate(over: Self.burstTime, \.delivered) else {
            return nil
        }
        return min(full, max(rate, full * Self.leastShareAhead))
    }

    /// What comes through a full link just now: where it has become worse, the last second is still half the better link's.
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

    /// The most that came through in any tenth of a second, or turns' time, of the last while: no proof of what the
    /// link carries, but a hint that it is more than the last estimate.
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
