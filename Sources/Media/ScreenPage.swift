/// What a screen says beside or over the video: a headline, and lines below it.
public struct ScreenPage: Hashable, Sendable {
    /// What the headline is about, for its colour.
    public enum Tone: Hashable, Sendable {
        /// Nothing is sent, and nothing is wrong.
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

/// What has become of the frames that a preview was offered.
public struct PreviewStatistics: Hashable, Sendable {
    /// Frames that were on the screen.
    public var shownFrames = 0
    /// Frames that a newer one replaced before the display was ready, or that it refused.
    public var lostFrames = 0
    /// Of those shown, frames that the processor copied or converted: the display does not take them as they are.
    public var convertedFrames = 0

    public init() {}
}
