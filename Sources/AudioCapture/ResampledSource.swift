import DevicePorts
import Media

/// Converts another source to another rate. Used from one thread.
public final class ResampledSource: AudioSource {
    public let format: AudioFormat
    public var endingNote: String? { source.endingNote }
    public var statistics: AudioSourceStatistics { source.statistics }

    private let source: any AudioSource
    private let resampler: Resampler
    /// Frames taken from the source, and frames delivered.
    private var takenCount = 0
    private var givenCount = 0
    /// When the frame after the source's last block is captured.
    private var blockEnd: MediaTimestamp?
    private var hasEnded = false

    /// - Parameters:
    ///   - source: with one or two channels.
    ///   - sampleRate: frames per second of the output.
    public init(_ source: any AudioSource, sampleRate: Int) throws(MicrophoneError) {
        self.source = source
        format = AudioFormat(sampleRate: sampleRate, channelCount: source.format.channelCount)
        resampler = try Resampler(
            from: source.format.sampleRate, to: sampleRate, channelCount: source.format.channelCount)
    }

    public func nextBlock(frameCount wanted: Int) throws -> AudioBlock? {
        guard !hasEnded else { return nil }
        let inputRate = source.format.sampleRate
        guard let block = try source.nextBlock(frameCount: max(1, wanted * inputRate / format.sampleRate)) else {
            hasEnded = true
            return source.endingNote == nil ? nil : try rest()
        }
        let time = block.captureTime - held
        let frameCount = block.samples.count / format.channelCount
        var samples: [Int16] = []
        try resampler.process(block.samples, to: &samples)
        takenCount += frameCount
        givenCount += samples.count / format.channelCount
        blockEnd = block.captureTime + .ofFrames(frameCount, sampleRate: inputRate)
        return AudioBlock(samples: samples, captureTime: time)
    }

    /// The audio left in the filter after the source has ended, so that nothing is lost.
    private func rest() throws -> AudioBlock? {
        guard let blockEnd else { return nil }
        let time = blockEnd - held
        let silence = Int(resampler.latency * Double(source.format.sampleRate)) + 1
        var samples: [Int16] = []
        try resampler.process([Int16](repeating: 0, count: silence * format.channelCount), to: &samples)
        let missing = takenCount * format.sampleRate / source.format.sampleRate - givenCount
        return AudioBlock(samples: Array(samples.prefix(max(0, missing) * format.channelCount)), captureTime: time)
    }

    /// How much audio has been taken but not delivered.
    private var held: Duration {
        .ofFrames(takenCount, sampleRate: source.format.sampleRate)
            - .ofFrames(givenCount, sampleRate: format.sampleRate)
    }
}
