/// What happened to a source's frames, counted from its start.
public struct VideoSourceStatistics: Hashable, Sendable {
    /// Frames that the device delivered.
    public var capturedFrames = 0
    /// Frames that the device lost before they were fetched, or marked as corrupt.
    public var droppedFrames = 0
    /// Frames from a camera's start, while its exposure and white balance were still settling.
    public var startupFrames = 0
    /// Frames that were older than those already sent in their place, after the device had been silent.
    public var supersededFrames = 0
    /// Frames repeated because the device had no new one.
    public var repeatedFrames = 0
    /// Frames that the source had to decode: compressed ones, and formats that libyuv cannot read.
    public var decodedFrames = 0
    /// Frames that the processor rotated or mirrored.
    public var rotatedFrames = 0
    /// How often the source processed a whole frame to decode or rotate it, before the encoder got it.
    public var passes = 0
    /// Frames whose samples the processor read in the device's memory.
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

/// What happened to a source's audio, counted from its start. For several mixed sources: the sums, without drift, and
/// the level of the mix.
public struct AudioSourceStatistics: Hashable, Sendable {
    /// Samples per channel that the device delivered, at its own rate.
    public var capturedSamples = 0
    /// Samples of silence per channel, at the stream's rate, in place of lost audio.
    public var silentSamples = 0
    /// How often the device's buffer overran.
    public var overruns = 0
    /// How often the device was lost.
    public var interruptions = 0
    /// How much faster the device's clock runs than the system's, in parts per million; `nil` until known.
    public var driftPPM: Double?
    /// The loudest sample of the last block, in dB below full scale; `nil` for digital silence.
    public var peakDecibels: Double?
    /// The mean power of the last block, in dB below full scale; `nil` for digital silence.
    public var meanDecibels: Double?
    /// The applied gain; `nil` for a source without gain.
    public var gain: MicrophoneGain?
    /// The statistics of each mixed source, in order; empty for a single source.
    public var sources: [AudioSourceStatistics] = []

    public init() {}
}
