import DevicePorts
import LinuxIO
import Media

/// Raw samples from a file, paced by its rate, or from a pipe, paced by its writer, mixed to stereo where there are more
/// than two channels. While a pipe gives nothing, it is silence.
public final class RawAudioInput: AudioSource {
    public let format: AudioFormat
    private let rawFormat: RawAudioFormat
    public private(set) var endingNote: String?
    private let input: RawInput
    private let pacing: Pacing
    private var block: [UInt8] = []
    private var start: MediaTimestamp?
    private var frameCount = 0
    private var hasEnded = false
    /// Whether a pipe's first samples are waited for, however long that takes.
    private let waitsForWriter: Bool
    /// From when on a pipe counts as silent.
    private var silenceTime: MediaTimestamp?

    /// A pipe may be late by so much before silence is given: writers do not come evenly.
    static let patience = Duration.milliseconds(200)

    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - waitsForWriter: whether a pipe's first samples are waited for; else it is silent until they come.
    ///   - stop: once signalled, the source ends at once. It is not drained.
    public init(
        path: String, format: RawAudioFormat, waitsForWriter: Bool = true, stop: EventFD
    ) throws(SourceError) {
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
        var count = block.count
        var arrival: MediaTimestamp
        switch try block.withUnsafeMutableBytes({ try input.read(into: $0, until: silenceTime) }) {
        case .stopped: return nil
        case .late: return silence(frameCount: wanted)
        case .whole(let time):
            arrival = time
            if !input.isRegularFile { silenceTime = MonotonicClock.now() + Self.patience }
        case .ended(let byteCount, let time):
            hasEnded = true
            arrival = time
            count = byteCount / bytesPerFrame * bytesPerFrame
            guard frameCount > 0 || count > 0 else {
                throw SourceError.tooShort(path: input.path, byteCount: byteCount, needed: bytesPerFrame)
            }
            endingNote =
                "\(input.path) ended after \(frameCount + count / bytesPerFrame) samples"
                + (byteCount > count
                    ? "; \(byteCount - count) of \(bytesPerFrame) bytes of another one are left out" : "")
            if count == 0 { return nil }
        }
        let time = input.isRegularFile ? scheduledTime(arrival) : arrival
        frameCount += count / bytesPerFrame
        // A file's block is there when its last sample would have been taken.
        if input.isRegularFile, try !pacing.wait(until: scheduledTime(arrival)) { return nil }
        return AudioBlock(samples: samples(count), captureTime: time)
    }

    private func silence(frameCount: Int) -> AudioBlock? {
        guard let time = silenceTime else { return nil }
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
