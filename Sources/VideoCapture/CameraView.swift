import Controls

/// What a camera was asked for, which it keeps while another one is on.
struct CameraView {
    var glide = ZoomGlide()
    var isZoomReached = true
    /// What the camera does not do itself.
    var turn = FrameTurn()
    var wished = WishedControls()
    /// What the camera itself was asked for, in its own frame's parts.
    var given = WishedControls()
    /// What it said last, when another camera took its place.
    var lastReport = CameraReport()
    /// The processor takes a part of each frame.
    var isZoomedOnTheWay = false

    /// Frames are other than the camera gives them.
    var isMade: Bool { !turn.isIdentity || isZoomedOnTheWay && glide.target.zoom > 1 }
}
