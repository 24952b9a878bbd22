/// The text that a screen shows next to or over the video: a headline and the lines below it.
public struct ScreenPage: Hashable, Sendable {
    /// The kind of headline, which determines its color.
    public enum Tone: Hashable, Sendable {
        /// Nothing is sent, and there is no fault.
        case idle
        case live
        /// Something is under way: connecting, reconnecting, starting, ending.
        case waiting
        case fault
    }

    public var tone: Tone
    public var headline: String
    public var lines: [String]

    public init(_ tone: Tone, _ headline: String, _ lines: [String] = []) {
        self.tone = tone
        self.headline = headline
        self.lines = lines
    }
}

/// What happened to the frames offered to a preview.
public struct PreviewStatistics: Hashable, Sendable {
    /// Frames shown on the screen.
    public var shownFrames = 0
    /// Frames that were replaced by a newer one before the display was ready, or refused by the display.
    public var lostFrames = 0
    /// Shown frames that the processor had to copy or convert, because the display does not accept their format.
    public var convertedFrames = 0

    public init() {}
}
