import ApplianceLogic
import DevicePorts
import Glibc
import LinuxIO
import Media
import RTMP
import StreamQuality
import Transport

/// Publishes live media. Runs `StreamSession` on the main thread: events in, its actions done.
final class LivePublisher {
    let options: PublishOptions
    /// How the stream is now; at the begin as the options say.
    var configuration: LiveConfiguration
    private var transaction = ConfigurationTransaction()
    /// Standard input, where commands may come; `nil` where they cannot.
    let commandInput: CommandInput?
    let console: Console
    /// `nil` where somebody else takes the signals.
    private let signals: SignalFD?
    private let remote: PublisherRemote?
    let reports: Mailbox<ConnectionReport>
    let trackReports: Mailbox<TrackReport>
    let links: LinkMonitor?
    let stopTracks: EventFD
    let queue: MediaQueue
    let counters = SharedCounters()
    let control = EncoderControl()
    let adaptation: StreamAdaptation
    let tracks: MediaTracks
    var session: StreamSession
    var connections: [ConnectionID: RunningConnection] = [:]
    /// Through these nothing gets; they are aborted when the server can be reached again.
    var stalled: [RunningConnection] = []
    /// The one that media goes to.
    var mediaConnection: ConnectionID?
    /// Where the server asked the stream to move.
    var requestedURL: RTMPURL?
    var statusReporter: StatusReporter
    /// The one being done stays in front until it is.
    var pendingActions: [StreamSession.Action] = []
    var sessionTimer: MediaTimestamp?
    /// RTMP's time zero: when the first server took the stream.
    var timeZero: MediaTimestamp?
    var deliveredAtLinkLoss = 0
    var ownLink = OwnLink()
    var drops = DropSummary()
    var isOver = false
    var failure: CommandFailure?

    /// - Parameter remote: ends the stream; `nil` to end it by SIGINT and SIGTERM.
    init(options: PublishOptions, console: Console, remote: PublisherRemote? = nil) throws {
        var options = options
        self.console = console
        self.remote = remote
        commandInput = remote == nil ? CommandInput(options, editsLines: console.hasTerminal) : nil
        options.media.isQualityChangeable = remote != nil || commandInput != nil
        signals = remote == nil ? try SignalFD([SIGINT, SIGTERM, SIGUSR1]) : nil
        reports = try Mailbox()
        trackReports = try Mailbox()
        // Without netlink (a sandbox) a lost link is noticed by TCP, seconds later.
        links = try? LinkMonitor()
        stopTracks = try EventFD()
        queue = try MediaQueue(
            limits: options.quality.bufferLimits, tracks: options.media.trackCount,
            hasVideo: options.media.video != .none)
        adaptation = StreamAdaptation(settings: options.quality, control: control, queue: queue, counters: counters)
        tracks = try MediaTracks(
            options: &options.media, point: adaptation.operatingPoint,
            maximum: options.quality.bitrateRange.maximum, stop: stopTracks, queue: queue,
            counters: counters, control: control, reports: trackReports, console: console)
        self.options = options
        configuration = LiveConfiguration(settings: options.quality, dimension: options.media.dimension)
        configuration.settings.sourceFrameRate = tracks.sourceFrameRate
        var settings = StreamSessionSettings()
        settings.statusInterval = options.statusInterval
        settings.reconnect.limit = options.reconnectLimit
        settings.attemptLimit = options.limits.attempt
        session = StreamSession(settings: settings, seed: UInt64(bitPattern: MonotonicClock.now().nanoseconds))
        statusReporter = StatusReporter(options: options, now: MonotonicClock.now())
    }

    func run() throws -> ExitStatus {
        defer { commandInput?.restoreTerminal() }
        console.log("publishing to \(options.destination.label)")
        perform(session.startRequested(now: MonotonicClock.now()))
        while !isOver { try step() }
        // What follows takes a moment, and nothing is live any more.
        console.show(view: [])
        stopTracks.signal()
        for connection in connections.values { connection.commands.send(.abort) }
        for connection in connections.values { connection.thread.join() }
        abortStalled()
        tracks.join()
        takeLastDrops()
        tellDrops(now: nil)
        if let failure { throw failure }
        emitEnd()
        return .success
    }

    /// Waits for the next thing to do and does it.
    private func step() throws {
        var entries = [
            PollEntry(signals?.fileDescriptor ?? -1), PollEntry(reports.wakeup.fileDescriptor),
            PollEntry(trackReports.wakeup.fileDescriptor), PollEntry(links?.fileDescriptor ?? -1),
            PollEntry(remote?.wakeup.fileDescriptor ?? -1), PollEntry(commandInput?.fileDescriptor ?? -1),
        ]
        let deadlines = [
            sessionTimer, adaptation.nextMeasurement, drops.deadline,
            console.hasTerminal ? statusReporter.nextViewTime : nil,
        ]
        try poll(&entries, until: deadlines.compactMap { $0 }.min())
        if let remote, remote.turn() { stop() }
        for line in remote?.takeCommands() ?? [] { commanded(line) }
        if !entries[5].ready.isEmpty {
            for line in commandInput?.takeLines() ?? [] { commanded(line) }
            statusReporter.viewExpired(now: MonotonicClock.now())
        }
        while let signal = signals?.next() {
            signalled(signal)
        }
        for report in trackReports.takeAll() { trackReported(report) }
        for report in reports.takeAll() { connectionReported(report) }
        if entries[3].ready.contains(.readable) { linksChanged() }
        if let time = sessionTimer, MonotonicClock.now() >= time {
            sessionTimer = nil
            perform(session.timerFired(now: MonotonicClock.now()))
        }
        adapt()
        tellDrops(now: MonotonicClock.now())
        showView()
    }

    private func signalled(_ signal: Int32) {
        guard signal != SIGUSR1 else {
            setMuted(!configuration.isMuted)
            return
        }
        console.log(signal == SIGINT ? "interrupted: ending the stream" : "terminated: ending the stream")
        stop()
    }

    func stop() {
        stopTracks.signal()
        perform(session.stopRequested(now: MonotonicClock.now()))
    }

    private func commanded(_ line: String) {
        switch transaction.lineReceived(line, present: configuration) {
        case nil: break
        case .answer(let lines): for line in lines { console.note(line) }
        case .refuse(let reason): refuse(reason)
        case .apply(let wanted): reconfigure(to: wanted)
        case .endStream:
            console.log("asked to stop: ending the stream")
            stop()
        }
    }
}
