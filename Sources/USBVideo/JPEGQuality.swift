/// Chooses a JPEG quality whose files fit the bus: lowered at once if a file is too large, raised again in small steps.
public struct JPEGQuality: Hashable, Sendable {
    private static let range = 1...85
    /// On a slow bus, quality drops first, down to this value; then the frame rate drops, as for raw frames. Lower quality is
    /// used only if the file would not fit into the buffer.
    private static let watchable = 20

    /// 1 to 100, on libjpeg's scale.
    public private(set) var value = 80
    private let largest: Int
    private let room: Int

    /// - Parameters:
    ///   - largest: bytes that the bus carries per frame interval.
    ///   - room: bytes of the buffer that a frame is sent in. A larger file cannot be sent at any rate.
    public init(largest: Int, room: Int) {
        self.largest = min(largest, room)
        self.room = room
    }

    /// Learns from the size of a file made with this quality.
    /// - Returns: whether to send the file; otherwise, encode it again.
    public mutating func adapt(toByteCount byteCount: Int) -> Bool {
        let yields = value > Self.watchable
        let limit = yields ? largest : room
        guard byteCount <= limit else {
            // Reduce more than proportionally: at low quality, most of a file is overhead that no quality setting removes.
            let smaller = min(value * 3 / 4, value * limit / byteCount)
            value = max(yields ? Self.watchable : Self.range.lowerBound, smaller)
            return false
        }
        // After quality was reduced for the buffer, raise it as far as the buffer allows.
        let isPoor = value < Self.watchable
        let wanted = isPoor ? room : largest
        if byteCount > wanted / 10 * 9 {
            value = max(isPoor ? Self.range.lowerBound : Self.watchable, value - 2)
        } else if byteCount < wanted / 2 {
            value = min(Self.range.upperBound, value + 1)
        }
        return true
    }
}
