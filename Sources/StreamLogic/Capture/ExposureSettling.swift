import Media

/// Detects when a camera's exposure has adapted to a change of the light. Frames must be passed in capture order.
public struct ExposureSettling: Hashable, Sendable {
    /// Settling time assumed for a camera that does not report its exposure.
    public static let usualTime: Duration = .milliseconds(500)
    /// Stop waiting for a camera that never settles.
    public static let longestTime: Duration = .seconds(2)
    /// A camera takes a few frames to see the light, measure it and react. Stable values before that are the old ones.
    private static let reactionTime: Duration = .milliseconds(200)
    /// Largest relative change between frames that counts as settled.
    private static let tolerance = 0.02
    private static let framesOfRest = 3

    private let start: MediaTimestamp
    private var lastExposure: Double?
    private var restingFrames = 0

    /// - Parameter start: when the light changed.
    public init(from start: MediaTimestamp) { self.start = start }

    /// - Parameters:
    ///   - time: when the frame was taken.
    ///   - exposureTime, gain: the frame's exposure; `nil` if the camera does not report it.
    /// - Returns: whether this frame shows the settled exposure.
    public mutating func frameTaken(at time: MediaTimestamp, exposureTime: Duration?, gain: Double?) -> Bool {
        let elapsed = time - start
        guard elapsed < Self.longestTime else { return true }
        guard let exposureTime else { return elapsed >= Self.usualTime }
        let exposure = exposureTime.inSeconds * (gain ?? 1)
        defer { lastExposure = exposure }
        guard elapsed >= Self.reactionTime, let lastExposure else { return false }
        let isAtRest = abs(exposure - lastExposure) <= Self.tolerance * max(lastExposure, exposure)
        restingFrames = isAtRest ? restingFrames + 1 : 0
        return restingFrames >= Self.framesOfRest
    }
}
