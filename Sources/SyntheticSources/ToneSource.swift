import DevicePorts
import Glibc
import LinuxIO
import Media

/// A quiet sine tone (440 Hz, -20 dBFS) with a higher beep at the start of each second. Stereo, paced by the clock.
public final class ToneSource: AudioSource {
    public let format: AudioFormat
    public let endingNote: String? = nil
    private let pacing: Pacing
    /// One second of the tone, to be repeated: both frequencies complete a whole number of periods in it.
    private let second: [Int16]
    private var clock: SampleClock

    public init(sampleRate: Int, stop: EventFD) {
        format = AudioFormat(sampleRate: sampleRate, channelCount: 2)
        pacing = Pacing(stop: stop)
        clock = SampleClock(sampleRate: sampleRate)
        let beepEnd = sampleRate / 10
        second = (0..<sampleRate).flatMap { index -> [Int16] in
            let frequency = index < beepEnd ? 1000.0 : 440.0
            let phase = 2 * Double.pi * frequency * Double(index) / Double(sampleRate)
            return Array(repeating: Int16(0.1 * sin(phase) * 32767), count: 2)
        }
    }

    public func start(at time: MediaTimestamp) { clock.start = time }

    public func nextBlock(frameCount: Int) throws -> AudioBlock? {
        let (first, time) = clock.take(frameCount)
        guard try pacing.wait(until: clock.now) else { return nil }
        return AudioBlock(samples: samples(from: first, frameCount: frameCount), captureTime: time)
    }

    /// Interleaved samples; `first` counts from the start of the tone.
    func samples(from first: Int, frameCount: Int) -> [Int16] {
        var samples: [Int16] = []
        samples.reserveCapacity(2 * frameCount)
        var position = 2 * (first % format.sampleRate)
        while samples.count < 2 * frameCount {
            let count = min(second.count - position, 2 * frameCount - samples.count)
            samples += second[position..<position + count]
            position = 0
        }
        return samples
    }
}

/// Digital silence, paced by the clock.
public final class SilenceSource: AudioSource {
    public let format: AudioFormat
    public let endingNote: String? = nil
    private let pacing: Pacing
    private var clock: SampleClock

    public init(format: AudioFormat, stop: EventFD) {
        self.format = format
        pacing = Pacing(stop: stop)
        clock = SampleClock(sampleRate: format.sampleRate)
    }

    public func start(at time: MediaTimestamp) { clock.start = time }

    public func nextBlock(frameCount: Int) throws -> AudioBlock? {
        let (_, time) = clock.take(frameCount)
        guard try pacing.wait(until: clock.now) else { return nil }
        let samples = [Int16](repeating: 0, count: frameCount * format.channelCount)
        return AudioBlock(samples: samples, captureTime: time)
    }
}

/// Counts samples from the first one's time, without accumulating rounding errors.
struct SampleClock {
    private let sampleRate: Int
    /// Time of the first sample. If it is not set, the current time is used when that sample is taken.
    var start: MediaTimestamp?
    private var frameCount = 0

    init(sampleRate: Int) { self.sampleRate = sampleRate }

    /// Capture time of the next sample.
    var now: MediaTimestamp {
        (start ?? .zero) + .ofFrames(frameCount, sampleRate: sampleRate)
    }

    /// - Returns: number and time of the first frame.
    mutating func take(_ count: Int) -> (first: Int, time: MediaTimestamp) {
        if start == nil { start = MonotonicClock.now() }
        let first = (frameCount, now)
        frameCount += count
        return first
    }
}
