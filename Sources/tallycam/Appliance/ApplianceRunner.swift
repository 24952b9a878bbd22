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
    private static let mediaRetryInterval = Duration.seconds(15)

    /// The board's wiring as the image was made for it.
    private static let wiringOfTheImage = "/etc/tallycam/board.json"

    let settings: ApplianceSettings
    let begin = MonotonicClock.now()
    let boot: BootPartition
    let board = BoardDevices()
    let events: EventRing
    let stream: StreamRunner
    let links: LinkMonitor?
    var appliance = Appliance()
    var files = DescriptionFiles()
    /// Why camera, microphone, encoder or server failed last, as long as that counts.
    var failures: [ApplianceFault: String] = [:]
    var status = StreamSummary()
    var restarts: MachineRestarts

    private let signals: SignalFD
    private var server: ControlServer?
    private var console: SerialConsole?
    private var watchdog = WatchdogFeeder()
    private var fingerprint: [[UInt8]?] = []
    private var reported = FaultReport()
    private var applianceTimer: MediaTimestamp?
    private var nextTick = MediaTimestamp.zero
    private var mediaRetry: MediaTimestamp?
    private var pendingActions: [Appliance.Action] = []
    private var isOver = false
    private var isEndingMachine = false

    init(settings: ApplianceSettings) throws {
        self.settings = settings
        signals = try SignalFD([SIGINT, SIGTERM])
        boot = BootPartition(directory: settings.bootDirectory)
        events = EventRing(path: "\(settings.stateDirectory)/events")
        stream = try StreamRunner(stateDirectory: settings.stateDirectory)
        restarts = MachineRestarts(stateDirectory: settings.stateDirectory)
        links = try? LinkMonitor()
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
                console?.pollEntry ?? PollEntry(-1),
            ] + control
        let deadlines = [applianceTimer, board.nextDeadline, mediaRetry, nextTick]
        try poll(&entries, until: deadlines.compactMap { $0 }.min())
        while signals.next() != nil { isOver = true }
        buttonMeant(board.buttonMoved())
        buttonMeant(board.timersFired(now: MonotonicClock.now()))
        for report in stream.reports.takeAll() { streamReported(report) }
        if !entries[3].ready.isEmpty { linksChanged() }
        if !entries[4].ready.isEmpty { serveConsole() }
        server?.serve { execute($0) }
        timersFired(now: MonotonicClock.now())
    }

    private func timersFired(now: MediaTimestamp) {
        if let time = applianceTimer, time <= now {
            applianceTimer = nil
            perform(appliance.timerFired(now: now))
        }
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
        stream.askForLife()
        if let failure = watchdog.tick(path: files.board?.watchdog, isAlive: stream.isAlive, now: now) { tell(failure) }
        let current = boot.fingerprint
        if current != fingerprint {
            fingerprint = current
            tell("the files on the boot partition have changed")
            perform(appliance.configurationChanged(now: now))
        }
        if !board.faults.isEmpty { board.openMissing(now: now) }
        boot.retry()
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

// What the appliance wants done.
extension ApplianceRunner {
    func perform(_ actions: [Appliance.Action]) {
        let isOutermost = pendingActions.isEmpty
        pendingActions += actions
        guard isOutermost else { return }
        while let action = pendingActions.first {
            perform(action)
            pendingActions.removeFirst()
        }
    }

    private func perform(_ action: Appliance.Action) {
        let now = MonotonicClock.now()
        switch action {
        case .startStream: startStream(now: now)
        case .stopStream: stream.stop()
        case .restartStream: stream.restart()
        case .loadConfiguration: load()
        case .show(let state):
            board.show(state.pattern, now: now)
            tell("\(state.name)" + faultWords(state))
        case .setFlashLED(let isLit): board.setFlash(isLit: isLit)
        case .powerOff(let kind): powerOff(kind)
        case .refuseStart(let fault): tell("cannot start: \(fault.meaning)")
        case .setTimer(let time): applianceTimer = time
        }
    }

    private func faultWords(_ state: ApplianceState) -> String {
        if case .fault(let fault) = state { ": \(fault.meaning) (\(fault.blinkCount) blinks)" } else { "" }
    }

    private func startStream(now: MediaTimestamp) {
        failures[.server] = nil
        let isWaiting = stream.isRunning
        do {
            try stream.start(files)
            if !isWaiting { perform(appliance.streamStateChanged(to: .connecting, now: now)) }
        } catch {
            streamEnded(CommandFailure(.system, "\(error)"))
        }
    }

    private func powerOff(_ kind: Appliance.PowerOff) {
        isEndingMachine = !settings.simulatesPower
        tell(kind == .halt ? "powering off" : "restarting")
        events.save(isUrgent: true, now: MonotonicClock.now())
        guard !settings.simulatesPower else {
            isOver = true
            return
        }
        // init ends this program with all others; until then the watchdog is fed.
        do { try askInit(toReboot: kind == .reboot) } catch { tell("\(error)") }
    }

    /// Reads the files and takes up what they say.
    private func load() {
        let now = MonotonicClock.now()
        let previous = files
        files = DescriptionFiles(reading: settings.bootDirectory)
        // A broken description must not take away the light that says so.
        files.board = files.board ?? previous.board ?? DescriptionFiles.readBoard(Self.wiringOfTheImage)
        board.boardChanged(to: files.board, now: now)
        let needsRestart = previous.streamText != files.streamText || previous.deviceText != files.deviceText
        if needsRestart { failures = [:] }
        if previous.networkText != files.networkText { networkSettingsChanged() }
        openConsole()
        var configuration = Appliance.Configuration(
            faults: files.applianceFaults, startsAtBoot: files.device.startAtBoot, flashLED: files.device.flashLED.mode,
            needsRestart: needsRestart)
        if !board.faults.isEmpty { configuration.faults.insert(.board) }
        perform(appliance.configurationLoaded(configuration, now: now))
        if needsRestart { for fault in Self.mediaFaults { perform(appliance.faultCleared(fault, now: now)) } }
        reportFaults(now: now)
    }

    private func networkSettingsChanged() {
        let script = "/etc/init.d/S30network"
        do {
            try writeNetworkSettings(files.network, to: settings.networkDirectory)
            // The start scripts did it at boot, with the same settings.
            guard begin < MonotonicClock.now() - .seconds(10), access(script, X_OK) == 0 else { return }
            tell("the network's settings have changed")
            try startProgram([script, "restart"])
        } catch {
            tell("the network's settings cannot be taken up: \(error)")
        }
    }

    private func openConsole() {
        let wanted = files.device.console ? files.board?.console : nil
        guard wanted != console?.path else { return }
        console = wanted.flatMap { try? SerialConsole(path: $0) }
    }

    private func serveConsole() {
        do { try console?.serve { execute($0) } } catch { console = nil }
    }
}

// What happens.
extension ApplianceRunner {
    static let mediaFaults: [ApplianceFault] = [.camera, .microphone, .encoder]

    private func buttonMeant(_ actions: [ButtonGestures.Action]) {
        let now = MonotonicClock.now()
        for action in actions {
            switch action {
            case .acknowledgePress: board.answer(.press, now: now)
            case .acknowledgeLongPress: board.answer(.longPress, now: now)
            case .shortPress:
                tell("button pressed")
                if !appliance.wantsStream { forgiveMedia(now: now) }
                perform(appliance.shortPressed(now: now))
            case .longPress:
                tell("button held: power-off")
                perform(appliance.longPressed(now: now))
            case .forgetPress, .setTimer: break
            }
        }
    }

    /// A camera, microphone or encoder that failed may work now.
    func forgiveMedia(now: MediaTimestamp) {
        for fault in Self.mediaFaults where failures[fault] != nil {
            failures[fault] = nil
            perform(appliance.faultCleared(fault, now: now))
        }
    }

    private func linksChanged() {
        guard let links, let happened = try? links.takeEvents() else { return }
        for event in happened { tell("network: \(event)") }
        perform(appliance.networkChanged(isUp: links.hasDefaultRoute, now: MonotonicClock.now()))
    }

    private func streamReported(_ report: StreamReport) {
        switch report {
        case .console(.note(let text)): tell(text)
        case .console(.event(let event)): streamTold(event)
        case .ended(let failure): streamEnded(failure)
        }
    }

    private func streamTold(_ event: Event) {
        let now = MonotonicClock.now()
        status.eventHappened(event, start: files.device.startQuality)
        if event.isWorthKeeping, let text = event.text { tell(text) }
        if let state = event.streamState {
            // The thread's end says why.
            guard state != .error else { return }
            if state == .connected { forgiveEverything() }
            perform(appliance.streamStateChanged(to: state, now: now))
        }
        if event.code == EventCode.qualityChanged.rawValue {
            perform(appliance.qualityChanged(isLowered: status.isLowered, now: now))
        }
    }

    private func forgiveEverything() {
        failures = [:]
        reportFaults(now: MonotonicClock.now())
    }

    private func streamEnded(_ failure: CommandFailure?) {
        let now = MonotonicClock.now()
        let startsAgain = stream.ended()
        status = StreamSummary()
        if let failure {
            tell("the stream has failed: \(failure.message)")
            if failure.needsMachineRestart, restartsMachine(because: failure.message) {
                perform(appliance.streamStateChanged(to: .disconnected, now: now))
                return
            }
            let fault = ApplianceFault(failure)
            failures[fault] = failure.message
            if fault == .server {
                perform(appliance.streamStateChanged(to: .error, now: now))
            } else {
                perform(appliance.streamStateChanged(to: .disconnected, now: now))
                perform(appliance.faultRaised(fault, now: now))
                mediaRetry = now + Self.mediaRetryInterval
            }
        } else {
            perform(appliance.streamStateChanged(to: .disconnected, now: now))
        }
        if startsAgain, !stream.isRunning, appliance.wantsStream { startStream(now: now) }
        reportFaults(now: now)
        events.save(isUrgent: true, now: now)
    }

    /// Hardware that has gone or come back since the files were read.
    private func boardChecked(now: MediaTimestamp) {
        let isAtFault = !board.faults.isEmpty || boot.failure != nil || files.applianceFaults.contains(.board)
        if isAtFault != appliance.faults.contains(.board) {
            perform(isAtFault ? appliance.faultRaised(.board, now: now) : appliance.faultCleared(.board, now: now))
        }
        reportFaults(now: now)
    }

    /// Brings faults.txt, console and events up to date with what is wrong.
    func reportFaults(now: MediaTimestamp) {
        var report = FaultReport(files: files.faults)
        report.others = board.faults.sorted { $0.key < $1.key }.map { FaultReport.Entry(fault: .board, text: $0.value) }
        report.others += failures.sorted { $0.key < $1.key }.map { FaultReport.Entry(fault: $0.key, text: $0.value) }
        guard report != reported else { return }
        for line in report.lines where !reported.lines.contains(line) { tell("fault: \(line)") }
        reported = report
        boot.write("faults.txt", report.text)
        if report.text != nil { boot.write("events.txt", events.text) }
        events.save(isUrgent: true, now: now)
        if let failure = boot.failure { tell(failure) }
    }

    var faultLines: [String] { reported.lines + (boot.failure.map { [$0] } ?? []) }

    /// Says something to people: on the console, and in the events that are kept.
    func tell(_ text: String) {
        events.append(text)
        console?.print(text)
    }
}
