import Encoding
import LinuxIO
import Media
import MediaPipeline
import RTMP
import StreamLogic
import StreamQuality
import Transport

/// A live stream on its own thread, `stream`: its content (tracks, quality, cameras, filters, controls), and the targets that
/// carry it to servers.
///
/// The quality follows the leading target, the first one that is not over. The others get the same packets and drop those that
/// do not fit their links.
public final class LiveStream {
    let settings: PublishSettings
    /// The stream's present configuration, initially that of the settings.
    var configuration: LiveConfiguration
    var cameras: CameraSelection
    /// Askers that wait for a requested camera.
    var cameraAskers: [(name: String, id: CommandID)] = []
    var filterChanges: FilterChanges
    let reporter: EventSink
    private let commands: Mailbox<PublisherCommand>
    let reports: Mailbox<TargetReport>
    let trackReports: Mailbox<TrackEvent>
    let links: (any LinkWatch)?
    let stopTracks: EventFD
    let hub: PacketHub
    let counters = SharedCounters()
    let control = EncoderRequests()
    let adaptation: StreamAdaptation
    let tracks: MediaTracks
    /// In the order of the settings; also those that are over or off.
    var targets: [PublishTarget]
    /// `nil` for a stream without servers.
    var leading: PublishTarget?
    /// When the archive learns what servers have.
    var nextDelivery: MediaTimestamp?
    /// A failed target is tried again after this time, as long as another one goes on.
    static let retryInterval = Duration.seconds(15)
    /// Whether the tracks were released.
    var hasStarted = false
    /// When observers get the next snapshot; `nil` without observers.
    var nextSnapshot: MediaTimestamp?
    let snapshotInterval: Duration
    /// The tracks' failure; each target has its own.
    var failure: StreamFailure?

    /// - Parameters:
    ///   - isWatched: whether to report snapshots, also before each change of the stream's state.
    ///   - snapshotInterval: time between two snapshots.
    public init(
        settings: PublishSettings, commands: Mailbox<PublisherCommand>, network: PublisherNetwork = .ofThisMachine,
        isWatched: Bool = false, snapshotInterval: Duration = .milliseconds(250), reporter: EventSink
    ) throws {
        self.snapshotInterval = snapshotInterval
        var settings = settings
        self.reporter = reporter
        self.commands = commands
        filterChanges = FilterChanges(filters: settings.media.filters)
        reports = try Mailbox()
        trackReports = try Mailbox()
        links = network.watchLinks()
        stopTracks = try EventFD()
        cameras = CameraSelection(settings.media.cameras.map(\.name))
        hub = PacketHub(tracks: settings.media.trackCount) { [control] in control.requestKeyframe() }
        settings.quality.frameSizes = settings.media.frameSizes
        let surroundings = PublishTarget.Surroundings(
            settings: settings, network: network, hub: hub, reports: reports, reporter: reporter)
        targets = try PublishTarget.all(in: surroundings)
        leading = targets.first
        adaptation = StreamAdaptation(
            settings: settings.quality, control: control, queue: leading?.buffer, counters: counters)
        // Displays and computers get frames before the stream runs.
        if settings.isPaused { _ = control.setPaused(true) }
        let context = StreamContext(
            hub: hub, counters: counters, requests: control, reports: trackReports, stop: stopTracks, reporter: reporter
        )
        let (point, maximum) = (adaptation.operatingPoint, settings.quality.bitrateRange.maximum)
        tracks = try Self.connect(targets) {
            try MediaTracks(settings: &settings.media, point: point, maximum: maximum, context: context)
        }
        self.settings = settings
        configuration = LiveConfiguration(settings: settings.quality, dimension: settings.media.dimension)
        nextSnapshot = isWatched ? MonotonicClock.now() : nil
        configure()
    }

    /// Connects to servers while sources and encoders open; the handshake waits for them. No nonce is used before that, because
    /// each costs a write to the card, and a camera may be missing for days.
    private static func connect<Value>(_ targets: [PublishTarget], while open: () throws -> Value) rethrows -> Value {
        for target in targets where !target.isOff && !target.destination.usesNonces { target.start() }
        do {
            return try open()
        } catch {
            for target in targets { target.giveUp() }
            throw error
        }
    }

    private func configure() {
        configuration.isMuted = settings.isMuted
        control.setMuted(settings.isMuted)
        configuration.settings.sourceFrameRate = tracks.sourceFrameRate
        configuration.settings.frameSizes = settings.media.frameSizes
        if let size = tracks.videoConfiguration?.size {
            adaptation.opened(frameSizes: settings.media.frameSizes, size: size)
        }
        adaptation.resizedEncoder = { [unowned self] in reconfiguredEncoder(at: $0) }
        for target in targets {
            target.owner = self
            if target.isOff { continue }
            if target.isOver {
                // It ended before it had an owner.
                happened(.over, to: target)
            } else if target.destination.usesNonces {
                target.start()
            } else {
                target.sourcesOpened()
            }
        }
        // Servers expect headers before media.
        if let header = tracks.audioHeader { hub.append([header]) }
        openSinks()
        showStatusInFrame()
    }

    /// When its media starts: when the first server accepts the stream, or with the recording.
    var timeZero: MediaTimestamp? { hub.start }

    /// Returns when the stream is over and all its threads have ended.
    public func run() throws {
        for target in targets where !target.isOff {
            reporter.log("publishing to \(target.id.name.map { "\($0), " } ?? "")\(target.destination.label)")
        }
        if settings.isMuted { tellMuted() }
        startPause()
        var waits = PollSet<Waited>()
        let result = Result { while !isOver { try step(&waits) } }
        endThreads()
        for target in targets { target.reportDrops(now: nil) }
        try result.get()
        let failureOfTargets = takeFailureOfTargets()
        if let failure = failure ?? failureOfTargets { throw failure }
        emitEnd()
    }

    private var isOver: Bool {
        targets.isEmpty ? stopTracks.isSignaled(until: .zero) : targets.allSatisfy(\.isOver)
    }

    /// The stream has not failed as long as one target carries it to its end. Otherwise, the last failure is the stream's, and
    /// events tell the others.
    private func takeFailureOfTargets() -> StreamFailure? {
        let wanted = targets.filter { !$0.isOff }
        guard wanted.allSatisfy({ $0.failure != nil }) else { return nil }
        let untold = wanted.filter { !$0.isFailureReported }
        for target in untold.dropLast() { target.reportFailure() }
        return (untold.last ?? wanted.last)?.failure
    }

    private func endThreads() {
        // The rest takes a moment, and the stream is no longer live.
        reporter.show(nil)
        stopTracks.signal()
        for target in targets { target.end() }
        tracks.join()
        closeSinks()
        takeLastReports()
    }

    private enum Waited {
        case links, reports, trackReports, commands
    }

    /// Waits for the next thing to do and does it.
    private func step(_ waits: inout PollSet<Waited>) throws {
        waits.removeAll()
        waits.add(.links, links?.fileDescriptor ?? -1)
        waits.add(.reports, reports.wakeup.fileDescriptor)
        waits.add(.trackReports, trackReports.wakeup.fileDescriptor)
        waits.add(.commands, commands.wakeup.fileDescriptor)
        waits.wake(at: adaptation.nextMeasurement)
        waits.wake(at: nextSnapshot)
        waits.wake(at: nextDelivery)
        waits.wake(at: tracks.microphones.deadline)
        for target in targets {
            waits.wake(at: target.deadline)
            waits.wake(at: target.retryTime)
        }
        try waits.wait()
        for command in commands.takeAll() { commanded(command) }
        for report in trackReports.takeAll() { trackReported(report) }
        for report in reports.takeAll() { reported(report) }
        if waits.ready(.links).contains(.readable) { linksChanged() }
        for target in targets { target.timePassed(now: MonotonicClock.now()) }
        retryTargets(now: MonotonicClock.now())
        reportMicrophoneChanges()
        if let time = nextDelivery, time <= MonotonicClock.now() { tellArchive() }
        adapt()
        showStatusInFrame()
        showSnapshot()
    }

    private func commanded(_ command: PublisherCommand) {
        switch command {
        case .stop: stop()
        case .apply(let changes, let id): apply(changes, for: id)
        case .filter(let change, let id): filter(change, for: id)
        case .reportStatus(let id): answerWithStatus(id)
        case .listSettings(let id): listSettings(for: id)
        case .listControls(let id): listControls(for: id)
        case .toggleMute: setMuted(!configuration.isMuted)
        case .pause(let isPaused, let id): setPaused(isPaused, for: id)
        case .togglePause: setPaused(!control.isPaused, for: nil)
        case .loadPauseImage: loadPauseImage()
        case .takeSnapshot(let request): takeSnapshot(request)
        case .watchBrightness(let isWatched): tracks.watchBrightness(isWatched)
        case .switchCamera(let choice, let id): switchCamera(choice, for: id)
        case .startMedia: startMedia()
        case .switchTarget(let name, let isOn, let id): switchTarget(name, isOn: isOn, for: id)
        }
    }

    func stop() {
        stopTracks.signal()
        for target in targets where !target.isOver { target.stop() }
    }
}
