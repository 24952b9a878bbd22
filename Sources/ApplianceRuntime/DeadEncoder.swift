import ApplianceLogic
import LinuxIO
import Media
import StreamLogic

// A hardware encoder whose firmware is dead. Streams continue in software, and restarting the machine helps.
extension ApplianceDevice {
    /// A stream's report about its encoders.
    func encoderReported(_ event: StreamEvent, now: MediaTimestamp) {
        switch event {
        case .hardwareEncoderDead(let reason): encoderHealth.died(reason: reason)
        case .encoderRestarted, .softwareEncoderInUse: encoderHealth.encoderChanged()
        case .status(let status):
            encoderHealth.statusReported(
                isHardware: status.encoder?.isHardware ?? false, givesFrames: status.rates.videoFramesPerSecond > 0)
        default: return
        }
        hardwareEncoderChecked(now: now)
    }

    /// Shows whether the encoder is dead, and restarts the machine for it when nobody needs the machine.
    func hardwareEncoderChecked(now: MediaTimestamp) {
        if files.board?.encoder == .openh264 { encoderHealth.hardwareUnwanted() }
        let fault = encoderFault
        if fault != appliance.faultBook.deadEncoder { faultsChanged(now: now) { $0.hardwareEncoderChecked(fault) } }
        guard encoderHealth.wantsRestart(isIdle: appliance.isIdle, isAllowed: mayRestartForEncoder, now: now) else {
            return
        }
        askForMachineRestart(
            for: .hardwareEncoder, because: "the hardware encoder is dead, and nothing is live", now: now)
    }

    private var mayRestartForEncoder: Bool { files.board?.restartForEncoder ?? false }

    /// Why the hardware encoder is dead, and what helps: no change to a file can fix it.
    private var encoderFault: String? {
        guard let reason = encoderHealth.deathReason else { return nil }
        let helps =
            mayRestartForEncoder
            ? "the machine restarts by itself while nothing is live, at most "
                + "\(RestartLimit.Reason.hardwareEncoder.frequency); or switch the power off and on"
            : "switch the power off and on, or give the console's command reboot, when nothing is live; with "
                + "\"restartForEncoder\": true in board.json the machine does that by itself"
        return "the hardware encoder cannot be opened (\(reason)) until the machine restarts. Streams go on in "
            + "software, which may manage only fewer or smaller frames. What helps: \(helps)"
    }
}
