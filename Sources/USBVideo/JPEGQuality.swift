/// The quality of JPEGs that get through the bus: lowered where one would be too large, raised again in small steps.
public struct JPEGQuality: Hashable, Sendable {
    private static let range = 20...85

    /// 1 to 100, as libjpeg counts.
    public private(set) var value = 80
    private let largest: Int

    /// - Parameter largest: bytes of a frame, at the most.
    public init(largest: Int) { self.largest = largest }

    /// Learns from a file that was made with it.
    /// - Returns: whether the file gets through; else it is to be made again.
    public mutating func adapt(toByteCount byteCount: Int) -> Bool {
        guard byteCount <= largest else {
            // Fewer bytes than in proportion: most of a file at a low quality is what no quality takes away.
            value = max(Self.range.lowerBound, min(value - 15, value * largest / byteCount))
            return false
        }
        if byteCount > largest / 10 * 9 {
            value = max(Self.range.lowerBound, value - 2)
        } else if byteCount < largest / 2 {
            value = min(Self.range.upperBound, value + 1)
        }
        return true
    }
}
