import DevicePorts
import Glibc
import LinuxIO
import Media

/// Mixes several microphones into one source: their sum, softly limited. All start at the same time and follow the system's
/// clock, so equal frame numbers mean equal capture times. A lost or late microphone is silent and does not delay the others.
/// Used on the audio thread.
public final class MixedSource: AudioSource {
    public let format: AudioFormat
    /// Set once all sources have ended.
    public private(set) var endingNote: String?
    public private(set) var statistics = AudioSourceStatistics()

    private let sources: [MicrophoneSource]
    /// Time of the first frame. Frames are counted from there.
    private var origin: MediaTimestamp?
    private var frameCount = 0

    /// How late a block may be after its last frame was captured. This is far less than the cards' buffers, which fill while
    /// another source is waited for.
    static let patience = Duration.milliseconds(100)

    /// - Parameter sources: not started yet, all at `sampleRate`.
    public init(_ sources: [MicrophoneSource], sampleRate: Int) {
        self.sources = sources
        format = AudioFormat(sampleRate: sampleRate, channelCount: 2)
    }

    public func nextBlock(frameCount wanted: Int) throws -> AudioBlock? {
        if !sources.contains(where: { $0.endingNote == nil }) {
            endingNote = "every audio source has ended"
            return nil
        }
        let origin = origin ?? start()
        let time = origin + .ofFrames(frameCount, sampleRate: format.sampleRate)
        frameCount += wanted
        let deadline = origin + .ofFrames(frameCount, sampleRate: format.sampleRate) + Self.patience
        var sums = [Int32](repeating: 0, count: 2 * wanted)
        for source in sources {
            guard let block = try source.nextBlock(frameCount: wanted, until: deadline) else { return nil }
            for (index, sample) in block.samples.prefix(sums.count).enumerated() { sums[index] += Int32(sample) }
        }
        let samples = sums.map(Self.limited)
        measure(samples)
        return AudioBlock(samples: samples, captureTime: time)
    }

    private func start() -> MediaTimestamp {
        let now = MonotonicClock.now()
        origin = now
        for source in sources { source.start(at: now) }
        return now
    }

    private func measure(_ samples: [Int16]) {
        let each = sources.map(\.statistics)
        statistics.sources = each
        statistics.capturedSamples = each.reduce(0) { $0 + $1.capturedSamples }
        statistics.silentSamples = each.reduce(0) { $0 + $1.silentSamples }
        statistics.overruns = each.reduce(0) { $0 + $1.overruns }
        statistics.interruptions = each.reduce(0) { $0 + $1.interruptions }
        var level = LevelMeter()
        for sample in samples { level.add(Float(sample)) }
        (statistics.peakDecibels, statistics.meanDecibels) = (level.peakDecibels, level.meanDecibels)
    }

    /// Sums up to this level, 3 dB below full scale, stay unchanged.
    static let knee = 23_197

    /// Beyond the knee, the curve flattens smoothly and never reaches full scale, so no edge is audible.
    static func limited(_ sum: Int32) -> Int16 {
        let magnitude = Int(sum.magnitude)
        guard magnitude > knee else { return Int16(sum) }
        let room = Float(Int(Int16.max) - knee)
        let bent = Int16(Float(knee) + room * tanh(Float(magnitude - knee) / room))
        return sum < 0 ? -bent : bent
    }
}
