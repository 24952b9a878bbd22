import Media

/// A screen in addition to the stream. It holds at most the frame on the screen and the next one. When frames stop, the
/// text fills the screen. Thread-safe.
public protocol PreviewSink: FrameSink {
    /// Sets the text of the screen. Does not wait.
    func show(_ page: ScreenPage)

    /// Counted since it was created.
    var statistics: PreviewStatistics { get }
}
