import Media

/// Detects data that an intermediate buffer acknowledges ahead of the link: a proxy, a tunnel or a TLS terminator.
///
/// Such a buffer accepts more than the link carries for a while, then nothing for a while, as if the link had improved
/// and then failed. From one moment when the buffer is full to the next (a cycle), the data delivered shows the link's
/// rate, whatever the buffer's size. Three cycles with the same rate prove that the buffer exists, if the last two
/// delivered more than that rate without delay.
struct BytesAhead: Sendable {
    /// Bytes accepted ahead of the link before it was too much; 0 while unknown.
    private(set) var reserve = 0.0
    /// Bytes delivered without delay beyond the link's rate, since their minimum.
    private(set) var count = 0.0
    /// The link's rate.
    private(set) var rate: Bitrate?
    /// Bytes that seemed to prove a better link, until it is known whether they did.
    private var risen: Double?
    /// Consecutive cycles with the previous cycle's rate that accepted more than this rate.
    private var sameCycles = 0
    /// The rate of the last cycle.
    private var lastCycle: Bitrate?
    private var full: (time: MediaTimestamp, delivered: Int)?
    private var last: (time: MediaTimestamp, delivered: Int)?

    /// The link's own queue takes up to this much, as time at the link's rate.
    private static let leastReserve = Duration.milliseconds(500)
    /// The lower bound applies until more was accepted. Telling more than the upper bound from a better link would take
    /// too long.
    private static let reserves = 65_536.0...524_288
    /// The rates of one link's cycles differ by no more than this.
    private static let sameRates = 0.8...1.25
    /// Beyond this, it is another link.
    private static let similarRates = 0.6...1.6
    /// Shorter times between two full moments are mostly random.
    private static let shortestCycle = Duration.seconds(3)
    /// A single cycle may be a coincidence on a changing link.
    private static let enoughCycles = 2
    private static let proof = 1.5

    /// Whether there is such a buffer.
    var isKnown: Bool { reserve > 0 }

    /// Whether more was delivered than the buffer can hold, so that the link must be better.
    var provesBetterLink: Bool { !isKnown || count > reserve * Self.proof }

    /// Whether the buffer is filling up or the link has improved. Which of the two is not known yet.
    var isFilling: Bool { isKnown && count > reserve / 4 }

    /// - Parameter isDelayed: media queues up before it is delivered.
    mutating func measured(delivered: Int, isDelayed: Bool, now: MediaTimestamp) {
        if let last, let rate {
            let carried = Double(rate.bitsPerSecond) / 8 * (now - last.time).inSeconds
            let excess = Double(delivered - last.delivered) - carried
            if excess < 0 || !isDelayed { count = max(0, count + excess) }
        }
        last = (now, delivered)
    }

    /// The rate of a link that was seen full.
    mutating func linkCarries(_ rate: Bitrate) { if !isKnown { self.rate = rate } }

    /// Behind the buffer, the link carries at least this rate.
    mutating func linkRose(to new: Bitrate) {
        guard rate != nil else { return }
        // More was delivered twice without ever being too much: there is no such buffer, or it is larger.
        if risen != nil { reserve = 0 }
        risen = (risen ?? 0) + count
        (rate, count) = (new, 0)
    }

    /// The link is overloaded.
    /// - Parameter isBursty: nothing was delivered for half a second or more, and then something was.
    mutating func linkWasFull(isBursty: Bool) {
        guard let last else { return }
        let cycle = full.flatMap { full -> Bitrate? in
            let time = last.time - full.time
            guard time >= Self.shortestCycle else { return nil }
            return Bitrate(bitsPerSecond: Int(Double(last.delivered - full.delivered) * 8 / time.inSeconds))
        }
        // Too soon to judge: the cycle continues.
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
