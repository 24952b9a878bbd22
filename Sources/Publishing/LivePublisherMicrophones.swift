import Controls
import DevicePorts
import LinuxIO
import Media
import MediaPipeline
import StreamLogic

/// A change of microphones that is being made: they look for it with each block.
struct MicrophoneChange {
    /// Some blocks, and a card's mixer.
    static let duration = Duration.milliseconds(150)

    let changes: [ControlChange]
    let id: CommandID?
    let end: MediaTimestamp
}

// Gain and mute of each microphone, changed while live.
extension LivePublisher {
    private var microphones: [MicrophoneControl] { settings.media.audio.microphones }

    /// Each control that the stream has: those of the camera, and those of the microphones.
    var controlOffers: [ControlOffer] {
        tracks.controls.state.offers.map { offer in
            switch offer.name {
            case .microphoneGain where microphones.isEmpty, .mute where microphones.isEmpty:
                ControlOffer(offer.name, isMissing: "the stream has no microphone")
            case .microphoneGain:
                ControlOffer(offer.name, range: MicrophoneLevel.gainRange, microphoneCount: microphones.count)
            case .mute: ControlOffer(offer.name, words: ["on", "off"], microphoneCount: microphones.count)
            case .torch: ControlOffer(offer.name, isMissing: "the light is the board's, of tallycam run")
            default: offer
            }
        }
    }

    /// Each control as it is.
    var controlStatuses: [ControlStatus] {
        let state = tracks.controls.state
        return controlOffers.map { offer in
            switch offer.name {
            case .microphoneGain where offer.absence == nil:
                ControlStatus(offer, value: nil, reported: microphones.indices.map(gainText).joined(separator: ", "))
            case .mute where offer.absence == nil:
                ControlStatus(
                    offer, value: .flag(configuration.isMuted),
                    reported: microphones.indices.map(muteText).joined(separator: ", "))
            default: ControlStatus(offer, wished: state.wished[offer.name], report: state.report)
            }
        }
    }

    /// Asks the microphones; what has become of it is reported a moment later.
    func change(microphones changes: [ControlChange], for id: CommandID?) {
        guard !changes.isEmpty else { return }
        for change in changes {
            switch change.value {
            case .number(let decibels): for microphone in microphones { microphone.setGain(decibels) }
            case .microphoneGain(let number, let decibels):
                if microphones.indices.contains(number - 1) { microphones[number - 1].setGain(decibels) }
            case .microphoneMute(let number, let isMuted):
                if microphones.indices.contains(number - 1) { microphones[number - 1].setMuted(isMuted) }
            default: break
            }
        }
        let end = MonotonicClock.now() + MicrophoneChange.duration
        microphoneChanges.append(MicrophoneChange(changes: changes, id: id, end: end))
    }

    func reportMicrophoneChanges(now: MediaTimestamp) {
        while let change = microphoneChanges.first, change.end <= now {
            microphoneChanges.removeFirst()
            let readings = change.changes.map { ControlReading($0.name, $0.value, reported: reported($0)) }
            reporter.emit(.controlled(readings))
            if let id = change.id { reporter.answer(id, .done(readings.map(\.description))) }
        }
    }

    private func reported(_ change: ControlChange) -> String {
        let text = change.name == .mute ? muteText : gainText
        switch change.value {
        case .microphoneGain(let number, _), .microphoneMute(let number, _): return text(number - 1)
        default: return microphones.indices.map(text).joined(separator: ", ")
        }
    }

    /// "2: 6 dB by the card, 1.5 dB on the way".
    private func gainText(_ index: Int) -> String {
        guard microphones.indices.contains(index), let gain = microphones[index].applied?.gain else {
            return "\(index + 1): not open"
        }
        let digital = "\(fixed(gain.digital, decimals: 1)) dB on the way"
        guard let hardware = gain.hardware else { return "\(index + 1): \(digital)" }
        let card = "\(fixed(hardware, decimals: 1)) dB by the card"
        return "\(index + 1): \(card)" + (gain.digital == 0 ? "" : ", \(digital)")
    }

    private func muteText(_ index: Int) -> String {
        guard microphones.indices.contains(index), let level = microphones[index].applied?.level else {
            return "\(index + 1): not open"
        }
        return "\(index + 1): \(level.isMuted ? "muted" : "heard")"
    }
}
