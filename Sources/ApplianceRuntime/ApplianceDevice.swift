import ApplianceLogic
import BoardRuntime
import CardStorage
import CommandChannels
import DeviceStreams
import LinuxIO
import Media
import Settings
import StreamLogic
import Terminal

/// The device: `Appliance` with its files, board and card, and the parts that run stream, webcam and commands. Used from the
/// main thread.
final class ApplianceDevice {
    let settings: ApplianceSettings
    let start: MediaTimestamp
    /// `nil` if nobody reads standard output.
    let log: ApplianceLog?
    let card: Card
    let board: BoardDevices
    let stream: StreamRunner
    let control: ControlSocket
    private(set) lazy var commands = CommandService(of: self)
    private(set) lazy var supervisor = StreamSupervisor(of: self)
    private(set) lazy var webcam = WebcamRuntime(of: self)
    private(set) lazy var doctor = DoctorDuty(of: self)
    private(set) lazy var recording = RecordingDuty(of: self)
    private(set) lazy var page = PageDuty(of: self)
    private(set) lazy var network = NetworkWatch(of: self)
    var appliance: Appliance
    var events: EventRing
    var files = DescriptionFiles()
    var hasLoaded = false
    var restarts: MachineRestarts
    var encoderHealth = HardwareEncoderHealth()
    var consolePort = ConsolePort()
    var watchdog: WatchdogFeeder
    var applianceTimer: MediaTimestamp?
    var pendingActions: [Appliance.Action] = []
    /// The machine ends after the card has been written, or at this time at the latest.
    var powerOff: (kind: Appliance.PowerOff, deadline: MediaTimestamp)?
    var isOver = false
    var isEndingMachine = false

    /// - Throws: see `ApplianceRunner.init`.
    init(settings: ApplianceSettings, streams: any StreamEngine, board: BoardDevices, log: ApplianceLog? = nil) throws {
        let start = MonotonicClock.now()
        self.start = start
        self.log = log
        self.settings = settings
        self.board = board
        // Do this first, before touching anything that another process may be using.
        control = try ControlSocket(path: settings.socketPath, start: start)
        if !settings.isUnattended { try Self.check(settings, control) }
        watchdog = WatchdogFeeder(isSimulated: settings.simulatesPower)
        card = try Card(settings: settings)
        WallClock.zone = card.firstFiles.value.network.timeZone
        events = EventRing(
            path: "\(settings.stateDirectory)/events", clockMark: settings.awaitedClock)
        stream = try StreamRunner(streams, stateDirectory: settings.stateDirectory, card: card.calls)
        restarts = MachineRestarts(stateDirectory: settings.stateDirectory)
        appliance = Appliance(awaitsClock: settings.isClockAwaited)
    }

    /// - Throws: problems that a person at the terminal can fix right away.
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

    func begin() {
        tell(.starts(version: Program.version))
        supervisor.takeUpStream()
        perform(appliance.networkChanged(isUp: network.isUp, now: MonotonicClock.now()))
        load(card.firstFiles.value)
        if !webcam.isWanted { stream.engine.removeFormerWebcam() }
    }

    func timersFired(now: MediaTimestamp) {
        if let time = applianceTimer, time <= now {
            applianceTimer = nil
            perform(appliance.timerFired(now: now))
        }
        supervisor.timeReached(now: now)
        network.lookAtClock(now: now)
        perform(appliance.retryDue(now: now))
        commands.timeReached(now: now)
        doctor.serve(now: now)
    }

    /// Call it every few seconds.
    func tick(now: MediaTimestamp) {
        for text in watchdog.tick(path: files.board?.watchdog, now: now) {
            tell(text: text)
            // The watchdog does not ask before it restarts the machine, so save the events now.
            saveEvents(isUrgent: true, now: now)
        }
        network.tick()
        board.checkLines(now: now)
        control.openIfMissing()
        page.openIfWanted()
        openConsole()
        recording.tick(now: now)
        boardChecked(now: now)
        hardwareEncoderChecked(now: now)
        saveEvents(isUrgent: false, now: now)
        card.tick(now: now)
    }

    func end() {
        page.end()
        supervisor.end()
        recording.end()
        recording.takeReports()
        tell(.ends)
        board.end()
        supervisor.programEnded()
        writeLast(until: MonotonicClock.now() + .seconds(2))
        // During power-off it stays armed, in case something hangs.
        if !isEndingMachine { watchdog.disarm() }
    }

    /// Gives the card a moment to write the last events and counts.
    private func writeLast(until limit: MediaTimestamp) {
        if let text = events.takeLast(now: MonotonicClock.now()) {
            card.write("events", text, to: .state, now: MonotonicClock.now())
        }
        card.endNeared(now: MonotonicClock.now())
        while card.isBusy(now: MonotonicClock.now()), MonotonicClock.now() < limit {
            var waits: PollSet<ApplianceWait> = [.card: card.reports.wakeup.fileDescriptor]
            guard (try? waits.wait(until: limit)) != nil else { break }
            for report in card.reports.takeAll() { card.answered(report, now: MonotonicClock.now()) }
        }
    }
}
