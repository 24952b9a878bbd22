import Media

/// Position of a source's frame inside a frame of another size: as large as possible with the same aspect ratio, centered, the
/// rest black.
public struct Letterbox: Hashable, Sendable {
    /// Distance from the frame's left and top edge to the source's; even, because of 4:2:0 chroma.
    public let left: Int
    public let top: Int
    /// The source's size inside the frame; even sides of at least 2.
    public let size: FrameSize
    /// Whether the aspect ratios differ, so that there are black bars.
    public let hasBars: Bool

    /// - Parameters:
    ///   - source: at least 1x1.
    ///   - frame: even sides of at least 2.
    public init(_ source: FrameSize, into frame: FrameSize) {
        // Both products are areas; the smaller one shows which side limits.
        let limitedByWidth = source.width * frame.height >= frame.width * source.height
        let width = limitedByWidth ? frame.width : Self.even(source.width * frame.height, over: source.height)
        let height = limitedByWidth ? Self.even(source.height * frame.width, over: source.width) : frame.height
        size = FrameSize(width: min(width, frame.width), height: min(height, frame.height))
        left = (frame.width - size.width) / 4 * 2
        top = (frame.height - size.height) / 4 * 2
        hasBars = size != frame
    }

    /// The quotient, rounded to the nearest even number; at least 2.
    private static func even(_ dividend: Int, over divisor: Int) -> Int {
        max(2, (dividend + divisor) / (2 * divisor) * 2)
    }
}
