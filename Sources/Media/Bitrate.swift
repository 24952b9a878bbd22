/// A data rate. Never negative.
public struct Bitrate: Hashable, Comparable, Sendable {
    public let bitsPerSecond: Int

    public init(bitsPerSecond: Int) { self.bitsPerSecond = max(0, bitsPerSecond) }
    public init(kilobitsPerSecond: Int) { self.init(bitsPerSecond: kilobitsPerSecond &* 1000) }

    public var kilobitsPerSecond: Double { Double(bitsPerSecond) / 1000 }

    public static func < (left: Self, right: Self) -> Bool { left.bitsPerSecond < right.bitsPerSecond }
}
