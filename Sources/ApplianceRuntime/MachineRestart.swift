import ApplianceLogic
import LinuxIO
import Media
import StreamLogic

extension ApplianceDevice {
    /// The last resort is to restart the machine, which must be counted first. Until then, or if the restart is refused, the
    /// fault stays: the failure of every encoder is retried like any other, and a dead one is done without.
    func askForMachineRestart(for reason: RestartLimit.Reason, because words: String, now: MediaTimestamp) {
        guard !restarts.isAsked else { return }
        let text = restarts.ask(for: reason, words: words, resumesStream: resumesAfterRestart, now: now)
        guard let text else {
            tell(.restartLimitReached(reason))
            if reason == .hardwareEncoder {
                encoderHealth.restartRefused(until: restarts.earliest(for: reason, now: now), now: now)
            }
            return
        }
        card.give(.saveRestarts(text), now: now)
    }

    /// A paused stream is not resumed: nothing remembers the pause, and nobody expects the camera to be visible.
    private var resumesAfterRestart: Bool { appliance.wantsStream && !appliance.isPaused }

    func restartsSaved(_ isSaved: Bool, now: MediaTimestamp) {
        guard restarts.isAsked else { return }
        let restart = restarts.saved(
            isSaved: isSaved, wantsStream: resumesAfterRestart, isEnding: appliance.state == .shutdown, now: now)
        guard let restart else {
            if !isSaved { tell(.restartNotCounted) }
            // Automatic requests must not repeat every few seconds.
            encoderHealth.restartRefused(now: now)
            // The restart may have been counted too late.
            card.give(.saveRestarts(restarts.withdrawn(now: now)), now: now)
            return
        }
        let count = "restart \(restart.number) of at most \(restart.reason.most) \(RestartLimit.withinWindow)"
        tell(event: .machineRestarting(reason: "\(restart.words); \(count)"))
        perform(appliance.powerOffRequested(.reboot, now: now))
    }
}
