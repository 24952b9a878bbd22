import Filters
import Media

/// Totals of a stream's sources and encoders so far. Updated by their threads.
public struct EncodedCounters: Hashable, Sendable {
    /// Frames that reached the encoder.
    public var capturedFrames = 0
    /// Frames beyond the requested frame rate, which did not reach the encoder.
    public var decimatedFrames = 0
    /// Frames that the encoder skipped by its own decision.
    public var skippedFrames = 0
    /// How often whole frames were scaled, converted or copied on the way to the encoder.
    public var conversions = 0
    public var videoSource = VideoSourceStatistics()
    /// In the chain's order.
    public var filters: [FilterReading] = []
    public var audioSource = AudioSourceStatistics()
    /// `nil` without a preview.
    public var preview: PreviewStatistics?
    /// Frames that the encoder output, and their bytes.
    public var encodedFrames = 0
    public var encodedVideoBytes = 0

    public init() {}

    /// Frames of the source that were not fetched in time, mostly because the processor is too slow. Includes a
    /// camera's corrupt frames.
    public var missedFrames: Int { videoSource.droppedFrames }

    /// For people, after the other counts; empty if no frame was missed.
    public var missedText: String { missedFrames > 0 ? ", \(missedFrames) missed" : "" }
}
