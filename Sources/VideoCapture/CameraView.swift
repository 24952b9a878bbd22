import Controls

/// A camera's view and controls, kept while another camera is active.
struct CameraView {
    var glide = ZoomGlide()
    var isZoomReached = true
    /// The part that the camera does not do itself.
    var turn = FrameTurn()
    var wished = WishedControls()
    /// The controls given to the camera itself, in coordinates of its own frame.
    var given = WishedControls()
    /// Its last report before another camera took over.
    var lastReport = CameraReport()
    /// Whether the CPU crops each frame.
    var isZoomedOnTheWay = false

    /// Whether the CPU changes the frames.
    var isMade: Bool { !turn.isIdentity || isZoomedOnTheWay && glide.target.zoom > 1 }
}
