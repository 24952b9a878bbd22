import ApplianceLogic
import CommandChannels
import LinuxIO
import Media
import StreamLogic

// Recordings on the camera.
extension CommandService {
    /// The events tell when the recording runs, because a disk may take its time.
    func record(_ order: RecordOrder, for asker: CommandAsker, now: MediaTimestamp) -> CommandAnswer? {
        device.personActed()
        let recording = device.recording
        switch order {
        case .start: return setRecording(true)
        case .stop: return setRecording(false)
        case .toggle: return setRecording(!recording.isWanted)
        case .mark(let text):
            guard recording.reading.isOn else { return .failed(.nothingIsRecorded) }
            recording.mark(text)
            return .done(["marked"])
        case .eject:
            guard pending.add(.eject, for: asker, now: now) != nil else { return Self.tooMany }
            if recording.eject() { return nil }
            ejected(.failed(.recordingIsOff))
            return nil
        }
    }

    private func setRecording(_ isOn: Bool) -> CommandAnswer {
        let wasWanted = device.recording.isWanted
        guard device.recording.order(isOn) else { return .failed(.recordingIsOff) }
        if isOn { return .done([wasWanted ? "recording already" : "recording starts"]) }
        return .done([wasWanted ? "recording stops" : "nothing was being recorded"])
    }

    /// The disk may be pulled out, or not.
    func ejected(_ answer: CommandAnswer) {
        let commands = pending.removeAll { if case .eject = $0 { true } else { false } }
        for command in commands { command.asker?.answer(answer) }
    }
}
