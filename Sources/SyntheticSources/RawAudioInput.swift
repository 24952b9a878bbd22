import DevicePorts
import LinuxIO
import Media

/// Raw samples from a file or pipe, paced by their rate. More than two channels are mixed to stereo. A pipe without data
/// delivers silence.
public final class RawAudioInput: AudioSource {
    public let format: AudioFormat
    private let rawFormat: RawAudioFormat
    public private(set) var endingNote: String?
    private let input: RawInput
    private let pacing: Pacing
    private var block: [UInt8] = []
    private var start: MediaTimestamp?
    private var frameCount = 0
    /// For a pipe.
    private var schedule: PipeSchedule
    private var hasEnded = false
    /// Whether to wait for a pipe's first samples, however long that takes.
    private let waitsForWriter: Bool
    /// When a pipe starts to count as silent.
    private var silenceTime: MediaTimestamp?
    /// Whether the last block was silence in place of late samples.
    private var isSilent = false

    /// How late a pipe may be before silence is delivered, since writers are uneven.
    static let patience = Duration.milliseconds(200)

    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - waitsForWriter: whether to wait for a pipe's first samples; otherwise it is silent until they come.
    ///   - isPaced: `false` delivers a pipe's samples as fast as they come.
    ///   - stop: ends the source when signaled. It is not drained.
    public init(
        path: String, format: RawAudioFormat, waitsForWriter: Bool = true, isPaced: Bool = true, stop: EventFD
    ) throws(SourceError) {
        schedule = PipeSchedule(isPaced: isPaced)
        self.waitsForWriter = waitsForWriter
        self.format = format.mixed
        rawFormat = format
        pacing = Pacing(stop: stop)
        input = try RawInput(path: path, stop: stop)
        if let byteCount = input.byteCount, byteCount < bytesPerFrame {
            throw .tooShort(path: input.path, byteCount: byteCount, needed: bytesPerFrame)
        }
    }

    public func start(at time: MediaTimestamp) { start = time }

    private var bytesPerFrame: Int { rawFormat.bytesPerFrame }

    public func nextBlock(frameCount wanted: Int) throws -> AudioBlock? {
        guard !hasEnded else { return nil }
        if silenceTime == nil, !waitsForWriter, !input.isRegularFile {
            silenceTime = MonotonicClock.now() + Self.patience
        }
        if block.count != wanted * bytesPerFrame { block = [UInt8](repeating: 0, count: wanted * bytesPerFrame) }
        let readTime = MonotonicClock.now()
        switch try block.withUnsafeMutableBytes({ try input.read(into: $0, until: silenceTime) }) {
        case .stopped: return nil
        case .late: return silence(frameCount: wanted)
        case .whole(let arrival): return try paced(byteCount: block.count, arrival, readTime)
        case .ended(let byteCount, let arrival):
            let count = try end(byteCount)
            return count == 0 ? nil : try paced(byteCount: count, arrival, readTime)
        }
    }

    /// - Returns: the bytes of whole samples in the remainder.
    private func end(_ byteCount: Int) throws(SourceError) -> Int {
        hasEnded = true
        let count = byteCount / bytesPerFrame * bytesPerFrame
        guard frameCount > 0 || count > 0 else {
            throw .tooShort(path: input.path, byteCount: byteCount, needed: bytesPerFrame)
        }
        endingNote =
            "\(input.path) ended after \(frameCount + count / bytesPerFrame) samples"
            + (byteCount > count ? "; \(byteCount - count) of \(bytesPerFrame) bytes of another one are left out" : "")
        return count
    }

    /// Waits until the block is due.
    private func paced(
        byteCount: Int, _ arrival: MediaTimestamp, _ readTime: MediaTimestamp
    ) throws(SourceError) -> AudioBlock? {
        let count = byteCount / bytesPerFrame
        let time: MediaTimestamp
        if input.isRegularFile {
            time = scheduledTime(arrival)
            frameCount += count
            // A file's block is due when its last sample would have been captured.
            guard try pacing.wait(until: scheduledTime(arrival)) else { return nil }
        } else {
            // A block that arrived partly before a pause follows the silence delivered meanwhile.
            let arrival = isSilent ? max(arrival, silenceTime ?? arrival) : arrival
            isSilent = false
            let duration = Duration.ofFrames(count, sampleRate: format.sampleRate)
            time = schedule.time(ofArrival: arrival, lasting: duration, readSince: readTime)
            frameCount += count
            guard try pacing.wait(until: time) else { return nil }
            silenceTime = MonotonicClock.now() + Self.patience
        }
        return AudioBlock(samples: samples(byteCount), captureTime: time)
    }

    private func silence(frameCount: Int) -> AudioBlock? {
        guard let time = silenceTime else { return nil }
        isSilent = true
        silenceTime = time + .ofFrames(frameCount, sampleRate: format.sampleRate)
        return AudioBlock(
            samples: [Int16](repeating: 0, count: frameCount * format.channelCount), captureTime: time)
    }

    private func scheduledTime(_ arrival: MediaTimestamp) -> MediaTimestamp {
        let start = start ?? arrival
        self.start = start
        return start + .ofFrames(frameCount, sampleRate: format.sampleRate)
    }

    private func samples(_ byteCount: Int) -> [Int16] {
        block.withUnsafeBytes { rawFormat.samples(of: UnsafeRawBufferPointer(rebasing: $0[..<byteCount])) }
    }
}
