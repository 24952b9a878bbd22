import DequeModule
import Media

/// Which media has reached a receiver: ranges of capture times without a gap, from exact counts of the bytes on the wire, each
/// from its connection's start. Of a stream with video, the frames count. What is uncertain counts as missing.
public struct DeliveredMedia {
    private struct Sent {
        let time: MediaTimestamp
        /// Of all bytes that the connection got, including this packet's.
        var endByteCount: Int
        /// Packets are missing before this one.
        let isAfterGap: Bool
    }

    /// More are not remembered, so that the media counts as missing. Minutes are in flight then.
    private static let mostPackets = 10_000

    private let hasVideo: Bool
    private var sent: Deque<Sent> = []
    private var isAfterGap = true
    /// The number of the connection that `sent` is on; `nil` after a loss.
    private var connection: Int?
    /// The last packet that has arrived, and the time from its predecessor.
    private var last: (time: MediaTimestamp, span: Duration)?
    private var start: MediaTimestamp?
    private var closed: [Range<MediaTimestamp>] = []
    /// Where the newest range that was taken ends.
    private var takenEnd: MediaTimestamp?

    public init(hasVideo: Bool) { self.hasVideo = hasVideo }

    /// The packet is on its way.
    public mutating func handedOut(_ packet: EncodedPacket, endByteCount: Int, on connection: Int) {
        guard !packet.isHeader, packet.isVideo == hasVideo else { return }
        if connection != self.connection {
            // After a move that the server asked for, what the old connection has still to send arrives.
            for index in sent.indices { sent[index].endByteCount = 0 }
            self.connection = connection
        }
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
        connection = nil
    }

    /// - Parameter byteCount: how many of the connection's bytes have arrived.
    public mutating func delivered(byteCount: Int, on connection: Int) {
        // A late report of a connection that was lost says nothing about the next one.
        guard connection == self.connection else { return }
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
        if let range = openRange { closed.append(range) }
        (start, last, takenEnd) = (nil, nil, nil)
    }

    /// `nil` if it was taken as far as it goes.
    private var openRange: Range<MediaTimestamp>? {
        guard let start, let last else { return nil }
        let end = last.time + last.span
        return start < end && end != takenEnd ? start..<end : nil
    }

    /// The ranges that have arrived since the last call, in order. A range that continues starts where the last one ended.
    public mutating func take() -> [Range<MediaTimestamp>] {
        var ranges = closed
        closed = []
        if let range = openRange {
            ranges.append(range)
            takenEnd = range.upperBound
            start = last?.time
        }
        return ranges
    }
}
