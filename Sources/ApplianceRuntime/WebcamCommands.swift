import CommandChannels
import LinuxIO
import StreamLogic

// The webcam.
extension CommandService {
    func webcam(_ order: WebcamOrder, for asker: CommandAsker) -> CommandAnswer? {
        device.personActed()
        switch order {
        case .allow:
            return device.webcam.allow() ? device.webcam.answer : .failed(.noWaitingProgram)
        case .start: return device.webcam.set(true)
        case .stop:
            let answer = device.webcam.set(false)
            // An asker that does not see the events is answered when the gadget is gone.
            guard answer.isGood, !asker.seesEvents, device.webcam.isEnding else { return answer }
            return pending.add(.webcamStop, for: asker, now: MonotonicClock.now()) == nil ? answer : nil
        }
    }

    /// The gadget is gone, or the kernel does not release it in time.
    func webcamStopped() {
        let stopped = pending.removeAll { if case .webcamStop = $0 { true } else { false } }
        for command in stopped { command.asker?.answer(device.webcam.answer) }
    }
}
