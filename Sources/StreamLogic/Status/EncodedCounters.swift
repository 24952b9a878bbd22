import Filters
import Media

/// What has gone through a stream's sources and encoders so far. Their threads add to it.
public struct EncodedCounters: Hashable, Sendable {
    /// Frames that reached the encoder.
    public var capturedFrames = 0
    /// Frames that the source gave beyond the frame rate that is wanted: they reached no encoder.
    public var decimatedFrames = 0
    /// Frames that the encoder left out by its own decision.
    public var skippedFrames = 0
    /// How often whole frames were scaled, converted or copied on their way into the encoder.
    public var conversions = 0
    public var videoSource = VideoSourceStatistics()
    /// In the chain's order.
    public var filters: [FilterReading] = []
    public var audioSource = AudioSourceStatistics()
    /// `nil` without a preview.
    public var preview: PreviewStatistics?
    /// Frames that the encoder gave, and their bytes.
    public var encodedFrames = 0
    public var encodedVideoBytes = 0

    public init() {}

    /// Frames that the source had and nobody took in time, mostly because the processor is too slow for them. A camera's
    /// broken ones are among them.
    public var missedFrames: Int { videoSource.droppedFrames }

    /// For people, behind the other counts; empty when no frame was missed.
    public var missedText: String { missedFrames > 0 ? ", \(missedFrames) missed" : "" }
}
