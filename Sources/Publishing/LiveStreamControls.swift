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
        while let (readings, id) = tracks.microphones.takeDone() { controlled(readings, id.map { ControlAsker($0) }) }
    }

    func listControls(for id: CommandID) {
        // Before it is live no camera is asked.
        guard timeZero != nil, tracks.videoConfiguration != nil else { return controlled([], ControlAsker(id)) }
        if !control.set([], for: ControlAsker(id)) { refuse(.cameraIsBusy, for: id) }
    }

    /// - Parameter readings: empty to list all controls.
    func controlled(_ readings: [ControlReading], _ asker: ControlAsker?) {
        if !readings.isEmpty { reporter.emit(.controlled(readings)) }
        guard let asker else { return }
        let changed = CommandOutcome.done(asker.others + readings.map(\.description))
        reporter.answer(asker.id, readings.isEmpty ? .controls(controlStatuses) : changed)
    }

    /// The camera refused it. Other changes of the same line stay.
    func refusedByCamera(_ error: ControlError, _ asker: ControlAsker?) {
        refuse(.control(error, othersChanged: asker?.others.isEmpty == false), for: asker?.id)
    }
}
