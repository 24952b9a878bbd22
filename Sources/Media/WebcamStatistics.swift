/// What was sent to a computer, counted since the webcam was started.
public struct WebcamStatistics: Hashable, Sendable {
    public var sentFrames = 0
    /// Frames that the computer or the processor was not ready for.
    public var lostFrames = 0
    public var sentBytes = 0

    public init() {}
}
