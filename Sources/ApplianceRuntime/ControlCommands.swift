import BoardRuntime
import CommandChannels
import Controls
import LinuxIO
import Media
import Settings
import StreamLogic

// Commands that list settings and controls.
extension CommandService {
    func listSettings(for asker: CommandAsker) -> CommandAnswer? {
        guard device.stream.isRunning else { return Self.notLive }
        return list(for: asker) { .listSettings($0) }
    }

    func listControls(for asker: CommandAsker) -> CommandAnswer? {
        guard device.stream.isRunning else { return .controls(controlsWithoutStream.map(withDevice)) }
        return list(for: asker) { .listControls($0) }
    }

    private func list(for asker: CommandAsker, _ order: (CommandID) -> PublisherCommand) -> CommandAnswer? {
        guard let id = pending.add(.answer, for: asker, now: MonotonicClock.now()) else { return Self.tooMany }
        device.stream.send(order(id))
        return nil
    }

    /// Asks the stream for its camera's controls, for the computer's dialog.
    func lookAtControls() {
        guard device.webcam.isWanted, device.stream.isRunning else { return }
        // This look replaces an earlier one.
        _ = pending.removeAll { if case .webcamLook = $0 { true } else { false } }
        guard let id = pending.add(.webcamLook, for: nil, now: MonotonicClock.now()) else { return }
        device.stream.send(.listControls(id))
    }

    /// Every control, with the known state of the camera that serves a webcam.
    private var controlsWithoutStream: [ControlStatus] {
        let known = (device.webcam.idleControls ?? []).filter { $0.offer.name.isOfCamera }
        return ControlName.allCases.map { name in
            let missing = ControlOffer(name, isMissing: "it is known while the stream is live")
            return known.first { $0.offer.name == name } ?? ControlStatus(missing, value: nil, reported: nil)
        }
    }

    /// Light and webcam belong to the device, not to a camera.
    func withDevice(_ status: ControlStatus) -> ControlStatus {
        let webcam = device.webcam
        switch status.offer.name {
        case .torch: return torchStatus
        case .webcam:
            return ControlStatus(
                ControlOffer(.webcam, words: ["on", "off"]), value: .flag(webcam.isWanted),
                reported: webcam.status.text)
        case .mute where !device.stream.isRunning && webcam.isWanted:
            return ControlStatus(
                ControlOffer(.mute, words: ["on", "off"]), value: .flag(webcam.relay.isMuted),
                reported: "of what a computer hears")
        default: return status
        }
    }

    private var torchStatus: ControlStatus {
        if let absence = device.torchAbsence {
            return ControlStatus(ControlOffer(.torch, isMissing: absence.description), value: nil, reported: nil)
        }
        return ControlStatus(
            ControlOffer(.torch), value: .word(DeviceDescription.Torch(device.appliance.torchMode).rawValue),
            reported: device.appliance.isTorchLit ? "lit" : "dark")
    }
}
