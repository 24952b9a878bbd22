import MediaPipeline
import StreamLogic

// Switching between the stream's cameras.
extension LiveStream {
    /// The video thread reports the result.
    func switchCamera(_ choice: CameraChoice, for id: CommandID?) {
        switch cameras.choose(choice) {
        case .select(let name):
            answerCameraAskers(.refused(.superseded))
            control.selectCamera(name)
            // A request for the active camera ends a switch, which is then not reported.
            guard name != cameras.current else { return answer(id, "staying on the camera \(name)") }
            if let id { cameraAskers.append((name, id)) }
        case .nothing(let name) where name == cameras.current: answer(id, "the camera is \(name) already")
        case .nothing(let name):
            guard let id else { return reporter.note("already switching to the camera \(name)") }
            cameraAskers.append((name, id))
        case .refuse(let refusal): refuse(refusal, for: id)
        }
    }

    func answer(_ id: CommandID?, _ text: String) {
        guard let id else { return reporter.note(text) }
        reporter.answer(id, .done([text]))
    }

    /// - Parameter name: the requested camera; `nil` for all.
    private func answerCameraAskers(_ outcome: CommandOutcome, of name: String? = nil) {
        let asked = cameraAskers.filter { name == nil || $0.name == name }
        cameraAskers.removeAll { name == nil || $0.name == name }
        for asker in asked { reporter.answer(asker.id, outcome) }
    }

    func cameraSwitched(to name: String, after duration: Duration) {
        guard let before = cameras.switched(to: name) else { return }
        reporter.emit(.cameraSwitched(from: before, to: name, after: duration))
        answerCameraAskers(.done(["the camera is \(name) now"]), of: name)
        showSnapshot(isDue: true)
    }

    func cameraSwitchFailed(_ name: String, _ reason: String) {
        cameras.failed(name)
        let present = cameras.current ?? ""
        reporter.emit(.cameraSwitchFailed(name, reason: reason, keeping: present))
        answerCameraAskers(.refused(.cameraUnavailable(name, reason: reason, keeping: present)), of: name)
    }
}
