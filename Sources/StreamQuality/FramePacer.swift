import Media

/// Selects frames from a source that is faster than required: those nearest to an even grid of the wanted rate.
public struct FramePacer: Sendable {
    private let wanted: FrameRate
    private let takesAll: Bool
    /// How much earlier than its slot a frame may be. If it is earlier still, a later frame is nearer.
    private let tolerance: Duration
    private var origin: MediaTimestamp?
    /// The next slot of the grid to fill.
    private var nextIndex = 0

    /// Takes every frame of a source that is not faster than wanted, however irregular its frames are.
    public init(source: FrameRate, wanted: FrameRate) {
        self.wanted = wanted
        takesAll = source <= wanted
        tolerance = source.frameDuration / 2
    }

    /// - Returns: whether to encode the frame.
    public mutating func frameCaptured(at time: MediaTimestamp) -> Bool {
        guard !takesAll else { return true }
        guard let origin else {
            self.origin = time
            nextIndex = 1
            return true
        }
        guard time + tolerance >= origin + wanted.offset(ofFrame: nextIndex) else { return false }
        // After a gap, the grid continues at the slot nearest to this frame.
        let elapsed = max(0, (time + wanted.frameDuration / 2 - origin).wholeNanoseconds)
        let place = elapsed.multipliedReportingOverflow(by: Int64(wanted.framesPerSecond)).partialValue / 1_000_000_000
        nextIndex = max(nextIndex, Int(place)) + 1
        return true
    }
}
