import Media

/// A camera, or a source that wraps one, whose rate can be lowered during capture and raised again up to its
/// `frameRate`. Unneeded frames are then not captured at all, and the others can be exposed longer.
public protocol FrameRateSelection: AnyObject {
    /// Requests this rate. Frames follow it, or are slightly slower, as soon as the camera can; other cameras continue
    /// unchanged.
    func selectFrameRate(_ rate: FrameRate)
}
