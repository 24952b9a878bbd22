import Media

/// A screen beside the stream. It never keeps the stream waiting, and holds a frame for a moment only: at most the one that is
/// on the screen and the one that comes next. Any thread.
public protocol PreviewSink: AnyObject, Sendable {
    /// Shows the frame as soon as the display is ready for it, unless a newer one has come by then. Does not wait.
    /// - Parameter colors: of the frame; `nil` when its source does not know.
    func offer(_ frame: CapturedFrame, colors: VideoColors?)

    /// No more frames come: what is held of them is released, and the words have the screen to themselves.
    func framesEnded()

    /// What the screen says from now on. Does not wait.
    func show(_ page: ScreenPage)

    /// Counted since it was made.
    var statistics: PreviewStatistics { get }
}
