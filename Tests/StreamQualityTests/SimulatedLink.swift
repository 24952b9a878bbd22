import Media
import SeededNumbers
import StreamQuality

/// The rate of a scripted link over time.
struct LinkScript: Sendable {
    /// The rate in kilobits per second from each time (in seconds) on; a ramp approaches the next entry's rate.
    private let points: [(time: Double, kilobits: Double)]
    private let isRamp: Bool

    init(_ points: [(Double, Double)], isRamp: Bool = false) {
        self.points = points.map { (time: $0.0, kilobits: $0.1) }
        self.isRamp = isRamp
    }

    static func steady(_ kilobits: Double) -> LinkScript { LinkScript([(0, kilobits)]) }

    /// Repeatedly falls from one rate to the other in `period` seconds and jumps back.
    static func sawtooth(from high: Double, to low: Double, period: Double, until end: Double) -> LinkScript {
        var points: [(Double, Double)] = []
        for time in stride(from: 0, to: end, by: period) { points += [(time, high), (time + period - 0.01, low)] }
        return LinkScript(points, isRamp: true)
    }

    /// Random rates at random times, including dead times; from `good` on, a good link.
    static func random(goodFrom good: Double, seed: UInt64) -> LinkScript {
        var random = SeededGenerator(seed: seed)
        var points: [(Double, Double)] = []
        var time = 0.0
        while time < good {
            let isDead = Int.random(in: 0..<6, using: &random) == 0
            points.append((time, isDead ? 0 : 150 * Double.random(in: 0...5, using: &random).exponential))
            time += Double.random(in: 0.3...12, using: &random)
        }
        return LinkScript(points + [(good, 5_000)])
    }

    /// A mobile network while driving: good and bad cells of a few seconds, with fading inside each.
    static func mobile(until end: Double, seed: UInt64) -> LinkScript {
        let cells: [Double] = [400, 900, 1_800, 4_000, 8_000]
        var random = SeededGenerator(seed: seed)
        var points: [(Double, Double)] = []
        var time = 0.0
        while time < end {
            let cell = cells.randomElement(using: &random) ?? 1_000
            for _ in 0..<Int.random(in: 8...30, using: &random) {
                points.append((time, cell * Double.random(in: 0.6...1.4, using: &random)))
                time += Double.random(in: 0.3...1, using: &random)
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                points.append((time, 0))
                time += Double.random(in: 0.2...1.5, using: &random)
            }
        }
        return LinkScript(points)
    }

    /// A link that loses packets: TCP halves its window at each loss and grows back, so the rate dips.
    static func lossy(_ kilobits: Double, percent: Double, until end: Double, seed: UInt64) -> LinkScript {
        var random = SeededGenerator(seed: seed)
        var points: [(Double, Double)] = []
        var window = 1.0
        for time in stride(from: 0, to: end, by: 0.2) {
            let isLost = Double.random(in: 0..<100, using: &random) < percent * 4
            window = isLost ? max(0.1, window / 2) : min(1, window + 0.1)
            points.append((time, kilobits * window))
        }
        return LinkScript(points)
    }

    func bitsPerSecond(at time: Double) -> Double {
        guard let index = points.lastIndex(where: { $0.time <= time }) else { return 0 }
        let point = points[index]
        guard isRamp, index + 1 < points.count else { return point.kilobits * 1000 }
        let next = points[index + 1]
        let part = (time - point.time) / (next.time - point.time)
        return (point.kilobits + part * (next.kilobits - point.kilobits)) * 1000
    }
}

extension Double {
    /// 2 to the power of the number, with straight lines between whole powers: spreads rates over magnitudes.
    fileprivate var exponential: Double {
        let whole = Int(self)
        return Double(1 << whole) * (1 + self - Double(whole))
    }
}

/// A kernel's queue, a router's queue, and the routes in both directions, in steps of virtual time.
///
/// TCP is modeled by its long-run behavior: it keeps the router's queue filled if there is enough to send.
struct SimulatedLink {
    let script: LinkScript
    /// One-way delay in seconds.
    var delay = 0.02
    /// The router's capacity before it drops: this many seconds at the present rate, but always a few packets.
    var queueSeconds = 0.1
    /// Radio networks assign the channel in turns: nothing for this long, then everything at once.
    var turnSeconds = 0.0
    /// An intermediate program that acknowledges data ahead of the link.
    var proxy: Proxy?
    /// TCP_NOTSENT_LOWAT.
    var unsentLimit = 16_384
    private static let leastQueue = 15_000.0

    /// It accepts this many bytes ahead of the link, and reopens its window only when it has this much room. A
    /// receiver's window moves in large steps if segments are large, as on a loopback device.
    struct Proxy: Sendable {
        let bufferBytes: Double
        let windowStep: Double
    }

    /// The position up to which the proxy accepts data.
    private var windowEdge = 0.0
    /// The position reached by the proxy after each of the last steps.
    private var taken: [Double] = []

    private var accepted = 0.0
    private var entered = 0.0
    private var served = 0.0
    private var credit = 0.0
    /// The position served after each of the last steps.
    private var history: [Double] = []
    private var packets: [(end: Double, packet: EncodedPacket)] = []
    private var firstPacket = 0
    private(set) var arrived = 0.0
    private var acknowledged = 0.0

    init(script: LinkScript) { self.script = script }

    var unsentBytes: Int { Int(accepted - entered) }
    var unacknowledgedBytes: Int { Int(accepted - acknowledged) }
    var hasRoom: Bool { unsentBytes < unsentLimit }

    mutating func accept(_ packet: EncodedPacket) {
        accepted += Double(packet.payload.count + 14)
        packets.append((accepted, packet))
    }

    /// - Returns: the packets whose last byte arrives in this step.
    mutating func advance(from time: Double, by step: Double) -> [EncodedPacket] {
        let rate = script.bitsPerSecond(at: time) / 8
        let window = max(Self.leastQueue, queueSeconds * rate) + rate * 2 * delay
        if let proxy {
            if served + proxy.bufferBytes - windowEdge >= proxy.windowStep { windowEdge = served + proxy.bufferBytes }
            entered = max(entered, min(accepted, windowEdge))
        } else {
            entered = max(entered, min(accepted, acknowledged + window))
        }
        credit += rate * step
        if turnSeconds == 0 || (time / turnSeconds).rounded(.down) != ((time + step) / turnSeconds).rounded(.down) {
            let turn = min(entered - served, credit)
            served += turn
            credit = 0
        }
        history.append(served)
        taken.append(entered)
        arrived = max(arrived, Self.count(in: history, before: delay, step))
        acknowledged = max(acknowledged, Self.count(in: proxy == nil ? history : taken, before: 2 * delay, step))
        if history.count > 1_000 {
            history.removeFirst(500)
            taken.removeFirst(500)
        }
        var complete: [EncodedPacket] = []
        while firstPacket < packets.count, packets[firstPacket].end <= arrived + 0.5 {
            complete.append(packets[firstPacket].packet)
            firstPacket += 1
        }
        if firstPacket > 200 {
            packets.removeFirst(firstPacket)
            firstPacket = 0
        }
        return complete
    }

    private static func count(in history: [Double], before time: Double, _ step: Double) -> Double {
        let index = history.count - 1 - Int(time / step + 0.5)
        return index >= 0 ? history[index] : 0
    }

    /// The connection is lost with all data in flight, and a new one is up.
    mutating func reconnect() {
        packets = []
        firstPacket = 0
        entered = accepted
        served = accepted
        arrived = accepted
        acknowledged = accepted
        windowEdge = accepted
        history = Array(repeating: accepted, count: history.count)
        taken = history
    }
}
