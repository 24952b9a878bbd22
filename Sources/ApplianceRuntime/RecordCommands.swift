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
            guard let id = pending.add(.answer, for: asker, now: now) else { return Self.tooMany }
            if recording.eject(id) { return nil }
            _ = pending.remove(id)
            return .failed(.recordingIsOff)
        }
    }

    private func setRecording(_ isOn: Bool) -> CommandAnswer {
        let wasWanted = device.recording.isWanted
        guard device.recording.order(isOn) else { return .failed(.recordingIsOff) }
        if isOn { return .done([wasWanted ? "recording already" : "recording starts"]) }
        return .done([wasWanted ? "recording stops" : "nothing was being recorded"])
    }

    /// Answers a command whose result has come.
    func answerPending(_ id: CommandID, _ answer: CommandAnswer) { pending.remove(id)?.asker?.answer(answer) }
}
