import Controls
import DevicePorts
import LinuxIO
import Media
import StreamLogic

/// Gain and mute of a stream's microphones, changed while they capture. Each microphone applies a change with its next block,
/// and the result is known a moment later. Used by the thread `stream`.
public final class MicrophoneChanges {
    private struct Change {
        let changes: [ControlChange]
        let id: CommandID?
        let end: MediaTimestamp
    }

    /// A few blocks, and access to a card's mixer.
    private static let patience = Duration.milliseconds(150)

    private let microphones: [MicrophoneControl]
    private let hasAudio: Bool
    private var underWay: [Change] = []

    /// - Parameter hasAudio: whether the stream has audio, from microphones or not.
    init(_ microphones: [MicrophoneControl], hasAudio: Bool) {
        self.microphones = microphones
        self.hasAudio = hasAudio
    }

    /// - Returns: `nil` for controls that do not belong to a microphone.
    public func offer(_ name: ControlName) -> ControlOffer? {
        switch name {
        case .mute:
            guard hasAudio else { return ControlOffer(name, isMissing: "the stream has no audio") }
            return ControlOffer(.mute, words: ["on", "off"], microphoneCount: microphones.count)
        case .microphoneGain:
            guard !microphones.isEmpty else { return ControlOffer(name, isMissing: "the stream has no microphone") }
            return ControlOffer(.microphoneGain, range: MicrophoneLevel.gainRange, microphoneCount: microphones.count)
        default: return nil
        }
    }

    /// - Parameter isMuted: the mute state of all of the stream's audio.
    public func status(_ offer: ControlOffer, isMuted: Bool) -> ControlStatus {
        guard offer.absence == nil else { return ControlStatus(offer, value: nil, reported: nil) }
        let text = offer.name == .mute ? muteText : gainText
        return ControlStatus(
            offer, value: offer.name == .mute ? .flag(isMuted) : nil,
            reported: microphones.isEmpty ? nil : microphones.indices.map(text).joined(separator: ", "))
    }

    /// - Parameter changes: changes that the offers allow.
    public func change(_ changes: [ControlChange], for id: CommandID?) {
        guard !changes.isEmpty else { return }
        for change in changes {
            switch change.value {
            case .number(let decibels): for microphone in microphones { microphone.setGain(decibels) }
            case .microphoneGain(let number, let decibels): microphone(number)?.setGain(decibels)
            case .microphoneMute(let number, let isMuted): microphone(number)?.setMuted(isMuted)
            default: break
            }
        }
        underWay.append(Change(changes: changes, id: id, end: MonotonicClock.now() + Self.patience))
    }

    /// When `takeDone` will have a result.
    public var deadline: MediaTimestamp? { underWay.first?.end }

    /// The result of a change.
    public func takeDone() -> (readings: [ControlReading], id: CommandID?)? {
        guard let change = underWay.first, change.end <= MonotonicClock.now() else { return nil }
        underWay.removeFirst()
        return (change.changes.map { ControlReading($0.name, $0.value, reported: reported($0)) }, change.id)
    }

    private func microphone(_ number: Int) -> MicrophoneControl? {
        microphones.indices.contains(number - 1) ? microphones[number - 1] : nil
    }

    private func reported(_ change: ControlChange) -> String {
        let text = change.name == .mute ? muteText : gainText
        switch change.value {
        case .microphoneGain(let number, _), .microphoneMute(let number, _): return text(number - 1)
        default: return microphones.indices.map(text).joined(separator: ", ")
        }
    }

    /// "2: 6.0 dB by the card, 1.5 dB on the way".
    private func gainText(_ index: Int) -> String {
        guard let gain = microphone(index + 1)?.applied?.gain else { return "\(index + 1): not open" }
        let digital = "\(fixed(gain.digital, decimals: 1)) dB on the way"
        guard let hardware = gain.hardware else { return "\(index + 1): \(digital)" }
        let card = "\(fixed(hardware, decimals: 1)) dB by the card"
        return "\(index + 1): \(card)" + (gain.digital == 0 ? "" : ", \(digital)")
    }

    private func muteText(_ index: Int) -> String {
        guard let level = microphone(index + 1)?.applied?.level else { return "\(index + 1): not open" }
        return "\(index + 1): \(level.isMuted ? "muted" : "heard")"
    }
}
