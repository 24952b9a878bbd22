import DevicePorts
import LinuxIO
import Media
import Synchronization

/// A file's audio, opened and read by a thread of its own. While the disk does not answer, there is silence. Used by the audio
/// thread.
///
/// ```
///           a block is late by `patience`            a block is in time
///  playing ──────────────────────────────▶ silent ─────────────────────▶ playing
///                                          late blocks are dropped
/// ```
public final class ThreadedAudio: AudioSource {
    public enum Event: Hashable, Sendable {
        case interrupted(reason: String)
        case returned(after: Duration)
    }

    /// Opens the audio. The parameter ends its waits when signaled, and is not drained.
    public typealias Opening = @Sendable (EventFD) throws(FileSourceError) -> any AudioSource

    /// How long a disk may take to open a file.
    static let openingTimeout = Duration.seconds(10)
    /// How late a block may be.
    static let patience = Duration.seconds(1)

    public let format: AudioFormat
    public private(set) var endingNote: String?
    private let reader: AudioReader
    private let path: String
    private let stop: EventFD
    private let notify: @Sendable (Event) -> Void
    /// When the reader was asked for the block that it has not given yet.
    private var asked: MediaTimestamp?
    /// Time of the next frame; `nil` before the first one.
    private var expected: MediaTimestamp?
    private var silentSince: MediaTimestamp?

    /// - Parameters:
    ///   - path: of the file. While a thread hangs there, no other one tries it.
    ///   - stop: ends the source when signaled. It is not drained.
    public init(
        _ path: String, stop: EventFD, notify: @escaping @Sendable (Event) -> Void, open: @escaping Opening
    ) throws(FileSourceError) {
        self.path = path
        self.stop = stop
        self.notify = notify
        do throws(SystemCallError) {
            reader = try AudioReader(path, open)
        } catch {
            throw .systemFailed(error)
        }
        format = try reader.waitUntilOpen(stop: stop, until: MonotonicClock.now() + Self.openingTimeout)
    }

    deinit { reader.end(askedSince: asked) }

    public func start(at time: MediaTimestamp) {
        expected = time
        reader.start(at: time)
    }

    public func nextBlock(frameCount wanted: Int) throws -> AudioBlock? {
        while true {
            if asked == nil {
                asked = MonotonicClock.now()
                reader.ask(for: wanted)
            }
            let due = (expected ?? MonotonicClock.now()) + .ofFrames(wanted, sampleRate: format.sampleRate)
            guard try reader.waitForAnswer(stop: stop, until: due + (silentSince == nil ? Self.patience : .zero)) else {
                return nil
            }
            guard let answer = reader.takeAnswer() else { return silence(wanted) }
            asked = nil
            guard let block = try answer.get() else {
                endingNote = reader.endingNote
                return nil
            }
            if !isLate(block) { return given(block) }
        }
    }

    /// Whether there was silence in the block's place. All blocks of a source have the same length.
    private func isLate(_ block: AudioBlock) -> Bool {
        guard silentSince != nil, let expected else { return false }
        return block.captureTime < expected - .milliseconds(1)
    }

    private func given(_ block: AudioBlock) -> AudioBlock {
        if let silentSince { notify(.returned(after: MonotonicClock.now() - silentSince)) }
        silentSince = nil
        let count = block.samples.count / format.channelCount
        expected = block.captureTime + .ofFrames(count, sampleRate: format.sampleRate)
        return block
    }

    private func silence(_ wanted: Int) -> AudioBlock {
        let duration = Duration.ofFrames(wanted, sampleRate: format.sampleRate)
        let time = expected ?? MonotonicClock.now() - duration
        if silentSince == nil {
            silentSince = MonotonicClock.now()
            notify(.interrupted(reason: "\(path) cannot be read: its disk does not answer"))
        }
        expected = time + duration
        return AudioBlock(samples: [Int16](repeating: 0, count: wanted * format.channelCount), captureTime: time)
    }
}

/// The thread of `ThreadedAudio`. Any thread.
private final class AudioReader: Sendable {
    private struct State: Sendable {
        var format: AudioFormat?
        var failure: FileSourceError?
        var start: MediaTimestamp?
        /// The length of the block that the owner waits for.
        var wanted: Int?
        var answer: Result<AudioBlock?, any Error>?
        var endingNote: String?
        /// While the thread has the file.
        var occupancy: NodeOccupancy?
        var isOver = false
    }

    private enum Waited {
        case thread, stop
    }

    private let path: String
    /// Readable when the file is open, or a block was read.
    private let answered: EventFD
    /// Readable when a block is wanted.
    private let asking: EventFD
    private let ending: EventFD
    private let state = Mutex(State())

    init(_ path: String, _ open: @escaping ThreadedAudio.Opening) throws(SystemCallError) {
        self.path = path
        answered = try EventFD()
        asking = try EventFD()
        ending = try EventFD()
        _ = try NamedThread("file-audio", mayBlock: true) { [self] in run(open) }
    }

    // MARK: For the owner

    func waitUntilOpen(stop: EventFD, until deadline: MediaTimestamp) throws(FileSourceError) -> AudioFormat {
        let isWanted = try waitForAnswer(stop: stop, until: deadline)
        let (format, failure) = state.withLock { ($0.format, $0.failure) }
        if let failure { throw failure }
        if isWanted, let format { return format }
        end(askedSince: deadline - ThreadedAudio.openingTimeout)
        throw .unanswered(.blocked(path: path, ThreadedAudio.openingTimeout))
    }

    /// - Returns: false if the owner was asked to stop.
    func waitForAnswer(stop: EventFD, until deadline: MediaTimestamp) throws(FileSourceError) -> Bool {
        var waits: PollSet<Waited> = [.thread: answered.fileDescriptor, .stop: stop.fileDescriptor]
        do throws(SystemCallError) {
            try waits.wait(until: deadline)
        } catch {
            throw .systemFailed(error)
        }
        return !waits.isReady(.stop)
    }

    func start(at time: MediaTimestamp) { state.withLock { $0.start = time } }

    func ask(for count: Int) {
        answered.drain()
        state.withLock { $0.wanted = count }
        asking.signal()
    }

    func takeAnswer() -> Result<AudioBlock?, any Error>? {
        state.withLock { state in
            defer { state.answer = nil }
            return state.answer
        }
    }

    var endingNote: String? { state.withLock { $0.endingNote } }

    /// - Parameter askedSince: when the thread was asked for something that it has not given.
    func end(askedSince: MediaTimestamp?) {
        ending.signal()
        let occupancy = state.withLock { $0.isOver ? nil : $0.occupancy }
        if let askedSince { occupancy?.abandon(since: askedSince) }
    }

    // MARK: On the thread

    private func run(_ open: ThreadedAudio.Opening) {
        do throws(FileSourceError) {
            try serve(open)
        } catch {
            state.withLock { state in
                state.failure = error
                state.answer = .failure(error)
            }
        }
        let occupancy = state.withLock { state in
            state.isOver = true
            return state.occupancy
        }
        occupancy?.end()
        answered.signal()
    }

    /// The file is closed when this returns.
    private func serve(_ open: ThreadedAudio.Opening) throws(FileSourceError) {
        let occupancy: NodeOccupancy
        do throws(NodeOccupancyError) {
            occupancy = try NodeOccupancy(at: path)
        } catch {
            throw .unanswered(error)
        }
        state.withLock { $0.occupancy = occupancy }
        let source = try open(ending)
        state.withLock { $0.format = source.format }
        answered.signal()
        var hasStarted = false
        while let (wanted, start) = try waitForRequest() {
            if let start, !hasStarted { source.start(at: start) }
            hasStarted = true
            let answer = Result { try source.nextBlock(frameCount: wanted) }
            let note = source.endingNote
            state.withLock { state in
                state.answer = answer
                state.endingNote = note
            }
            answered.signal()
        }
    }

    /// - Returns: `nil` if the file should be closed.
    private func waitForRequest() throws(FileSourceError) -> (count: Int, start: MediaTimestamp?)? {
        var waits: PollSet<Waited> = [.thread: asking.fileDescriptor, .stop: ending.fileDescriptor]
        while true {
            do throws(SystemCallError) {
                try waits.wait(until: nil)
            } catch {
                throw .systemFailed(error)
            }
            if waits.isReady(.stop) { return nil }
            asking.drain()
            let (wanted, start) = state.withLock { state in
                defer { state.wanted = nil }
                return (state.wanted, state.start)
            }
            if let wanted { return (wanted, start) }
        }
    }
}
