import Media

/// Interleaved signed 16-bit samples and when the first of them was taken.
public struct AudioBlock: Sendable {
    public var samples: [Int16]
    public var captureTime: MediaTimestamp

    public init(samples: [Int16], captureTime: MediaTimestamp) {
        self.samples = samples
        self.captureTime = captureTime
    }
}

public struct AudioFormat: Hashable, Sendable {
    public let sampleRate: Int
    public let channelCount: Int

    public init(sampleRate: Int, channelCount: Int) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }
}

/// Gives audio, one block at a time, on the thread that asks.
public protocol AudioSource: AnyObject {
    var format: AudioFormat { get }

    /// Waits for and returns the next block of at most `frameCount` frames (one sample per channel).
    /// - Returns: `nil` when the source has ended.
    func nextBlock(frameCount: Int) throws -> AudioBlock?

    /// How the source ended by itself, for people; `nil` before that, and after a stop.
    var endingNote: String? { get }

    /// What has become of the sound so far.
    var statistics: AudioSourceStatistics { get }
}

extension AudioSource {
    public var statistics: AudioSourceStatistics { AudioSourceStatistics() }
}

/// What has become of a source's sound, counted from its begin.
public struct AudioSourceStatistics: Hashable, Sendable {
    /// Frames that the device gave, at its own rate.
    public var capturedFrames = 0
    /// Frames of silence, at the stream's rate, that stand for sound that was lost.
    public var silentFrames = 0
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

    public init() {}
}
