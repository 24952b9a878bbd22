import Media

/// The time between keyframes that the service asks for.
public struct KeyframeSpacing: Hashable, Sendable {
    public var usual: Duration
    /// Used if the link is too slow for the usual spacing.
    public var longest: Duration

    public init(usual: Duration = .seconds(2), longest: Duration = .seconds(2)) {
        self.usual = usual
        self.longest = max(usual, longest)
    }

    /// In frames, at least 1.
    package func distance(at frameRate: FrameRate, isStretched: Bool) -> Int {
        max(1, Int((isStretched ? longest : usual).inSeconds * Double(frameRate.framesPerSecond)))
    }
}
