import Media

/// What something on the way acknowledges ahead of the link: a proxy, a tunnel, a TLS terminator with a buffer of its own.
///
/// Such a buffer takes more than the link carries for a while, and then nothing for a while, as if the link had become better
/// and then failed. More that came through without delay than a link carries, and then too much at the rate that it had
/// before, tells that the buffer is there. From one moment when it was full to the next, what came through is what the link
/// carries.
struct BytesAhead: Sendable {
    /// Bytes that were taken ahead of the link, up to the moment when it was too much; 0 while that is not known.
    private(set) var reserve = 0.0
    /// Bytes that came through without delay beyond what the link carries, since they were fewest.
    private(set) var count = 0.0
    /// What was taken so the last time.
    private var candidate = 0.0
    /// What the link carries.
    private(set) var rate: Bitrate?
    /// What seemed to prove that the link has become better, until it is known whether it has.
    private var rise: (from: Bitrate, count: Double)?
    /// What came through from one full moment to the next, the last time.
    private var lastCycle: Bitrate?
    private var full: (time: MediaTimestamp, delivered: Int)?
    private var last: (time: MediaTimestamp, delivered: Int)?

    /// Less may be an error of the rate; more would take too long to distinguish from a better link.
    private static let reserves = 16_384.0...524_288
    /// Before it is known how many.
    private static let firstReserve = 65_536.0
    private static let sameReserves = 0.4...2.5
    /// Rates of one link from one full moment to the next are within this of each other.
    private static let sameRates = 0.8...1.25
    /// The last seconds' rates are not as near.
    private static let sameEstimates = 0.6...1.6
    /// Shorter times between two full moments are mostly chance.
    private static let shortestCycle = Duration.seconds(3)
    private static let proof = 1.5

    /// Whether there is such a buffer.
    var isKnown: Bool { reserve > 0 }

    /// Whether more has come through than the buffer takes: the link has become better.
    var provesBetterLink: Bool { !isKnown || count > reserve * Self.proof }

    /// Whether the buffer is on its way to be full, or the link has become better: it is not known yet.
    var isFilling: Bool { isKnown && count > reserve / 4 }

    /// - Parameter isDelayed: media piles up before it comes through.
    mutating func measured(delivered: Int, isDelayed: Bool, now: MediaTimestamp) {
        if let last, let rate {
            let carried = Double(rate.bitsPerSecond) / 8 * (now - last.time).inSeconds
            let excess = Double(delivered - last.delivered) - carried
            if excess < 0 || !isDelayed { count = max(0, count + excess) }
        }
        last = (now, delivered)
    }

    /// What a full link was seen to carry.
    mutating func linkCarries(_ rate: Bitrate) { if !isKnown { self.rate = rate } }

    /// Behind the buffer, the link carries so much at least.
    mutating func linkRose(to new: Bitrate) {
        guard let rate else { return }
        if let rise {
            // More twice, and never too much: it is no such buffer, or a larger one.
            candidate = max(candidate, rise.count + count)
            reserve = 0
        }
        rise = (rise?.from ?? rate, (rise?.count ?? 0) + count)
        (self.rate, count) = (new, 0)
    }

    /// There is too much for the link.
    /// - Parameters:
    ///   - estimate: what came through in the last seconds.
    ///   - isBursty: nothing came through for half a second and more, and then something did.
    mutating func linkWasFull(estimate: Bitrate, isBursty: Bool) {
        guard let last else { return }
        defer { (full, rise, count) = (last, nil, 0) }
        let cycle = full.flatMap { full -> Bitrate? in
            let time = last.time - full.time
            guard time >= Self.shortestCycle else { return nil }
            return Bitrate(bitsPerSecond: Int(Double(last.delivered - full.delivered) * 8 / time.inSeconds))
        }
        defer { lastCycle = cycle }
        let before = rise?.from ?? rate
        let taken = (rise?.count ?? 0) + count
        if let before, let cycle, Self.isSame(before, cycle) {
            learn(taken)
            if isKnown { rate = cycle }
        } else if isBursty, let cycle, let lastCycle, Self.isSame(cycle, lastCycle) {
            // A buffer that takes nothing for a second at a time shows no rate but this.
            (rate, reserve) = (cycle, max(reserve, Self.firstReserve))
        } else if cycle != nil || before.map({ !Self.isSame($0, estimate, Self.sameEstimates) }) ?? true {
            (reserve, candidate) = (0, 0)
        }
    }

    /// Once may be a link that was better for a while; twice as much is a buffer.
    private mutating func learn(_ taken: Double) {
        guard taken >= Self.reserves.lowerBound else { return }
        if isKnown || Self.sameReserves.contains(taken / max(1, candidate)) {
            reserve = min(max(reserve, taken), Self.reserves.upperBound)
        }
        candidate = taken
    }

    private static func isSame(_ one: Bitrate, _ other: Bitrate, _ range: ClosedRange<Double> = sameRates) -> Bool {
        range.contains(Double(other.bitsPerSecond) / Double(max(1, one.bitsPerSecond)))
    }
}
