import Media

/// Something beside the stream that takes its source's frames: a display, a computer. It never keeps the stream waiting, and holds a
/// frame for a moment only. Any thread.
public protocol FrameSink: AnyObject, Sendable {
    /// Takes the frame as soon as it is ready for it, unless a newer one has come by then. Does not wait.
    /// - Parameter colors: of the frame; `nil` when its source does not know.
    func offer(_ frame: CapturedFrame, colors: VideoColors?)

    /// Whether somebody would see them: a stream that waits for its server reads the camera for that.
    var wantsFrames: Bool { get }

    /// No more frames come: what is held of them is released.
    func framesEnded()
}
