import Media

/// A screen beside the stream. It holds at most the frame that is on the screen and the one that comes next; when no more frames
/// come, the words have the screen to themselves. Any thread.
public protocol PreviewSink: FrameSink {
    /// What the screen says from now on. Does not wait.
    func show(_ page: ScreenPage)

    /// Counted since it was made.
    var statistics: PreviewStatistics { get }
}
