/// Disjoint ranges of time, in order.
public struct TimeRanges: Hashable, Sendable {
    public private(set) var ranges: [Range<Duration>] = []

    public init(_ ranges: [Range<Duration>] = []) { for range in ranges { insert(range) } }

    public var isEmpty: Bool { ranges.isEmpty }
    public var duration: Duration { ranges.reduce(.zero) { $0 + ($1.upperBound - $1.lowerBound) } }

    /// Adds a range; ranges that touch become one.
    public mutating func insert(_ range: Range<Duration>) {
        guard !range.isEmpty else { return }
        var merged = range
        // Most ranges continue the last one.
        let first = ranges.lastIndex { $0.upperBound < range.lowerBound }.map { $0 + 1 } ?? 0
        var last = first
        while last < ranges.count, ranges[last].lowerBound <= merged.upperBound {
            merged = min(merged.lowerBound, ranges[last].lowerBound)..<max(merged.upperBound, ranges[last].upperBound)
            last += 1
        }
        ranges.replaceSubrange(first..<last, with: [merged])
    }

    /// The parts of a range that are not covered.
    public func missing(in whole: Range<Duration>) -> TimeRanges {
        var gaps = TimeRanges()
        var position = whole.lowerBound
        for range in ranges where range.upperBound > whole.lowerBound && range.lowerBound < whole.upperBound {
            if range.lowerBound > position { gaps.insert(position..<range.lowerBound) }
            position = max(position, range.upperBound)
        }
        if position < whole.upperBound { gaps.insert(position..<whole.upperBound) }
        return gaps
    }
}
