import DequeModule
import Media

/// Which media has reached a receiver: ranges of capture times without a gap, from the counts of bytes handed out and
/// delivered. Of a stream with video, the frames count.
public struct DeliveredMedia {
    private struct Sent {
        let time: MediaTimestamp
        /// Of all bytes that were handed out, including this packet's.
        let endByteCount: Int
        /// Packets are missing before this one.
        let isAfterGap: Bool
    }

    /// More are not remembered, so that the media counts as missing. Minutes are in flight then.
    private static let mostPackets = 10_000

    private let hasVideo: Bool
    private var sent: Deque<Sent> = []
    private var isAfterGap = true
    /// The last packet that has arrived, and the time from its predecessor.
    private var last: (time: MediaTimestamp, span: Duration)?
    private var start: MediaTimestamp?
    private var closed: [Range<MediaTimestamp>] = []

    public init(hasVideo: Bool) { self.hasVideo = hasVideo }

    /// The packet is on its way.
    public mutating func handedOut(_ packet: EncodedPacket, endByteCount: Int) {
        guard !packet.isHeader, packet.isVideo == hasVideo else { return }
        if sent.count >= Self.mostPackets {
            sent.removeAll()
            isAfterGap = true
        }
        sent.append(Sent(time: packet.decodeTime, endByteCount: endByteCount, isAfterGap: isAfterGap))
        isAfterGap = false
    }

    /// Packets were dropped. Those that follow are not continuous with those before.
    public mutating func dropped(_ items: [DroppedItem]) {
        if items.contains(where: { ($0.kind != .audio) == hasVideo }) { isAfterGap = true }
    }

    /// What is on its way is lost with its connection.
    public mutating func connectionLost() {
        sent.removeAll()
        isAfterGap = true
    }

    /// - Parameter byteCount: of all bytes, how many have arrived.
    public mutating func delivered(byteCount: Int) {
        while let first = sent.first, first.endByteCount <= byteCount {
            sent.removeFirst()
            if first.isAfterGap || last == nil {
                close()
                (start, last) = (first.time, (first.time, .zero))
            } else if let before = last {
                last = (first.time, max(.zero, first.time - before.time))
            }
        }
    }

    private mutating func close() {
        if let start, let last, start < last.time + last.span { closed.append(start..<last.time + last.span) }
        (start, last) = (nil, nil)
    }

    /// The ranges that have arrived since the last call, in order. A range that continues starts where the last one ended.
    public mutating func take() -> [Range<MediaTimestamp>] {
        var ranges = closed
        closed = []
        if let first = start, let last, first < last.time + last.span {
            ranges.append(first..<last.time + last.span)
            start = last.time
        }
        return ranges
    }
}
