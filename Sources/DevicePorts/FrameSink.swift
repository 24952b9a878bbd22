import Media

/// A consumer of the source's frames in addition to the stream: a display, a computer. It never delays the stream and
/// holds a frame only briefly. Thread-safe.
public protocol FrameSink: AnyObject, Sendable {
    /// Offers a frame, which is taken as soon as the sink is ready, unless a newer one has arrived by then. Does not
    /// wait.
    /// - Parameter colors: the frame's colors; `nil` if unknown.
    func offer(_ frame: CapturedFrame, colors: VideoColors?)

    /// Whether it needs frames. If so, a stream that waits for its server reads the camera for it.
    var wantsFrames: Bool { get }

    /// No more frames will come: release those that are held.
    func framesEnded()
}
