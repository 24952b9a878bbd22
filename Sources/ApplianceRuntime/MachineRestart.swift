import ApplianceLogic
import LinuxIO
import Media
import StreamLogic

/// The restarts that the machine has made by itself, kept where they survive them. Used from the main thread.
struct MachineRestarts {
    /// A card that takes longer to count a restart than this has missed it.
    private static let patience = Duration.seconds(10)

    struct Wish {
        let reason: RestartLimit.Reason
        /// The same for people.
        let words: String
        /// Of this restart, within `RestartLimit.window`.
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
    /// - Returns: what becomes of the stream, if the machine has restarted itself; once.
    mutating func takeStart() -> RestartLimit.StreamAfterwards {
        let afterwards = limit.streamAfterwards
        guard afterwards != .asEver else { return .asEver }
        limit.startTaken()
        let text = Array(limit.savedText(now: MonotonicClock.now()).utf8)
        // Where that cannot be written down, a power cut would start a stream that nobody wants.
        let isSaved = (try? replaceFile(path, with: text, permissions: 0o600)) != nil
        return afterwards == .resumes && !isSaved ? .asEver : afterwards
    }

    /// A restart is wanted. What cannot be counted must not be done: it might be done for ever.
    /// - Returns: what is to be saved before it; `nil` when the machine must stand.
    mutating func ask(
        for reason: RestartLimit.Reason, words: String, resumesStream: Bool, now: MediaTimestamp
    ) -> String? {
        let before = limit
        guard limit.restartWanted(for: reason, resumesStream: resumesStream, now: now) else { return nil }
        wish = Wish(
            reason: reason, words: words, number: limit.count(now: now), resumesStream: resumesStream, before: before,
            time: now)
        return limit.savedText(now: now)
    }

    var isAsked: Bool { wish != nil }

    /// When a restart that was refused may be asked for again.
    func earliest(for reason: RestartLimit.Reason, now: MediaTimestamp) -> MediaTimestamp {
        limit.earliest(for: reason, now: now)
    }

    /// - Parameters:
    ///   - wantsStream: whether a stream is wanted by now.
    ///   - isEnding: the machine is on its way down already, at somebody's wish.
    /// - Returns: the restart that is to start now: it was counted in time, and nobody has started or ended anything
    ///   meanwhile.
    mutating func saved(isSaved: Bool, wantsStream: Bool, isEnding: Bool, now: MediaTimestamp) -> Wish? {
        guard let wish else { return nil }
        self.wish = nil
        let isInTime = isSaved && now - wish.time <= Self.patience
        if isInTime, !isEnding, wish.resumesStream == wantsStream { return wish }
        limit = wish.before
        return nil
    }

    /// What is to be saved when a counted restart does not take place.
    func withdrawn(now: MediaTimestamp) -> String { limit.savedText(now: now) }
}

extension ApplianceDevice {
    /// What is left is a restart of the machine, when it is counted. Until then, and where it is not, the fault stays:
    /// that every encoder has failed is tried again as any other, and a dead one is done without.
    func askForMachineRestart(for reason: RestartLimit.Reason, because words: String, now: MediaTimestamp) {
        guard !restarts.isAsked else { return }
        let text = restarts.ask(for: reason, words: words, resumesStream: resumesAfterRestart, now: now)
        guard let text else {
            tell("the machine has restarted itself \(reason.frequency), and stands now")
            if reason == .hardwareEncoder {
                encoderHealth.restartRefused(until: restarts.earliest(for: reason, now: now), now: now)
            }
            return
        }
        card.give(.saveRestarts(text), now: now)
    }

    /// A paused stream does not: nothing remembers the pause, and nobody expects the camera to be seen.
    private var resumesAfterRestart: Bool { appliance.wantsStream && !appliance.isPaused }

    func restartsSaved(_ isSaved: Bool, now: MediaTimestamp) {
        guard restarts.isAsked else { return }
        let restart = restarts.saved(
            isSaved: isSaved, wantsStream: resumesAfterRestart, isEnding: appliance.state == .shutdown, now: now)
        guard let restart else {
            if !isSaved { tell("the machine does not restart itself: that cannot be counted on the card") }
            // Who asks on its own is not to do so every few seconds.
            encoderHealth.restartRefused(now: now)
            // It may have been counted too late.
            card.give(.saveRestarts(restarts.withdrawn(now: now)), now: now)
            return
        }
        let count = "restart \(restart.number) of at most \(restart.reason.most) \(RestartLimit.withinWindow)"
        tell(ApplianceEvent.machineRestarting(reason: "\(restart.words); \(count)"))
        perform(appliance.powerOffRequested(.reboot, now: now))
    }
}
