import LinuxIO
import Media
import MediaPipeline
import RTMP
import StreamLogic
import StreamQuality
import Transport

/// Publishes live media. Runs `StreamSession` on a thread of its own: events in, its actions done.
public final class LivePublisher {
    let settings: PublishSettings
    /// How the stream is now; at the start as the settings say.
    var configuration: LiveConfiguration
    var cameras: CameraSelection
    /// Who waits for the camera that was asked for.
    var cameraAskers: [(name: String, id: CommandID)] = []
    /// What a line has changed beside the camera, whose answer is waited for.
    var answersUnderWay: [CommandID: [String]] = [:]
    var filterChanges: FilterChanges
    let reporter: EventSink
    private let commands: Mailbox<PublisherCommand>
    let reports: Mailbox<TargetReport>
    let trackReports: Mailbox<TrackEvent>
    let network: PublisherNetwork
    let links: (any LinkWatch)?
    let stopTracks: EventFD
    let hub: PacketHub
    let queue: SinkBuffer
    let counters = SharedCounters()
    let control = EncoderRequests()
    let adaptation: StreamAdaptation
    let tracks: MediaTracks
    var session: StreamSession
    var connections: [ConnectionID: RunningConnection] = [:]
    /// Through these nothing gets; the session says when they are aborted.
    var parked: [ConnectionID: RunningConnection] = [:]
    /// The one that media goes to.
    var mediaConnection: ConnectionID?
    /// Where the server asked the stream to move.
    var requestedURL: RTMPURL?
    var statusReporter: StatusReporter
    /// When those who watch get the next snapshot; `nil` when nobody does.
    var nextSnapshot: MediaTimestamp?
    let snapshotInterval: Duration
    /// The one being done stays in front until it is.
    var pendingActions: [StreamSession.Action] = []
    var sessionTimer: MediaTimestamp?
    /// RTMP's time zero: when the first server took the stream.
    var timeZero: MediaTimestamp?
    var deliveredAtLinkLoss = 0
    var ownLink = OwnLink()
    var drops = DropSummary()
    var isOver = false
    var failure: StreamFailure?

    /// - Parameters:
    ///   - isWatched: snapshots are reported, also whenever the stream's state changes, before that is.
    ///   - snapshotInterval: from one to the next.
    public init(
        settings: PublishSettings, commands: Mailbox<PublisherCommand>, network: PublisherNetwork = .ofThisMachine,
        isWatched: Bool = false, snapshotInterval: Duration = .milliseconds(250), reporter: EventSink
    ) throws {
        self.snapshotInterval = snapshotInterval
        var settings = settings
        self.network = network
        self.reporter = reporter
        self.commands = commands
        filterChanges = FilterChanges(filters: settings.media.filters)
        let reports = try Mailbox<TargetReport>()
        self.reports = reports
        trackReports = try Mailbox()
        links = network.watchLinks()
        stopTracks = try EventFD()
        cameras = CameraSelection(settings.media.cameras.map(\.name))
        hub = PacketHub(tracks: settings.media.trackCount) { [control] in control.requestKeyframe() }
        queue = try SinkBuffer(
            of: hub, .target(settings.quality.bufferLimits), hasVideo: !settings.media.video.isNone
        ) { reports.send(.buffer($0)) }
        hub.add(queue, isLeading: true)
        settings.quality.frameSizes = settings.media.frameSizes
        adaptation = StreamAdaptation(settings: settings.quality, control: control, queue: queue, counters: counters)
        // Displays and computers get frames before the stream runs.
        if settings.isPaused { _ = control.setPaused(true) }
        tracks = try MediaTracks(
            settings: &settings.media, point: adaptation.operatingPoint,
            maximum: settings.quality.bitrateRange.maximum, stop: stopTracks, hub: hub,
            counters: counters, control: control, reports: trackReports, console: reporter)
        self.settings = settings
        configuration = LiveConfiguration(settings: settings.quality, dimension: settings.media.dimension)
        configuration.isMuted = settings.isMuted
        control.setMuted(settings.isMuted)
        configuration.settings.sourceFrameRate = tracks.sourceFrameRate
        configuration.settings.frameSizes = settings.media.frameSizes
        if let size = tracks.videoConfiguration?.size {
            adaptation.opened(frameSizes: settings.media.frameSizes, size: size)
        }
        var ofSession = StreamSessionSettings(destination: settings.destination.label)
        ofSession.statusInterval = settings.statusInterval
        ofSession.reconnect.limit = settings.reconnectLimit
        ofSession.attemptTimeout = settings.timeouts.attempt
        session = StreamSession(settings: ofSession, seed: UInt64(bitPattern: MonotonicClock.now().nanoseconds))
        statusReporter = StatusReporter(now: MonotonicClock.now())
        nextSnapshot = isWatched ? MonotonicClock.now() : nil
        adaptation.resizedEncoder = { [unowned self] in reconfiguredEncoder(at: $0) }
        showStatusInFrame()
    }

    /// Returns when the stream is over, and none of its threads runs any more.
    public func run() throws {
        reporter.log("publishing to \(settings.destination.label)")
        if settings.isMuted { tellMuted() }
        startPause()
        perform(session.startRequested(now: MonotonicClock.now()))
        let result = Result { while !isOver { try step() } }
        endThreads()
        tellDrops(now: nil)
        try result.get()
        if let failure { throw failure }
        emitEnd()
    }

    private func endThreads() {
        // What follows takes a moment, and nothing is live any more.
        reporter.show(nil)
        stopTracks.signal()
        let ending = [RunningConnection](connections.values) + [RunningConnection](parked.values)
        for connection in ending { connection.commands.send(.abort) }
        for connection in ending { connection.thread.join() }
        tracks.join()
        takeLastReports()
    }

    private enum Waited: Int {
        case links, reports, trackReports, commands
    }

    /// Waits for the next thing to do and does it.
    private func step() throws {
        var entries = [
            PollEntry(links?.fileDescriptor ?? -1), PollEntry(reports.wakeup.fileDescriptor),
            PollEntry(trackReports.wakeup.fileDescriptor), PollEntry(commands.wakeup.fileDescriptor),
        ]
        let deadlines = [
            sessionTimer, adaptation.nextMeasurement, drops.deadline, nextSnapshot, tracks.microphones.deadline,
        ]
        try poll(&entries, until: deadlines.compactMap { $0 }.min())
        for command in commands.takeAll() { commanded(command) }
        for report in trackReports.takeAll() { trackReported(report) }
        for report in reports.takeAll() { reported(report) }
        if entries[Waited.links].ready.contains(.readable) { linksChanged() }
        if let time = sessionTimer, MonotonicClock.now() >= time {
            sessionTimer = nil
            perform(session.timerFired(now: MonotonicClock.now()))
        }
        reportMicrophoneChanges()
        adapt()
        showStatusInFrame()
        tellDrops(now: MonotonicClock.now())
        showSnapshot()
    }

    private func commanded(_ command: PublisherCommand) {
        switch command {
        case .stop: stop()
        case .apply(let changes, let id): apply(changes, for: id)
        case .filter(let change, let id): filter(change, for: id)
        case .reportStatus(let id): reporter.answer(id, .status(statusReporter.statusNow(snapshot)))
        case .listSettings(let id): listSettings(for: id)
        case .listControls(let id): listControls(for: id)
        case .toggleMute: setMuted(!configuration.isMuted)
        case .pause(let isPaused, let id): setPaused(isPaused, for: id)
        case .togglePause: setPaused(!control.isPaused, for: nil)
        case .loadPauseImage: loadPauseImage()
        case .takeSnapshot(let request): takeSnapshot(request)
        case .watchBrightness(let isWatched): tracks.watchBrightness(isWatched)
        case .switchCamera(let choice, let id): switchCamera(choice, for: id)
        }
    }

    func stop() {
        stopTracks.signal()
        perform(session.stopRequested(now: MonotonicClock.now()))
    }
}
