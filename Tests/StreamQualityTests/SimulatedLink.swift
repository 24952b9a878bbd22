import DequeModule
import Media
import StreamQuality

/// What a scripted link carries at each time.
struct LinkScript: Sendable {
    /// From each time (seconds) on, so many kilobits a second; a ramp goes to the next entry's rate.
    private let points: [(time: Double, kilobits: Double)]
    private let isRamp: Bool

    init(_ points: [(Double, Double)], isRamp: Bool = false) {
        self.points = points.map { (time: $0.0, kilobits: $0.1) }
        self.isRamp = isRamp
    }

    static func steady(_ kilobits: Double) -> LinkScript { LinkScript([(0, kilobits)]) }

    func bitsPerSecond(at time: Double) -> Double {
        guard let index = points.lastIndex(where: { $0.time <= time }) else { return 0 }
        let point = points[index]
        guard isRamp, index + 1 < points.count else { return point.kilobits * 1000 }
        let next = points[index + 1]
        let part = (time - point.time) / (next.time - point.time)
        return (point.kilobits + part * (next.kilobits - point.kilobits)) * 1000
    }
}

/// A kernel's queue, a router's queue, a way and the way back, driven in steps of virtual time.
///
/// TCP is taken as its long-run behaviour: it keeps the router's queue filled when there is enough to send.
struct SimulatedLink {
    let script: LinkScript
    /// One way, seconds.
    var delay = 0.02
    /// What the router holds before it drops: so many seconds at the present rate, and a few packets always.
    var queueSeconds = 0.1
    /// TCP_NOTSENT_LOWAT.
    var unsentLimit = 16_384
    private static let leastQueue = 15_000.0

    private var accepted = 0.0
    private var entered = 0.0
    private var served = 0.0
    private var history: Deque<(time: Double, served: Double)> = []
    private var packets: Deque<(end: Double, packet: EncodedPacket)> = []
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
        entered = max(entered, min(accepted, acknowledged + window))
        served = min(entered, served + rate * step)
        history.append((time + step, served))
        arrived = max(arrived, servedBefore(time + step - delay))
        acknowledged = max(acknowledged, servedBefore(time + step - 2 * delay))
        while let first = history.first, first.time < time - 1 { history.removeFirst() }
        var complete: [EncodedPacket] = []
        while let first = packets.first, first.end <= arrived + 0.5 {
            complete.append(first.packet)
            packets.removeFirst()
        }
        return complete
    }

    private func servedBefore(_ time: Double) -> Double { history.last { $0.time <= time + 1e-9 }?.served ?? 0 }

    /// The connection is lost with all that was on its way; a new one stands.
    mutating func reconnect() {
        packets = []
        history = []
        entered = accepted
        served = accepted
        arrived = accepted
        acknowledged = accepted
        history.append((-1, accepted))
    }
}
