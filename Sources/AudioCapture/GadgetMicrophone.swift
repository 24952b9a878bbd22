import DevicePorts
import LinuxIO
import Media
import Synchronization

/// The microphone that a computer records from. Has its own thread, which is idle until a program on the computer records.
public final class GadgetMicrophone: AudioSink {
    typealias OpenCard = @Sendable () throws(MicrophoneError) -> any GadgetCard

    private let inbox: Inbox

    /// - Parameters:
    ///   - recorded: called on the thread `webcam-audio` with whether a program on the computer is recording.
    ///   - failed: called once, on the same thread, with the reason why recording is impossible.
    public convenience init(
        recorded: @escaping @Sendable (Bool) -> Void, failed: @escaping @Sendable (MicrophoneError) -> Void
    ) throws(SystemCallError) {
        try self.init(
            open: { () throws(MicrophoneError) -> any GadgetCard in try GadgetPCM() }, recorded: recorded,
            failed: failed)
    }

    init(
        open: @escaping OpenCard, recorded: @escaping @Sendable (Bool) -> Void,
        failed: @escaping @Sendable (MicrophoneError) -> Void
    ) throws(SystemCallError) {
        let inbox = try Inbox()
        self.inbox = inbox
        _ = try NamedThread("webcam-audio", mayBlock: true) {
            GadgetMicrophoneThread(inbox, open: open, recorded: recorded, failed: failed).run()
            inbox.ended.signal()
        }
    }

    public func offer(_ block: AudioBlock, format: AudioFormat) { inbox.offer(block, format) }

    /// Whether a program on the computer is recording.
    public var wantsAudio: Bool { inbox.isWanted }

    /// Limits the wait for a driver that does not release the card.
    private static let endTimeout = Duration.milliseconds(500)

    /// Closes the card before it returns: the kernel cannot remove a gadget whose card is open.
    public func end() {
        inbox.end()
        var entries = [PollEntry(inbox.ended.fileDescriptor)]
        _ = try? poll(&entries, until: MonotonicClock.now() + Self.endTimeout)
    }

    /// The last owner, which may be a stream's thread, does not wait.
    deinit { inbox.end() }

    /// Passes audio from other threads to this one.
    final class Inbox: Sendable {
        private struct Inner {
            var blocks: [(AudioBlock, AudioFormat)] = []
            var isWanted = false
            var isEnding = false
        }

        /// More blocks accumulate only if the thread hangs.
        private static let largestCount = 32
        let wake: EventFD
        /// Signaled after the thread has closed the card.
        let ended: EventFD
        private let inner = Mutex(Inner())

        init() throws(SystemCallError) {
            wake = try EventFD()
            ended = try EventFD()
        }

        func offer(_ block: AudioBlock, _ format: AudioFormat) {
            let isTaken = inner.withLock { inner in
                guard inner.isWanted, inner.blocks.count < Self.largestCount else { return false }
                inner.blocks.append((block, format))
                return true
            }
            if isTaken { wake.signal() }
        }

        func end() {
            inner.withLock { $0.isEnding = true }
            wake.signal()
        }

        var isEnding: Bool { inner.withLock { $0.isEnding } }
        var isWanted: Bool { inner.withLock { $0.isWanted } }

        func wants(_ isWanted: Bool) {
            inner.withLock { inner in
                inner.isWanted = isWanted
                inner.blocks = []
            }
        }

        func takeAll() -> [(AudioBlock, AudioFormat)] {
            inner.withLock { inner in
                defer { inner.blocks = [] }
                return inner.blocks
            }
        }
    }
}

/// The body of the thread `webcam-audio`.
final class GadgetMicrophoneThread {
    /// Silence is played when there is no audio, because the card must not run empty.
    private static let silence = Duration.milliseconds(20)
    /// How often the card is checked.
    private static let interval = Duration.milliseconds(10)
    /// The same while the computer takes no audio.
    private static let stallInterval = Duration.milliseconds(100)
    /// A computer that has just found the microphone probes it briefly. This does not count as recording.
    private static let probeTime = Duration.milliseconds(300)
    private static let shortestPause = Duration.seconds(2)
    private static let longestPause = Duration.seconds(60)

    private let inbox: GadgetMicrophone.Inbox
    private let open: GadgetMicrophone.OpenCard
    private let report: (Bool) -> Void
    private let failed: (MicrophoneError) -> Void
    private var lastFailure: MicrophoneError?
    private var resampler: (Resampler, AudioFormat)?
    private var balance = PlaybackBalance()
    private var isRecorded = false
    /// When the computer asked for audio (silence at first), and whether it takes any.
    private var use: (start: MediaTimestamp, watch: PlaybackWatch)?

    init(
        _ inbox: GadgetMicrophone.Inbox, open: @escaping GadgetMicrophone.OpenCard,
        recorded: @escaping (Bool) -> Void, failed: @escaping (MicrophoneError) -> Void
    ) {
        self.inbox = inbox
        self.open = open
        report = recorded
        self.failed = failed
    }

    func run() {
        var pause = Self.shortestPause
        while !inbox.isEnding {
            do throws(MicrophoneError) {
                let pcm = try open()
                lastFailure = nil
                pause = Self.shortestPause
                while !inbox.isEnding { try step(pcm) }
            } catch {
                use = nil
                recorded(false)
                // The card disappears together with the gadget.
                if error != lastFailure, !inbox.isEnding { failed(error) }
                lastFailure = error
                wait(until: MonotonicClock.now() + pause)
                pause = min(pause * 2, Self.longestPause)
            }
        }
        recorded(false)
    }

    private func wait(until time: MediaTimestamp) {
        while !inbox.isEnding, MonotonicClock.now() < time {
            var entries = [PollEntry(inbox.wake.fileDescriptor)]
            guard (try? poll(&entries, until: time)) != nil else { return }
            inbox.wake.drain()
        }
    }

    private func recorded(_ isRecorded: Bool) {
        guard isRecorded != self.isRecorded else { return }
        self.isRecorded = isRecorded
        inbox.wants(isRecorded)
        report(isRecorded)
    }

    private enum Waited {
        case wake, events
    }

    private func step(_ pcm: any GadgetCard) throws(MicrophoneError) {
        var waits: PollSet<Waited> = [.wake: inbox.wake.fileDescriptor, .events: pcm.eventDescriptor]
        let pause = use?.watch.isStalled == true ? Self.stallInterval : Self.interval
        _ = try? waits.wait(until: use == nil ? nil : MonotonicClock.now() + pause)
        if waits.isReady(.wake) { inbox.wake.drain() }
        if waits.isReady(.events) { pcm.takeEvents() }
        guard pcm.isRecorded else {
            use = nil
            return recorded(false)
        }
        recorded(try isTaken(pcm, now: MonotonicClock.now()))
        for (block, format) in inbox.takeAll() { try play(block, format, on: pcm) }
        if pcm.fill < Self.silence { try write(Self.samples(of: Self.silence), to: pcm) }
        use?.watch.written(fill: pcm.fill)
    }

    /// The computer says that it is recording. Only after it has taken audio for some time is a program really recording, and
    /// the computer awake.
    private func isTaken(_ pcm: any GadgetCard, now: MediaTimestamp) throws(MicrophoneError) -> Bool {
        if use == nil {
            try start(pcm)
            use = (now, PlaybackWatch(fill: pcm.fill, now: now))
        }
        use?.watch.looked(fill: pcm.fill, now: now)
        return use.map { now - $0.start >= Self.probeTime && !$0.watch.isStalled } ?? false
    }

    private func start(_ pcm: any GadgetCard) throws(MicrophoneError) {
        balance = PlaybackBalance()
        resampler = nil
        try pcm.restart()
        pcm.setPitch(partsPerMillion: 0)
        _ = try pcm.write(Self.samples(of: PlaybackBalance.smallestFill))
    }

    private static func samples(of duration: Duration) -> [Int16] {
        let frames = Int(duration.inSeconds * Double(GadgetPCM.sampleRate))
        return [Int16](repeating: 0, count: 2 * frames)
    }

    private func play(_ block: AudioBlock, _ format: AudioFormat, on pcm: any GadgetCard) throws(MicrophoneError) {
        let frameCount = block.samples.count / max(1, format.channelCount)
        let length = Duration.seconds(Double(frameCount) / Double(max(1, format.sampleRate)))
        let wanted = PlaybackBalance.wantedFill(ofBlocks: length)
        // A block this late would delay all later audio.
        guard pcm.fill + length <= PlaybackBalance.largestFill else { return }
        try write(stereo(try resampled(block.samples, format), format), to: pcm)
        let correction = balance.written(fill: pcm.fill, wanted: wanted, now: MonotonicClock.now())
        if let correction { pcm.setPitch(partsPerMillion: correction) }
    }

    private func write(_ samples: [Int16], to pcm: any GadgetCard) throws(MicrophoneError) {
        guard try !pcm.write(samples) else { return }
        try start(pcm)
        _ = try pcm.write(samples)
    }

    private func resampled(_ samples: [Int16], _ format: AudioFormat) throws(MicrophoneError) -> [Int16] {
        guard format.sampleRate != GadgetPCM.sampleRate else { return samples }
        if resampler?.1 != format {
            resampler = (
                try Resampler(
                    from: format.sampleRate, to: GadgetPCM.sampleRate, channelCount: format.channelCount), format
            )
        }
        var output: [Int16] = []
        try resampler?.0.process(samples, to: &output)
        return output
    }

    private func stereo(_ samples: [Int16], _ format: AudioFormat) -> [Int16] {
        format.channelCount == 1 ? samples.flatMap { [$0, $0] } : samples
    }
}
