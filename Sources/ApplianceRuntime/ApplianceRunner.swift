import BoardRuntime
import CardStorage
import CommandChannels
import DeviceStreams
import Glibc
import LinuxIO
import Media
import StreamLogic
import Terminal

/// What the appliance's main thread waits for.
enum ApplianceWait {
    case signals, board, stream, links, console, supplicant, search, card, control, doctor, recording, mounts, page
}

/// Runs the device on the main thread: takes in button, files, network, stream and commands, and carries out what follows.
public final class ApplianceRunner {
    /// How often to check files, missing hardware and the other threads.
    private static let tickInterval = Duration.seconds(2)

    let device: ApplianceDevice
    private let signals: SignalFD
    private var nextTick = MediaTimestamp.zero

    /// - Parameters:
    ///   - streams: starts streams.
    ///   - log: receives the events too.
    /// - Throws: if another process already runs the appliance, or the system lacks something essential. Unless the settings
    ///   say "unattended", also if the boot folder is missing or the socket cannot be created.
    public convenience init(settings: ApplianceSettings, streams: any StreamEngine, log: ApplianceLog?) throws {
        try self.init(settings: settings, streams: streams, board: BoardDevices(), log: log)
    }

    init(settings: ApplianceSettings, streams: any StreamEngine, board: BoardDevices, log: ApplianceLog? = nil) throws {
        // Threads inherit the blocked signals, so do this before any of them starts.
        signals = try SignalFD([SIGINT, SIGTERM])
        device = try ApplianceDevice(settings: settings, streams: streams, board: board, log: log)
    }

    public func run() throws {
        device.begin()
        while !device.isOver { try step() }
        device.end()
    }

    private func step() throws {
        var waits = PollSet<ApplianceWait>()
        waits.add(.signals, signals.fileDescriptor)
        waits.wake(at: nextTick)
        device.join(&waits)
        try waits.wait()
        while signals.next() != nil { device.isOver = true }
        device.serve(waits)
        let now = MonotonicClock.now()
        device.timersFired(now: now)
        if nextTick <= now {
            nextTick = now + Self.tickInterval
            device.tick(now: now)
        }
        device.turnEnded(now: now)
    }
}

// Each part adds what it waits for.
extension ApplianceDevice {
    func join(_ waits: inout PollSet<ApplianceWait>) {
        board.join(&waits)
        supervisor.join(&waits)
        webcam.join(&waits)
        commands.join(&waits)
        doctor.join(&waits)
        recording.join(&waits)
        page.join(&waits)
        card.join(&waits)
        control.join(&waits)
        consolePort.console?.join(&waits)
        network.join(&waits)
        for deadline in [applianceTimer, appliance.faultBook.retryTime, powerOff?.deadline] { waits.wake(at: deadline) }
    }

    /// Handles everything that has arrived.
    func serve(_ waits: PollSet<ApplianceWait>) {
        buttonMeant(board.buttonMoved())
        buttonMeant(board.timersFired(now: MonotonicClock.now()))
        for report in stream.reports.takeAll() { supervisor.reported(report) }
        recording.serve(waits)
        network.serve(waits)
        if waits.isReady(.console) { serveConsole() }
        for report in card.reports.takeAll() { cardReported(report) }
        control.serve(now: MonotonicClock.now()) { commands.take($0, from: $1) }
        page.serve(now: MonotonicClock.now())
    }

    /// Handles the consequences of this turn's events.
    func turnEnded(now: MediaTimestamp) {
        endMachineIfReady(now: now)
        webcam.timeReached(now: now)
        // The screen shows its text before frames arrive.
        supervisor.showPage()
        supervisor.feedWhileIdle(now: now)
    }
}

extension BoardDevices {
    fileprivate func join(_ waits: inout PollSet<ApplianceWait>) {
        waits.add(.board, fileDescriptor)
        waits.wake(at: nextDeadline)
    }
}

extension StreamSupervisor {
    fileprivate func join(_ waits: inout PollSet<ApplianceWait>) {
        waits.add(.stream, streams.reports.wakeup.fileDescriptor)
        waits.wake(at: streams.nextDeadline)
        waits.wake(at: idleRetry)
    }
}

extension WebcamRuntime {
    fileprivate func join(_ waits: inout PollSet<ApplianceWait>) { waits.wake(at: nextDeadline) }
}

extension CommandService {
    fileprivate func join(_ waits: inout PollSet<ApplianceWait>) { waits.wake(at: nextDeadline) }
}

extension Card {
    fileprivate func join(_ waits: inout PollSet<ApplianceWait>) { waits.add(.card, reports.wakeup.fileDescriptor) }
}

extension ControlSocket {
    fileprivate func join(_ waits: inout PollSet<ApplianceWait>) {
        waits.add(.control, pollEntries)
        waits.wake(at: nextDeadline)
    }
}

extension SerialConsole {
    fileprivate func join(_ waits: inout PollSet<ApplianceWait>) { waits.add(.console, [pollEntry]) }
}
