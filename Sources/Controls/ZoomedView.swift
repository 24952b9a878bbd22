/// The visible part of a camera's field of view.
public struct ZoomedView: Hashable, Sendable {
    /// 1 for the whole field of view.
    public var zoom: Double
    /// The center of the visible part, which is moved inside if it would extend beyond the edge.
    public var center: FramePoint

    public init(zoom: Double = 1, center: FramePoint = .center) {
        self.zoom = zoom
        self.center = center
    }

    /// The visible part of the camera's field of view.
    public var area: FrameArea {
        let side = 1 / max(1, zoom)
        return FrameArea(
            left: min(max(0, center.x - side / 2), 1 - side), top: min(max(0, center.y - side / 2), 1 - side),
            width: side, height: side)
    }
}
