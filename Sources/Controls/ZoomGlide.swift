import Media

/// Moves a view to another one in 0.3 s instead of jumping. Each frame is enlarged by the same factor, which looks like
/// a constant speed.
public struct ZoomGlide: Sendable {
    public static let duration = Duration.milliseconds(300)

    public private(set) var start: ZoomedView
    private var startTime = MediaTimestamp.zero
    public private(set) var target: ZoomedView

    public init(_ view: ZoomedView = ZoomedView()) {
        start = view
        target = view
    }

    public mutating func glide(to view: ZoomedView, from time: MediaTimestamp) {
        start = self.view(at: time)
        startTime = time
        target = view
    }

    /// Restarts the movement now rather than at the time of the request.
    public mutating func startAgain(at time: MediaTimestamp) { startTime = max(startTime, time) }

    public func isOver(at time: MediaTimestamp) -> Bool { start == target || time - startTime >= Self.duration }

    public func view(at time: MediaTimestamp) -> ZoomedView {
        guard !isOver(at: time) else { return target }
        let part = max(0, (time - startTime) / Self.duration)
        guard part > 0 else { return start }
        return ZoomedView(
            zoom: start.zoom * Self.power(target.zoom / start.zoom, part),
            center: FramePoint(
                x: start.center.x + (target.center.x - start.center.x) * part,
                y: start.center.y + (target.center.y - start.center.y) * part))
    }

    /// `base` to the power of a number from 0 to 1, by square roots, since the core has no math library.
    private static func power(_ base: Double, _ part: Double) -> Double {
        var (result, root, rest) = (1.0, base, part)
        for _ in 0..<24 {
            root = root.squareRoot()
            rest *= 2
            if rest >= 1 {
                result *= root
                rest -= 1
            }
        }
        return result
    }
}
