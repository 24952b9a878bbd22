import ApplianceLogic
import LinuxIO
import Media
import StreamLogic

// A hardware encoder whose firmware is dead: streams go on in software, and a restart of the machine is what helps.
extension ApplianceRunner {
    /// What a stream says of its encoders.
    func encoderTold(_ event: Event, now: MediaTimestamp) {
        switch EventCode(rawValue: event.code) {
        case .hardwareEncoderDead: encoderHealth.died(reason: event.text(of: "reason") ?? "it does not open")
        case .encoderRestarted, .softwareEncoderInUse: encoderHealth.encoderChanged()
        case .status:
            encoderHealth.statusTold(
                isHardware: status.encoder?.hasPrefix("v4l2:") ?? false,
                givesFrames: (status.framesPerSecond ?? 0) > 0)
        default: return
        }
        hardwareEncoderChecked(now: now)
    }

    /// Shows whether the encoder is dead, and restarts the machine for it when nobody needs it.
    func hardwareEncoderChecked(now: MediaTimestamp) {
        if files.board?.encoder == .openh264 { encoderHealth.hardwareUnwanted() }
        if encoderHealth.isDead != appliance.faults.contains(.hardwareEncoder) {
            perform(
                encoderHealth.isDead
                    ? appliance.faultRaised(.hardwareEncoder, now: now)
                    : appliance.faultCleared(.hardwareEncoder, now: now))
            reportFaults(now: now)
        }
        guard encoderHealth.wantsRestart(isIdle: appliance.isIdle, isAllowed: mayRestartForEncoder, now: now) else {
            return
        }
        askForMachineRestart(
            for: .hardwareEncoder, because: "the hardware encoder is dead, and nothing is live", now: now)
    }

    private var mayRestartForEncoder: Bool { files.board?.restartForEncoder ?? false }

    /// No file can mend it.
    var encoderFaults: [FaultReport.Entry] {
        guard let reason = encoderHealth.deathReason else { return [] }
        let helps =
            mayRestartForEncoder
            ? "the machine does that by itself while nothing is live, at most once an hour; power off and on helps, too"
            : "switch the power off and on, or give the console's command reboot, when nothing is live; with "
                + "\"restartForEncoder\": true in board.json the machine does that by itself"
        return [
            FaultReport.Entry(
                fault: .hardwareEncoder,
                text:
                    "the hardware encoder opens no more (\(reason)), until the machine is restarted. Streams go on in "
                    + "software, where the processor may carry fewer frames, or smaller ones only. What helps: \(helps)"
            )
        ]
    }
}
