import ApplianceLogic
import CardStorage
import LinuxIO
import Media

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
            device.tell(.crashedWithoutStream)
        case .resumes(let number):
            isBoot = false
            let isPaused = resumed.isPaused
            device.tell(.streamResumed(number: number))
            device.perform(device.appliance.startRequested(now: now))
            if isPaused { device.perform(device.appliance.streamPaused(true, now: now)) }
        case .stands:
            isBoot = false
            let fault =
                "streaming keeps crashing the program, so it does not start by itself: press the button to try again; "
                + "if it crashes again, report it with events.txt"
            device.perform(device.appliance.faultsChanged(now: now) { $0.streamStands(fault) })
        }
    }

    private func machineStarted(now: MediaTimestamp) {
        switch device.restarts.takeStart() {
        case .resumes: device.perform(device.appliance.startRequested(now: now))
        case .staysOff:
            // Someone has stopped the stream, so it must not start by itself a minute later.
            isBoot = false
            device.tell(.streamStaysOff)
        case .asEver: break
        }
    }
}
