/// What has become of a source's frames, counted from its start.
public struct VideoSourceStatistics: Hashable, Sendable {
    /// Frames that the device gave.
    public var capturedFrames = 0
    /// Frames that the device lost before they could be taken, or marked as broken.
    public var droppedFrames = 0
    /// Frames that a camera gave at its start, while its exposure and white balance were still settling.
    public var startupFrames = 0
    /// Frames older than what was given in their place, after the device had been silent.
    public var supersededFrames = 0
    /// Frames that were given again because the device had no new one.
    public var repeatedFrames = 0
    /// Frames that the source had to decode: compressed ones, and formats that libyuv does not read.
    public var decodedFrames = 0
    /// Frames that the processor rotated or mirrored.
    public var rotatedFrames = 0
    /// How often the source went through a whole frame to decode or rotate it, before the encoder has it.
    public var passes = 0
    /// Frames whose samples the processor looked at in the device's memory.
    public var mappedFrames = 0
    /// How often the device was lost.
    public var interruptions = 0

    public init() {}
}

extension VideoSourceStatistics {
    public mutating func add(_ other: VideoSourceStatistics) {
        capturedFrames += other.capturedFrames
        droppedFrames += other.droppedFrames
        startupFrames += other.startupFrames
        supersededFrames += other.supersededFrames
        repeatedFrames += other.repeatedFrames
        decodedFrames += other.decodedFrames
        rotatedFrames += other.rotatedFrames
        passes += other.passes
        mappedFrames += other.mappedFrames
        interruptions += other.interruptions
    }
}

/// What has become of a source's audio, counted from its start. Of several that are mixed: their sums, without a drift, and the
/// mix's level.
public struct AudioSourceStatistics: Hashable, Sendable {
    /// Samples of each channel that the device gave, at its own rate.
    public var capturedSamples = 0
    /// Samples of silence in each channel, at the stream's rate, in place of audio that was lost.
    public var silentSamples = 0
    /// How often the device's buffer overran.
    public var overruns = 0
    /// How often the device was lost.
    public var interruptions = 0
    /// How much faster the device's clock runs than the system's, in parts per million; `nil` until it is known.
    public var driftPPM: Double?
    /// The loudest sample of the last block, in dB below full scale; `nil` for digital silence.
    public var peakDecibels: Double?
    /// The mean power of the last block, in dB below full scale; `nil` for digital silence.
    public var meanDecibels: Double?
    /// What amplifies it; `nil` for a source that nobody amplifies.
    public var gain: MicrophoneGain?
    /// Of each, in their order, where several are mixed; else empty.
    public var sources: [AudioSourceStatistics] = []

    public init() {}
}
