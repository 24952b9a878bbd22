import Media

/// What something on the way acknowledges ahead of the link: a proxy, a tunnel, a TLS terminator with a buffer of its own.
///
/// Such a buffer takes more than the link carries for a while, and then nothing for a while, as if the link had become better
/// and then failed. From one moment when it is full to the next (a cycle), what came through is what the link carries, however
/// large the buffer is. Three cycles of one rate tell that the buffer is there, if more than that rate came through without
/// delay in the last two.
struct BytesAhead: Sendable {
    /// Bytes that were taken ahead of the link, up to the moment when it was too much; 0 while that is not known.
    private(set) var reserve = 0.0
    /// Bytes that came through without delay beyond what the link carries, since they were fewest.
    private(set) var count = 0.0
    /// What the link carries.
    private(set) var rate: Bitrate?
    /// Bytes that seemed to prove that the link has become better, until it is known whether it has.
    private var risen: Double?
    /// Cycles in a row that had the rate of the one before and took more than it.
    private var sameCycles = 0
    /// The rate of the last cycle.
    private var lastCycle: Bitrate?
    private var full: (time: MediaTimestamp, delivered: Int)?
    private var last: (time: MediaTimestamp, delivered: Int)?

    /// Less is what the link's own queue takes, as time at its rate.
    private static let leastReserve = Duration.milliseconds(500)
    /// The first holds until more were taken; more than the second would take too long to distinguish from a better link.
    private static let reserves = 65_536.0...524_288
    /// Rates of one link from one full moment to the next are within this of each other.
    private static let sameRates = 0.8...1.25
    /// Beyond this, it has become another link.
    private static let similarRates = 0.6...1.6
    /// Shorter times between two full moments are mostly chance.
    private static let shortestCycle = Duration.seconds(3)
    /// One may be chance on a link that changes.
    private static let enoughCycles = 2
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
        guard rate != nil else { return }
        // More twice, and never too much: it is no such buffer, or a larger one.
        if risen != nil { reserve = 0 }
        risen = (risen ?? 0) + count
        (rate, count) = (new, 0)
    }

    /// There is too much for the link.
    /// - Parameter isBursty: nothing came through for half a second and more, and then something did.
    mutating func linkWasFull(isBursty: Bool) {
        guard let last else { return }
        let cycle = full.flatMap { full -> Bitrate? in
            let time = last.time - full.time
            guard time >= Self.shortestCycle else { return nil }
            return Bitrate(bitsPerSecond: Int(Double(last.delivered - full.delivered) * 8 / time.inSeconds))
        }
        // Too soon to say anything: the cycle goes on.
        guard full == nil || cycle != nil else { return }
        if let cycle, let lastCycle { compare(cycle, lastCycle, isBursty: isBursty) }
        (full, risen, count, lastCycle) = (last, nil, 0, cycle)
    }

    private mutating func compare(_ cycle: Bitrate, _ lastCycle: Bitrate, isBursty: Bool) {
        guard Self.isSame(cycle, lastCycle) else {
            sameCycles = 0
            if !Self.isSame(cycle, lastCycle, Self.similarRates) { reserve = 0 }
            return
        }
        let taken = (risen ?? 0) + count
        let least = Double(cycle.bitsPerSecond) / 8 * Self.leastReserve.inSeconds
        if isBursty || taken >= least { sameCycles += 1 }
        if isKnown || sameCycles >= Self.enoughCycles {
            rate = cycle
            reserve = min(max(reserve, taken, Self.reserves.lowerBound), Self.reserves.upperBound)
        }
    }

    private static func isSame(_ one: Bitrate, _ other: Bitrate, _ range: ClosedRange<Double> = sameRates) -> Bool {
        range.contains(Double(other.bitsPerSecond) / Double(max(1, one.bitsPerSecond)))
    }
}
