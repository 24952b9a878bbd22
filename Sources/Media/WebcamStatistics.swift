/// What a computer was given, counted since the webcam was started.
public struct WebcamStatistics: Hashable, Sendable {
    public var sentFrames = 0
    /// The computer or the processor was not ready for them.
    public var lostFrames = 0
    public var sentBytes = 0

    public init() {}
}
