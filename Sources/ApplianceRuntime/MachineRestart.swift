import ApplianceLogic
import LinuxIO
import Media
import StreamLogic

/// The restarts that the machine has made by itself, kept where they survive them. Used from the main thread.
struct MachineRestarts {
    /// A card that takes longer to count a restart than this has missed it.
    private static let patience = Duration.seconds(10)

    struct Wish {
        /// Why, for people.
        let reason: String
        /// Of this restart, within the hour.
        let number: Int
        fileprivate let resumesStream: Bool
        fileprivate let before: RestartLimit
        fileprivate let time: MediaTimestamp
    }

    private var limit: RestartLimit
    private let path: String
    private var wish: Wish?

    init(stateDirectory: String) {
        path = "\(stateDirectory)/restarts"
        let saved = (try? readFile(path, limit: 4096)).map { String(decoding: $0, as: UTF8.self) }
        limit = RestartLimit(savedText: saved, now: MonotonicClock.now())
    }

    /// At the program's start, when nothing else waits yet.
    /// - Returns: whether a stream was live when the machine restarted itself; true once.
    mutating func takeStream() -> Bool {
        guard limit.resumesStream else { return false }
        limit.streamResumed()
        let text = Array(limit.savedText(now: MonotonicClock.now()).utf8)
        // Where that cannot be written down, a power cut would begin a stream that nobody wants.
        return (try? replaceFile(path, with: text, permissions: 0o600)) != nil
    }

    /// A restart is wanted. What cannot be counted must not be done: it might be done for ever.
    /// - Returns: what is to be saved before it; `nil` when the machine must stand.
    mutating func ask(because reason: String, resumesStream: Bool, now: MediaTimestamp) -> String? {
        let before = limit
        guard limit.restartWanted(resumesStream: resumesStream, now: now) else { return nil }
        wish = Wish(
            reason: reason, number: limit.count(now: now), resumesStream: resumesStream, before: before, time: now)
        return limit.savedText(now: now)
    }

    var isAsked: Bool { wish != nil }

    /// - Parameter wantsStream: whether a stream is wanted by now.
    /// - Returns: the restart that is to begin now: it was counted in time, and nobody has ended anything meanwhile.
    mutating func saved(isSaved: Bool, wantsStream: Bool, now: MediaTimestamp) -> Wish? {
        guard let wish else { return nil }
        self.wish = nil
        if isSaved, now - wish.time <= Self.patience, wish.resumesStream == wantsStream { return wish }
        limit = wish.before
        return nil
    }

    /// What is to be saved when a counted restart does not take place.
    func withdrawn(now: MediaTimestamp) -> String { limit.savedText(now: now) }
}

extension ApplianceRunner {
    /// Every encoder has failed, the software's too: what is left is a restart of the machine, when it is counted.
    /// Until then, and where it is not, the fault stays and is tried again as any other.
    func askForMachineRestart(because reason: String, now: MediaTimestamp) {
        guard !restarts.isAsked else { return }
        guard let text = restarts.ask(because: reason, resumesStream: appliance.wantsStream, now: now) else {
            tell("the machine has restarted itself \(RestartLimit.most) times within an hour, and stands now")
            return
        }
        card.give(.saveRestarts(text), now: now)
    }

    func restartsSaved(_ isSaved: Bool, now: MediaTimestamp) {
        guard restarts.isAsked else { return }
        guard let restart = restarts.saved(isSaved: isSaved, wantsStream: appliance.wantsStream, now: now) else {
            if !isSaved { tell("the machine does not restart itself: that cannot be counted on the card") }
            // It may have been counted too late.
            card.give(.saveRestarts(restarts.withdrawn(now: now)), now: now)
            return
        }
        tell(
            "\(EventCode.machineRestarting.name) (\(EventCode.machineRestarting.rawValue)): \(restart.reason); "
                + "restart \(restart.number) of at most \(RestartLimit.most) an hour")
        perform(appliance.powerOffRequested(.reboot, now: now))
    }
}
