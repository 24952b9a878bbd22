import Controls
import MediaPipeline
import StreamLogic

// The controls of camera and microphones, as shown to people and programs that change them.
extension LiveStream {
    var controlOffers: [ControlOffer] {
        tracks.controls.state.offers.map { offer in
            switch offer.name {
            case .torch: ControlOffer(.torch, isMissing: "only tallycam run controls the board's light")
            case .webcam: ControlOffer(.webcam, isMissing: "only tallycam run uses the USB device port")
            default: tracks.microphones.offer(offer.name) ?? offer
            }
        }
    }

    /// Each control's present state.
    var controlStatuses: [ControlStatus] {
        let state = tracks.controls.state
        return controlOffers.map { offer in
            tracks.microphones.offer(offer.name) == nil
                ? ControlStatus(offer, wished: state.wished[offer.name], report: state.report)
                : tracks.microphones.status(offer, isMuted: configuration.isMuted)
        }
    }

    func reportMicrophoneChanges() {
        while let (readings, id) = tracks.microphones.takeDone() { controlled(readings, id) }
    }

    func listControls(for id: CommandID) {
        // Before it is live no camera is asked.
        guard timeZero != nil, tracks.videoConfiguration != nil else { return controlled([], id) }
        if !control.set([], for: id) { refuse(.cameraIsBusy, for: id) }
    }

    /// - Parameter readings: empty to list all controls.
    func controlled(_ readings: [ControlReading], _ id: CommandID?) {
        guard !readings.isEmpty else {
            if let id { reporter.answer(id, .controls(controlStatuses)) }
            return
        }
        reporter.emit(.controlled(readings))
        guard let id else { return }
        reporter.answer(id, .done((answersUnderWay.removeValue(forKey: id) ?? []) + readings.map(\.description)))
    }

    /// The camera refused it. Other changes of the same line stay.
    func refusedByCamera(_ error: ControlError, _ id: CommandID?) {
        let others = id.flatMap { answersUnderWay.removeValue(forKey: $0) } ?? []
        refuse(.control(error, othersChanged: !others.isEmpty), for: id)
    }
}
