import ApplianceLogic
import Glibc
import LinuxIO
import Media
import StreamFile
import Transport

/// Runs `Appliance` on the main thread: button, files, network, stream and commands in, its actions done.
final class ApplianceRunner {
    /// How often files, hardware that is missing and the other threads are looked at.
    private static let tickInterval = Duration.seconds(2)
    /// A camera or encoder that failed is tried again; between, the light has time to count.
    static let mediaRetryInterval = Duration.seconds(15)

    /// The board's wiring as the image was made for it.
    static let wiringOfTheImage = "/etc/tallycam/board.json"

    let settings: ApplianceSettings
    let begin = MonotonicClock.now()
    let boot: BootPartition
    let board = BoardDevices()
    let events: EventRing
    let stream: StreamRunner
    let links: LinkMonitor?
    var appliance: Appliance
    var files = DescriptionFiles()
    var hasLoaded = false
    /// Why camera, microphone, encoder or server failed last, as long as that counts.
    var failures: [ApplianceFault: String] = [:]
    /// The cameras or microphones that there were when one was found missing, as the files name them.
    var present: [ApplianceFault: [String]] = [:]
    /// Cameras and microphones that a running stream has lost, and waits for.
    var interruptions: [ApplianceFault: String] = [:]
    /// Failures in a row of a stream that has not been up yet.
    var vainAttempts = 0
    var status = StreamSummary()
    var wireless = WirelessLink()
    var supplicant: SupplicantMonitor
    var restarts: MachineRestarts

    private let signals: SignalFD
    private var server: ControlServer?
    var console: SerialConsole?
    var consoleFailure: String?
    var watchdog: WatchdogFeeder
    private var fingerprint: [FileState] = []
    /// What faults.txt says; `nil` while it may still be of the last time, before the files were mended elsewhere.
    var reported: FaultReport?
    var applianceTimer: MediaTimestamp?
    private var nextTick = MediaTimestamp.zero
    var mediaRetry: MediaTimestamp?
    var pendingActions: [Appliance.Action] = []
    var isClockWaitTold = false
    var isOver = false
    var isEndingMachine = false

    init(settings: ApplianceSettings) throws {
        self.settings = settings
        watchdog = WatchdogFeeder(isSimulated: settings.simulatesPower)
        signals = try SignalFD([SIGINT, SIGTERM])
        boot = BootPartition(directory: settings.bootDirectory)
        events = EventRing(
            path: "\(settings.stateDirectory)/events", clockMark: Self.awaitedClock(settings))
        stream = try StreamRunner(stateDirectory: settings.stateDirectory)
        restarts = MachineRestarts(stateDirectory: settings.stateDirectory)
        links = try? LinkMonitor()
        supplicant = SupplicantMonitor(
            directory: NetworkDescription.controlDirectory, path: "\(settings.networkDirectory)/wifi-messages")
        appliance = Appliance(awaitsClock: Self.isClockAwaited(settings))
        server = try? ControlServer(path: settings.socketPath)
    }

    func run() throws {
        // A relative file name in stream.json is meant from its directory.
        chdir(settings.bootDirectory)
        tell("Tallycam \(version) starts")
        if server == nil { tell("no commands can be taken at \(settings.socketPath)") }
        perform(appliance.networkChanged(isUp: links?.hasDefaultRoute ?? true, now: MonotonicClock.now()))
        fingerprint = boot.fingerprint
        load()
        if restarts.takeStream() { perform(appliance.startRequested(now: MonotonicClock.now())) }
        while !isOver { try step() }
        end()
    }

    private func step() throws {
        let control = server?.pollEntries ?? []
        var entries =
            [
                PollEntry(signals.fileDescriptor), PollEntry(board.fileDescriptor),
                PollEntry(stream.reports.wakeup.fileDescriptor), PollEntry(links?.fileDescriptor ?? -1),
                console?.pollEntry ?? PollEntry(-1), PollEntry(supplicant.fileDescriptor),
            ] + control
        let deadlines = [applianceTimer, board.nextDeadline, mediaRetry, nextTick, nextLookAtClock]
        try poll(&entries, until: deadlines.compactMap { $0 }.min())
        while signals.next() != nil { isOver = true }
        buttonMeant(board.buttonMoved())
        buttonMeant(board.timersFired(now: MonotonicClock.now()))
        for report in stream.reports.takeAll() { streamReported(report) }
        if !entries[3].ready.isEmpty { linksChanged() }
        if !entries[4].ready.isEmpty { serveConsole() }
        if !entries[5].ready.isEmpty { supplicantSaid() }
        server?.serve { execute($0) }
        timersFired(now: MonotonicClock.now())
    }

    private func timersFired(now: MediaTimestamp) {
        if let time = applianceTimer, time <= now {
            applianceTimer = nil
            perform(appliance.timerFired(now: now))
        }
        lookAtClock(now: now)
        if let time = mediaRetry, time <= now {
            mediaRetry = nil
            if appliance.wantsStream { forgiveMedia(now: now) }
        }
        if nextTick <= now {
            nextTick = now + Self.tickInterval
            tick(now: now)
        }
    }

    private func tick(now: MediaTimestamp) {
        for text in watchdog.tick(path: files.board?.watchdog, now: now) {
            tell(text)
            // What the watchdog ends is not asked to save anything.
            events.save(isUrgent: true, now: now)
        }
        let current = boot.fingerprint
        if current != fingerprint || files.certificatesHaveChanged {
            fingerprint = current
            tell("the files on the boot partition have changed")
            perform(appliance.configurationChanged(now: now))
        }
        lookForSupplicant(now: now)
        if !board.faults.isEmpty { board.openMissing(now: now) }
        boot.retry(now: now)
        openConsole()
        boardChecked(now: now)
        events.save(isUrgent: false, now: now)
    }

    private func end() {
        stream.stop()
        let limit = MonotonicClock.now() + .seconds(2)
        while stream.isRunning, MonotonicClock.now() < limit {
            var entries = [PollEntry(stream.reports.wakeup.fileDescriptor)]
            guard (try? poll(&entries, until: limit)) != nil else { break }
            for report in stream.reports.takeAll() {
                if case .ended = report { _ = stream.ended() }
            }
        }
        tell("Tallycam ends")
        events.save(isUrgent: true, now: MonotonicClock.now())
        // On the way to power-off it stays armed, in case something on that way hangs.
        if !isEndingMachine { watchdog.disarm() }
    }
}
