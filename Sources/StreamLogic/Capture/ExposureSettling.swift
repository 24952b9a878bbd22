import Media

/// Tells when a camera's exposure has followed a change of the light. Frames go in, in the order of their times.
public struct ExposureSettling: Hashable, Sendable {
    /// Of a camera that does not say how it exposes.
    public static let usualTime: Duration = .milliseconds(500)
    /// A camera that never comes to rest is not waited for any longer.
    public static let longestTime: Duration = .seconds(2)
    /// A camera takes some frames to see the light, measure it and change: what is stable before that is what was.
    private static let reactionTime: Duration = .milliseconds(200)
    /// So much from one frame to the next is rest.
    private static let tolerance = 0.02
    private static let framesOfRest = 3

    private let start: MediaTimestamp
    private var lastExposure: Double?
    private var restingFrames = 0

    /// - Parameter start: when the light has changed.
    public init(from start: MediaTimestamp) { self.start = start }

    /// - Parameters:
    ///   - time: when the frame was taken.
    ///   - exposureTime, gain: with which; `nil` where the camera does not say.
    /// - Returns: whether this frame shows the light as it is to be seen.
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
