import Media

/// A camera, or a source around one, that can be asked for fewer frames per second while it runs, and for more again up to its
/// `frameRate`. Frames that nobody wants are then not exposed at all, and the others longer.
public protocol FrameRateSelection: AnyObject {
    /// Frames come at this rate, or a little more slowly, as soon as the camera follows; a camera that cannot goes on as before.
    func selectFrameRate(_ rate: FrameRate)
}
