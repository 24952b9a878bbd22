import Bitstream
import DevicePorts
import LinuxIO
import Media

/// The audio of an MP4 file, decoded and played at its own times, once or in a loop. Silent where the movie has no audio. Used
/// from one thread, which may wait for the disk.
public final class MovieAudio: AudioSource {
    public let format: AudioFormat
    public private(set) var endingNote: String?
    private let file: MovieFile
    private let track: MP4Track
    private let configuration: [UInt8]
    private let loops: Bool
    private let clock: MovieClock
    private let stop: EventFD
    private var start: MediaTimestamp?
    private var decoder: AACDecoder
    private var samples: MP4SampleTable.Iterator
    /// Decoded but not delivered, interleaved.
    private var pending: [Int16] = []
    /// Frames produced (including `pending`) and delivered, counted from the start.
    private var producedCount = 0
    private var givenCount = 0
    /// Frames to decode but not play.
    private var skipCount = 0
    /// Silence continues up to this frame; then the held block follows.
    private var silenceEnd = 0
    private var held: AACDecoder.Block?
    private var round = 0
    private var isComplete = false

    /// - Parameters:
    ///   - clock: also followed by the movie's video.
    ///   - loops: whether the movie restarts at its end.
    ///   - stop: ends the source when signaled. It is not drained.
    public init(_ path: String, clock: MovieClock, loops: Bool, stop: EventFD) throws(FileSourceError) {
        self.clock = clock
        self.loops = loops
        self.stop = stop
        file = try MovieFile(path)
        guard let track = file.movie.audio, case .aac(_, let configuration) = track.description else {
            throw .noTrack(path: path, .audio, found: file.movie.otherAudio)
        }
        self.track = track
        self.configuration = configuration
        samples = track.samples.makeIterator()
        let first = try Self.firstBlock(file, track, configuration)
        format = AudioFormat(sampleRate: first.sampleRate, channelCount: first.channelCount)
        decoder = try AACDecoder(configuration)
        firstDelay = first.delay
        startRound()
    }

    /// The decoder's delay at its start.
    private let firstDelay: Int

    /// Decodes the first packets, which show the actual format.
    private static func firstBlock(
        _ file: MovieFile, _ track: MP4Track, _ configuration: [UInt8]
    ) throws(FileSourceError) -> AACDecoder.Block {
        let decoder: AACDecoder
        do {
            decoder = try AACDecoder(configuration)
        } catch {
            throw .unsupportedAudio(path: file.path, reason: "\(error)")
        }
        let attempts = 10
        for sample in track.samples.prefix(attempts) {
            let bytes = try file.bytes(of: sample)
            guard let block = decoder.decode(bytes), block.channelCount <= 2 else { continue }
            return block
        }
        throw .unsupportedAudio(
            path: file.path, reason: "its first packets are damaged, or an unknown kind of AAC")
    }

    public func start(at time: MediaTimestamp) { start = clock.start(at: time) }

    public func nextBlock(frameCount wanted: Int) throws -> AudioBlock? {
        while pending.count < wanted * format.channelCount, !isComplete {
            // Any number of damaged packets may yield no audio.
            if case .stopped = try FileWait(stop).wait(until: MonotonicClock.now(), orUntil: nil) { return nil }
            try produce()
        }
        let start = start ?? clock.start(at: MonotonicClock.now())
        self.start = start
        let count = min(wanted, pending.count / format.channelCount)
        guard count > 0 else {
            endingNote = "\(file.path) ended after \(givenCount) samples"
            return nil
        }
        let time = start + .ofFrames(givenCount, sampleRate: format.sampleRate)
        givenCount += count
        let end = start + .ofFrames(givenCount, sampleRate: format.sampleRate)
        // A block is due when its last sample would have been captured.
        guard case .reached = try FileWait(stop).wait(until: end, orUntil: nil) else { return nil }
        defer { pending.removeFirst(count * format.channelCount) }
        return AudioBlock(samples: Array(pending[..<(count * format.channelCount)]), captureTime: time)
    }

    /// Decodes one packet, adds up to one second of silence, or starts the next round.
    private func produce() throws(FileSourceError) {
        if producedCount < silenceEnd { return appendSilence() }
        if let block = held {
            held = nil
            return append(block)
        }
        guard producedCount < frame(at: track.end), let sample = samples.next() else { return try endRound() }
        let bytes = try file.bytes(of: sample)
        // A packet that cannot be decoded becomes silence; the next packet shows how long.
        guard let block = decoder.decode(bytes), block.sampleRate == format.sampleRate,
            block.channelCount == format.channelCount
        else { return }
        held = block
        let place = frame(at: track.time(of: sample))
        if place - producedCount > format.sampleRate / 20, skipCount == 0 {
            silenceEnd = min(place, frame(at: track.end))
        }
    }

    private func append(_ block: AACDecoder.Block) {
        let skipped = min(skipCount, block.frameCount)
        skipCount -= skipped
        let taken = max(0, min(block.frameCount - skipped, frame(at: track.end) - producedCount))
        let channels = format.channelCount
        pending += block.samples[skipped * channels..<(skipped + taken) * channels]
        producedCount += taken
    }

    private func endRound() throws(FileSourceError) {
        silenceEnd = frame(at: file.movie.duration)
        guard producedCount >= silenceEnd else { return }
        guard loops else {
            isComplete = true
            return
        }
        round += 1
        decoder = try AACDecoder(configuration)
        samples = track.samples.makeIterator()
        startRound()
    }

    private func startRound() {
        silenceEnd = frame(at: track.start)
        let scaled = track.firstTime.multipliedReportingOverflow(by: Int64(format.sampleRate))
        let first = scaled.overflow ? 0 : scaled.partialValue / Int64(track.timescale)
        // An edit may start at any number that the file format can express.
        skipCount = Int(clamping: min(first, .max / 2)) + firstDelay
    }

    /// The number of the frame at a time of the present round.
    private func frame(at time: Duration) -> Int {
        let total = (file.movie.duration * round + time).wholeNanoseconds
        let (seconds, rest) = total.quotientAndRemainder(dividingBy: 1_000_000_000)
        return Int(seconds) * format.sampleRate + Int(rest) * format.sampleRate / 1_000_000_000
    }

    private func appendSilence() {
        let count = min(silenceEnd - producedCount, format.sampleRate)
        pending += [Int16](repeating: 0, count: count * format.channelCount)
        producedCount += count
    }
}
