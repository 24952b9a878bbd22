/// The quality of JPEGs that get through the bus: lowered where one would be too large, raised again in small steps.
public struct JPEGQuality: Hashable, Sendable {
    private static let range = 1...85
    /// Down to here quality gives way where the bus is slow; then the rate does, as it does for raw frames. Below it there are
    /// only files that the buffer would not hold otherwise.
    private static let watchable = 20

    /// 1 to 100, as libjpeg counts.
    public private(set) var value = 80
    private let largest: Int
    private let room: Int

    /// - Parameters:
    ///   - largest: bytes that the bus carries in the time of a frame.
    ///   - room: bytes of the buffer that a frame is sent in: a larger file cannot be sent at any rate.
    public init(largest: Int, room: Int) {
        self.largest = min(largest, room)
        self.room = room
    }

    /// Learns from a file that was made with it.
    /// - Returns: whether the file is to be sent; else it is to be made again.
    public mutating func adapt(toByteCount byteCount: Int) -> Bool {
        let yields = value > Self.watchable
        let limit = yields ? largest : room
        guard byteCount <= limit else {
            // Fewer bytes than in proportion: most of a file at a low quality is what no quality takes away.
            let smaller = min(value * 3 / 4, value * limit / byteCount)
            value = max(yields ? Self.watchable : Self.range.lowerBound, smaller)
            return false
        }
        // What was made poor for the buffer's sake becomes better as far as the buffer holds it.
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
