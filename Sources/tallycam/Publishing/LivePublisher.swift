import DevicePorts
import Glibc
import LinuxIO
import Media
import RTMP
import StreamQuality
import Transport

/// Publishes live media: owns the threads and, on the main thread, what the stream is doing.
final class LivePublisher {
    private let options: PublishOptions
    private let console: Console
    private let signals: SignalFD
    private let reports: Mailbox<NetworkReport>
    private let trackReports: Mailbox<TrackReport>
    private let stop: EventFD
    private let queue: MediaQueue
    private let counters = SharedCounters()
    private let keyFrameRequested = Flag()
    private var statusReporter: StatusReporter
    private var tracks: MediaTracks
    private var state = "connecting"
    private var begin: MediaTimestamp?
    private var failure: CommandFailure?

    init(options: PublishOptions, console: Console) throws {
        self.options = options
        self.console = console
        signals = try SignalFD([SIGINT, SIGTERM])
        reports = try Mailbox()
        trackReports = try Mailbox()
        stop = try EventFD()
        tracks = try MediaTracks(options: options, stop: stop, console: console)
        queue = try MediaQueue(limits: SendBufferLimits(), tracks: tracks.count)
        statusReporter = StatusReporter(options: options, now: MonotonicClock.now())
    }

    func run() throws -> ExitStatus {
        console.emit(
            Event(
                "connecting", text: "connecting to \(options.url)",
                ["target": .text("\(options.url)"), "state": .text("connecting")]))
        let configuration = PublishConfiguration(
            url: options.url, encoderName: "Tallycam/\(version)", randomBytes: try randomBytes(count: 1528),
            metadata: tracks.metadata)
        let network = try startNetwork(configuration)
        while try step() {}
        stop.signal()
        network.join()
        tracks.join()
        console.show(view: [])
        if let failure { throw failure }
        emitEnd()
        return .success
    }

    private func startNetwork(_ configuration: PublishConfiguration) throws -> NamedThread {
        let (queue, counters, reports, stop) = (queue, counters, reports, stop)
        return try NamedThread("network") {
            NetworkThread(
                configuration: configuration, queue: queue, counters: counters, reports: reports, stop: stop
            ).run()
        }
    }

    /// Waits for the next thing to do and does it.
    /// - Returns: false when the stream is over.
    private func step() throws -> Bool {
        var entries = [
            PollEntry(signals.fileDescriptor), PollEntry(reports.wakeup.fileDescriptor),
            PollEntry(trackReports.wakeup.fileDescriptor),
        ]
        try poll(&entries, until: statusReporter.nextTime(withView: console.hasTerminal))
        while let signal = signals.next() {
            console.log(signal == SIGINT ? "interrupted: ending the stream" : "terminated: ending the stream")
            state = "ending"
            stop.signal()
        }
        for report in trackReports.takeAll() { trackReported(report) }
        var goesOn = true
        for report in reports.takeAll() where try !networkReported(report) { goesOn = false }
        reportStatus()
        return goesOn
    }

    private func networkReported(_ report: NetworkReport) throws -> Bool {
        switch report {
        case .connected(let peer):
            console.emit(
                Event("connected", code: 1001, text: "connected to \(peer)", ["peer": .text(peer)]))
        case .publishingStarted(let begin):
            self.begin = begin
            state = "live"
            console.emit(
                Event(
                    "publishing", code: 1002, text: "live at \(options.url)",
                    ["state": .text("connected"), "target": .text("\(options.url)")]))
            try startTracks(from: begin)
        case .buffer(let events): bufferReported(events)
        case .stopped: return false
        case .failed(let failure):
            self.failure = self.failure ?? failure
            return false
        }
        return true
    }

    private func startTracks(from begin: MediaTimestamp) throws {
        let end = options.duration.map { begin + $0 }
        try tracks.start(
            until: end, queue: queue, counters: counters, keyFrameRequested: keyFrameRequested, reports: trackReports)
    }

    private func trackReported(_ report: TrackReport) {
        switch report {
        case .ended(let track, let note):
            queue.trackEnded()
            if let note { console.emit(Event("sourceEnded", text: note, ["track": .text(track)])) }
        case .warning(let text): console.log("warning: \(text)")
        case .buffer(let events): bufferReported(events)
        case .failed(let failure):
            self.failure = self.failure ?? failure
            stop.signal()
        }
    }

    private func bufferReported(_ events: [SendBufferEvent]) {
        for event in events {
            if case .droppedItems(let items) = event {
                let frames = items.count { $0.kind.isVideo }
                counters.update {
                    $0.droppedFrames += frames
                    $0.droppedAudioUnits += items.count - frames
                }
            }
            if case .keyFrameNeeded = event { keyFrameRequested.raise() }
            for event in Event.ofSendBuffer(event, since: begin) { console.emit(event) }
        }
    }

    private func reportStatus() {
        let now = MonotonicClock.now()
        statusReporter.measure(counters.snapshot, buffered: queue.duration, now: now)
        if begin != nil, let status = statusReporter.dueStatus(now: now, encoder: tracks.encoderName) {
            console.emit(status)
        }
        if console.hasTerminal, let view = statusReporter.dueView(state: state, since: begin, now: now) {
            console.show(view: view)
        }
    }

    private func emitEnd() {
        let sent = counters.snapshot
        let seconds = tracks.audioSeconds(units: sent.sentAudioUnits)
        let elapsed = begin.map { (MonotonicClock.now() - $0).inSeconds } ?? 0
        console.emit(
            Event(
                "ended",
                text: "ended: \(sent.sentFrames) pictures and \(fixed(seconds, decimals: 1)) s of audio sent, "
                    + "\(sent.skippedFrames) pictures skipped by the encoder, \(sent.droppedFrames) dropped",
                [
                    "state": .text("disconnected"), "seconds": .number(elapsed),
                    "videoFrames": .integer(sent.sentFrames), "videoSkipped": .integer(sent.skippedFrames),
                    "videoDropped": .integer(sent.droppedFrames), "videoBytes": .integer(sent.sentVideoBytes),
                    "audioUnits": .integer(sent.sentAudioUnits), "audioBytes": .integer(sent.sentAudioBytes),
                    "audioSeconds": .number(seconds),
                ]))
    }
}
