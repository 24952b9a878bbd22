/// Which part of what a camera can show is shown.
public struct ZoomedView: Hashable, Sendable {
    /// 1 for all of it.
    public var zoom: Double
    /// The middle of what is shown; what would lie outside is moved inside.
    public var centre: FramePoint

    public init(zoom: Double = 1, centre: FramePoint = .centre) {
        self.zoom = zoom
        self.centre = centre
    }

    /// What is shown, of all that the camera can show.
    public var area: FrameArea {
        let side = 1 / max(1, zoom)
        return FrameArea(
            left: min(max(0, centre.x - side / 2), 1 - side), top: min(max(0, centre.y - side / 2), 1 - side),
            width: side, height: side)
    }
}
