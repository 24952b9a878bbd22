import ApplianceLogic
import LinuxIO

/// The restarts that the machine has made by itself, kept where they survive them. Used from the main thread.
struct MachineRestarts {
    private var limit: RestartLimit
    private let path: String

    init(stateDirectory: String) {
        path = "\(stateDirectory)/restarts"
        let saved = (try? readFile(path, limit: 4096)).map { String(decoding: $0, as: UTF8.self) }
        limit = RestartLimit(savedText: saved, now: MonotonicClock.now())
    }

    /// - Returns: whether a stream was live when the machine restarted itself; true once.
    mutating func takeStream() -> Bool {
        guard limit.resumesStream else { return false }
        limit.streamResumed()
        // Where that cannot be written down, a power cut would begin a stream that nobody wants.
        return (try? save()) != nil
    }

    /// - Returns: the number of this restart within the hour; `nil` when the machine must stand.
    mutating func begin(resumesStream: Bool) -> Int? {
        var next = limit
        guard next.restartWanted(resumesStream: resumesStream, now: MonotonicClock.now()) else { return nil }
        swap(&next, &limit)
        // What cannot be counted must not be done: it might be done for ever.
        guard (try? save()) != nil else {
            limit = next
            return nil
        }
        return limit.count(now: MonotonicClock.now())
    }

    private func save() throws(SystemCallError) {
        try replaceFile(path, with: Array(limit.savedText(now: MonotonicClock.now()).utf8), permissions: 0o600)
    }
}

extension ApplianceRunner {
    /// Every encoder has failed, the software's too: what is left is a restart of the machine.
    /// - Returns: whether it begins; else the fault stays, and is tried again as any other.
    func restartsMachine(because reason: String) -> Bool {
        guard let number = restarts.begin(resumesStream: appliance.wantsStream) else {
            tell("the machine has restarted itself \(RestartLimit.most) times within an hour, and stands now")
            return false
        }
        tell(
            "\(EventCode.machineRestarting.name) (\(EventCode.machineRestarting.rawValue)): \(reason); restart \(number) "
                + "of at most \(RestartLimit.most) an hour")
        perform(appliance.powerOffRequested(.reboot, now: MonotonicClock.now()))
        return true
    }
}
