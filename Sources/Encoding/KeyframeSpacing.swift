import Media

/// From one keyframe to the next, as the service wants it.
public struct KeyframeSpacing: Hashable, Sendable {
    public var usual: Duration
    /// Where the link has too little for the usual.
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
