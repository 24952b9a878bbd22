import ApplianceLogic
import Glibc
import LinuxIO
import Media

/// Remembers for the program's next run whether a stream is wanted, in a file next to the control socket, which is in memory.
/// Used from the main thread.
struct ResumedStream {
    private let path: String
    private var resumption: StreamResumption

    /// - Parameter path: a file that does not survive a restart of the machine.
    init(path: String) {
        self.path = path
        let boot = (try? readFile("/proc/sys/kernel/random/boot_id", limit: 64)) ?? []
        let saved = (try? readFile(path, limit: 4096)).map { String(decoding: $0, as: UTF8.self) }
        resumption = StreamResumption(
            savedText: saved, boot: String(decoding: boot.filter { $0 > 0x20 }, as: UTF8.self))
    }

    mutating func programStarted() -> StreamResumption.Start {
        defer { save() }
        return resumption.programStarted(now: MonotonicClock.now())
    }

    mutating func wishChanged(to isWanted: Bool, isPaused: Bool) {
        if resumption.wishChanged(to: isWanted, isPaused: isPaused) { save() }
    }

    /// Whether the resumed stream was paused.
    var isPaused: Bool { resumption.isPaused }

    /// The program ends as intended.
    func programEnded() { unlink(path) }

    /// If this fails, a crash of the program ends the stream, like any state that is not saved.
    private func save() { try? replaceFile(path, with: Array(resumption.savedText.utf8), permissions: 0o600) }
}

extension StreamSupervisor {
    func wishChanged() {
        resumed.wishChanged(to: device.appliance.wantsStream, isPaused: device.appliance.isPaused)
    }

    func programEnded() { resumed.programEnded() }

    /// Resumes the stream that was cut off by the end of the program or the machine.
    func takeUpStream() {
        let now = MonotonicClock.now()
        switch resumed.programStarted() {
        case .first: machineStarted(now: now)
        case .again:
            isBoot = false
            device.tell("the program had died; no stream was wanted")
        case .resumes(let number):
            isBoot = false
            let isPaused = resumed.isPaused
            device.tell(
                "the program had died while a stream was wanted, which starts again: \(number) of at most "
                    + "\(StreamResumption.most) times within \(Int(StreamResumption.window.inSeconds / 60)) min")
            device.perform(device.appliance.startRequested(now: now))
            if isPaused { device.perform(device.appliance.streamPaused(true, now: now)) }
        case .stands:
            isBoot = false
            let fault =
                "the program dies of its stream again and again, which stands until the next start: press the button; "
                + "if that helps for a while only, tell who made the image what events.txt says"
            device.perform(device.appliance.faultsChanged(now: now) { $0.streamStands(fault) })
        }
    }

    private func machineStarted(now: MediaTimestamp) {
        switch device.restarts.takeStart() {
        case .resumes: device.perform(device.appliance.startRequested(now: now))
        case .staysOff:
            // Someone has stopped the stream, so it must not start by itself a minute later.
            isBoot = false
            device.tell("the machine has restarted itself while nothing was live: nothing starts by itself")
        case .asEver: break
        }
    }
}
