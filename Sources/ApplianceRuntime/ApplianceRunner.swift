import ApplianceLogic
import Glibc
import LinuxIO
import Media
import Settings
import StreamLogic
import Transport

/// Runs `Appliance` on the main thread: button, files, network, stream and commands in, its actions done.
public final class ApplianceRunner {
    /// How often files, hardware that is missing and the other threads are looked at.
    private static let tickInterval = Duration.seconds(2)

    let settings: ApplianceSettings
    let start: MediaTimestamp
    /// `nil` when nobody reads standard output.
    let log: ApplianceLog?
    let card: Card
    let board: BoardDevices
    var events: EventRing
    let stream: StreamRunner
    let links: LinkMonitor?
    var appliance: Appliance
    var files = DescriptionFiles()
    var hasLoaded = false
    var summary = StreamSummary()
    private(set) lazy var commands = CommandService(of: self)
    var preview = PreviewDuty()
    var webcam = WebcamDuty()
    var wireless = WirelessLink()
    var supplicant: SupplicantMonitor
    var restarts: MachineRestarts
    var encoderHealth = HardwareEncoderHealth()
    var resumed: ResumedStream
    /// The first start since the machine's.
    var isBoot = true

    private let signals: SignalFD
    let control: ControlSocket
    var console: SerialConsole?
    var consoleFailure: String?
    var watchdog: WatchdogFeeder
    var applianceTimer: MediaTimestamp?
    private var nextTick = MediaTimestamp.zero
    var pendingActions: [Appliance.Action] = []
    var isClockWaitReported = false
    /// The machine ends when the card has been written, or then at the latest.
    var powerOff: (kind: Appliance.PowerOff, deadline: MediaTimestamp)?
    var isOver = false
    var isEndingMachine = false

    /// - Parameters:
    ///   - streams: starts them.
    ///   - log: gets the events, too.
    /// - Throws: when another process runs the appliance already, or the system lacks what each part of it needs. Unless
    ///   the settings say that it is unattended, also when there is no boot folder or no socket can be made.
    public convenience init(settings: ApplianceSettings, streams: any StreamEngine, log: ApplianceLog?) throws {
        try self.init(settings: settings, streams: streams, board: BoardDevices(), log: log)
    }

    init(settings: ApplianceSettings, streams: any StreamEngine, board: BoardDevices, log: ApplianceLog? = nil) throws {
        let start = MonotonicClock.now()
        self.start = start
        self.log = log
        self.settings = settings
        self.board = board
        // Before anything is touched that another one may have in hand.
        control = try ControlSocket(path: settings.socketPath, start: start)
        if !settings.isUnattended { try Self.check(settings, control) }
        watchdog = WatchdogFeeder(isSimulated: settings.simulatesPower)
        signals = try SignalFD([SIGINT, SIGTERM])
        card = try Card(settings: settings)
        events = EventRing(
            path: "\(settings.stateDirectory)/events", clockMark: Self.awaitedClock(settings))
        stream = try StreamRunner(streams, stateDirectory: settings.stateDirectory, card: card.calls)
        restarts = MachineRestarts(stateDirectory: settings.stateDirectory)
        resumed = ResumedStream(path: "\(settings.socketPath).wanted")
        links = try? LinkMonitor()
        supplicant = SupplicantMonitor(
            directory: settings.supplicantDirectory, path: "\(settings.networkDirectory)/wifi-messages")
        appliance = Appliance(awaitsClock: Self.isClockAwaited(settings))
    }

    /// - Throws: what somebody who is there can put right at once.
    private static func check(_ settings: ApplianceSettings, _ control: ControlSocket) throws(StreamFailure) {
        guard DescriptionFiles.isFolder(settings.bootDirectory) else {
            let fault = isRegularFile(settings.bootDirectory) == nil ? "does not exist" : "is not a folder"
            throw StreamFailure(
                .settings,
                "the boot folder \(settings.bootDirectory) \(fault); name the folder with the JSON files with --boot")
        }
        guard let failure = control.failure else { return }
        throw StreamFailure(.system, "\(failure); name another socket, in a folder that can be written, with --socket")
    }

    public func run() throws {
        tell("Tallycam \(version) starts")
        takeUpStream()
        perform(appliance.networkChanged(isUp: links?.hasDefaultRoute ?? true, now: MonotonicClock.now()))
        load(card.firstFiles.value)
        if !webcam.isWanted { stream.engine.removeFormerWebcam() }
        while !isOver { try step() }
        end()
    }

    private enum Waited {
        case signals, board, stream, links, console, supplicant, card, control
    }

    /// What `step` waits for now.
    private var waits: PollSet<Waited> {
        var waits: PollSet<Waited> = [
            .signals: signals.fileDescriptor, .board: board.fileDescriptor,
            .stream: stream.reports.wakeup.fileDescriptor, .links: links?.fileDescriptor ?? -1,
            .supplicant: supplicant.fileDescriptor, .card: card.reports.wakeup.fileDescriptor,
        ]
        waits.add(.console, console.map { [$0.pollEntry] } ?? [])
        waits.add(.control, control.pollEntries)
        for deadline in [
            applianceTimer, board.nextDeadline, appliance.faultBook.retryTime, nextTick, nextLookAtClock,
            control.nextDeadline, commands.nextDeadline, stream.nextDeadline, nextWebcamDeadline, powerOff?.deadline,
        ] {
            waits.wake(at: deadline)
        }
        return waits
    }

    private func step() throws {
        var waits = waits
        try waits.wait()
        while signals.next() != nil { isOver = true }
        buttonMeant(board.buttonMoved())
        buttonMeant(board.timersFired(now: MonotonicClock.now()))
        for report in stream.reports.takeAll() { streamReported(report) }
        if waits.isReady(.links) { linksChanged() }
        if waits.isReady(.console) { serveConsole() }
        if waits.isReady(.supplicant) { supplicantSaid() }
        for report in card.reports.takeAll() { cardReported(report) }
        control.serve(now: MonotonicClock.now()) { commands.take($0, from: $1) }
        timersFired(now: MonotonicClock.now())
    }

    private func timersFired(now: MediaTimestamp) {
        if let time = applianceTimer, time <= now {
            applianceTimer = nil
            perform(appliance.timerFired(now: now))
        }
        if stream.timeReached(now: now) { startWaitingStream(now: now) }
        lookAtClock(now: now)
        perform(appliance.retryDue(now: now))
        commands.timeReached(now: now)
        if nextTick <= now {
            nextTick = now + Self.tickInterval
            tick(now: now)
        }
        endMachineIfReady(now: now)
        webcamTimeReached(now: now)
        feedWhileIdle(now: now)
        showPage()
    }

    private func tick(now: MediaTimestamp) {
        for text in watchdog.tick(path: files.board?.watchdog, now: now) {
            tell(text)
            // What the watchdog ends is not asked to save anything.
            saveEvents(isUrgent: true, now: now)
        }
        lookForSupplicant(now: now)
        board.checkLines(now: now)
        control.openIfMissing()
        openConsole()
        boardChecked(now: now)
        hardwareEncoderChecked(now: now)
        saveEvents(isUrgent: false, now: now)
        card.tick(now: now)
    }

    private func end() {
        _ = stream.stop()
        webcam.end(now: MonotonicClock.now())
        _ = stream.feedIdle([], of: IdleCameraDescription(files), now: MonotonicClock.now())
        stream.feedIdleAudio(nil, of: files, now: MonotonicClock.now())
        let limit = MonotonicClock.now() + .seconds(2)
        while stream.isRunning || stream.isFeedingIdle || webcam.ending != nil, MonotonicClock.now() < limit {
            var entries = [PollEntry(stream.reports.wakeup.fileDescriptor)]
            guard (try? poll(&entries, until: limit)) != nil else { break }
            for report in stream.reports.takeAll() {
                switch report {
                case .ended: _ = stream.ended()
                case .idleFramesEnded(let number): _ = stream.idleFramesEnded(number, now: MonotonicClock.now())
                case .idleAudioEnded(let number): _ = stream.idleAudioEnded(number, now: MonotonicClock.now())
                case .webcam(let number, .ended): webcam.ended(number)
                default: break
                }
            }
        }
        tell("Tallycam ends")
        board.end()
        resumed.programEnded()
        writeLast(until: MonotonicClock.now() + .seconds(2))
        // On the way to power-off it stays armed, in case something on that way hangs.
        if !isEndingMachine { watchdog.disarm() }
    }

    /// Lets the card take what is to be kept, for a moment.
    private func writeLast(until limit: MediaTimestamp) {
        if let text = events.takeLast(now: MonotonicClock.now()) {
            card.write("events", text, to: .state, now: MonotonicClock.now())
        }
        card.endNeared(now: MonotonicClock.now())
        while card.isBusy(now: MonotonicClock.now()), MonotonicClock.now() < limit {
            var entries = [PollEntry(card.reports.wakeup.fileDescriptor)]
            guard (try? poll(&entries, until: limit)) != nil else { break }
            for report in card.reports.takeAll() { card.answered(report, now: MonotonicClock.now()) }
        }
    }
}
