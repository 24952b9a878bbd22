import Media

/// Interleaved signed 16-bit samples with the capture time of the first one.
public struct AudioBlock: Sendable {
    public var samples: [Int16]
    public var captureTime: MediaTimestamp

    public init(samples: [Int16], captureTime: MediaTimestamp) {
        self.samples = samples
        self.captureTime = captureTime
    }

    /// Silence of the same length.
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
    /// The duration of this many frames (one sample per channel), rounded down to a nanosecond. Whole seconds are
    /// separate: days of frames times 10^9 would overflow 64 bits.
    public static func ofFrames(_ count: Int, sampleRate: Int) -> Duration {
        .seconds(count / sampleRate) + .nanoseconds(Int64(count % sampleRate) * 1_000_000_000 / Int64(sampleRate))
    }
}

/// Provides audio, one block at a time, on the calling thread.
public protocol AudioSource: AnyObject {
    var format: AudioFormat { get }

    /// Sets the time of the first frame for a source that starts on demand, such as a file, so that it matches other
    /// sources. Optional; to be called before the first block. Cards and pipes have their own times.
    func start(at time: MediaTimestamp)

    /// Waits for the next block of at most `frameCount` frames (one sample per channel) and returns it.
    /// - Returns: `nil` when the source has ended.
    func nextBlock(frameCount: Int) throws -> AudioBlock?

    /// How the source ended on its own, for people; `nil` before that, and after a stop.
    var endingNote: String? { get }

    var statistics: AudioSourceStatistics { get }
}

extension AudioSource {
    public func start(at time: MediaTimestamp) {}
    public var statistics: AudioSourceStatistics { AudioSourceStatistics() }
}
