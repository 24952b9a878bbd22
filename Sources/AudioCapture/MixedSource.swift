import DevicePorts
import Glibc
import LinuxIO
import Media

/// Several microphones as one source: their sum, bent where it is too loud. All start at one time, and each keeps to the
/// system's clock by itself, so that equal frames of them were taken at equal times. One that is lost, or late, is silent
/// and holds up no other. Used from the audio thread.
public final class MixedSource: AudioSource {
    public let format: AudioFormat
    /// Once each of them has one.
    public private(set) var endingNote: String?
    public private(set) var statistics = AudioSourceStatistics()

    private let sources: [MicrophoneSource]
    /// The time of the first frame, and the frames since.
    private var origin: MediaTimestamp?
    private var frameCount = 0

    /// How much later than its last frame was taken a block may come: far less than the cards' buffers hold, which fill
    /// while one of the others is waited for.
    static let patience = Duration.milliseconds(100)

    /// - Parameter sources: not started, all at `sampleRate`.
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

    /// Up to here, 3 dB below full scale, a sum stays as it is.
    static let knee = 23_197

    /// Beyond the knee a sum grows ever more slowly, and never reaches full scale: no corner that would be heard.
    static func limited(_ sum: Int32) -> Int16 {
        let magnitude = Int(sum.magnitude)
        guard magnitude > knee else { return Int16(sum) }
        let room = Float(Int(Int16.max) - knee)
        let bent = Int16(Float(knee) + room * tanh(Float(magnitude - knee) / room))
        return sum < 0 ? -bent : bent
    }
}
