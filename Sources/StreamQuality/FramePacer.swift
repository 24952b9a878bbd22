import Media

/// Chooses, from a source that is faster than the quality asks for, the frames
/// nearest to an even grid of the wanted rate.
public struct FramePacer: Sendable {
    private let wanted: FrameRate
    private let takesAll: Bool
    /// How much before its place a frame may be: with more, a later one is nearer.
    private let tolerance: Duration
    private var origin: MediaTimestamp?
    /// The next place of the grid to fill.
    private var nextIndex = 0

    /// A source that is not faster than wanted loses no frame, however unevenly its frames come.
    public init(source: FrameRate, wanted: FrameRate) {
        self.wanted = wanted
        takesAll = source <= wanted
        tolerance = source.frameDuration / 2
    }

    /// - Returns: whether the frame is to be encoded.
    public mutating func frameCaptured(at time: MediaTimestamp) -> Bool {
        guard !takesAll else { return true }
        guard let origin else {
            self.origin = time
            nextIndex = 1
            return true
        }
        guard time + tolerance >= origin + wanted.offset(ofFrame: nextIndex) else { return false }
        // After a gap the grid goes on at the place nearest to this frame.
        let elapsed = max(0, (time + wanted.frameDuration / 2 - origin).wholeNanoseconds)
        let place = elapsed.multipliedReportingOverflow(by: Int64(wanted.framesPerSecond)).partialValue / 1_000_000_000
        nextIndex = max(nextIndex, Int(place)) + 1
        return true
    }
}
