import Media

/// Interleaved signed 16-bit samples and when the first of them was taken.
public struct AudioBlock: Sendable {
    public var samples: [Int16]
    public var captureTime: MediaTimestamp

    public init(samples: [Int16], captureTime: MediaTimestamp) {
        self.samples = samples
        self.captureTime = captureTime
    }

    /// As long, and silent.
    public var silenced: AudioBlock {
        AudioBlock(samples: [Int16](repeating: 0, count: samples.count), captureTime: captureTime)
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

extension Duration {
    /// How long so many frames (one sample per channel) take, rounded down to a nanosecond. Whole seconds go first: days of
    /// frames, times 10^9, are beyond 64 bits.
    public static func ofFrames(_ count: Int, sampleRate: Int) -> Duration {
        .seconds(count / sampleRate) + .nanoseconds(Int64(count % sampleRate) * 1_000_000_000 / Int64(sampleRate))
    }
}

/// Gives audio, one block at a time, on the thread that asks.
public protocol AudioSource: AnyObject {
    var format: AudioFormat { get }

    /// The first frame of a source that starts when it is asked, such as a file, was taken at this time, to which others
    /// start as well. To be called before the first block, if at all; cards and pipes have times of their own.
    func start(at time: MediaTimestamp)

    /// Waits for and returns the next block of at most `frameCount` frames (one sample per channel).
    /// - Returns: `nil` when the source has ended.
    func nextBlock(frameCount: Int) throws -> AudioBlock?

    /// How the source ended by itself, for people; `nil` before that, and after a stop.
    var endingNote: String? { get }

    /// What has become of the audio so far.
    var statistics: AudioSourceStatistics { get }
}

extension AudioSource {
    public func start(at time: MediaTimestamp) {}
    public var statistics: AudioSourceStatistics { AudioSourceStatistics() }
}
