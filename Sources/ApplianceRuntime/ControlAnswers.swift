import Controls
import Media
import Settings
import StreamLogic
import Terminal

// Commands whose answer the stream gives, a moment later.
extension ApplianceRunner {
    func nextCommand() -> CommandID {
        lastCommand += 1
        return CommandID(lastCommand)
    }

    /// The stream has answered a command.
    func answered(_ id: CommandID, _ outcome: CommandOutcome) {
        if case .controls(let controls) = outcome, takeControls(controls, for: id) { return }
        awaitedPauses[id] = nil
        if let former = awaitedSettings.removeValue(forKey: id), case .done = outcome {
            // What a person has set since is not put back by what the computer had set before.
            webcam.settings.forget(former)
        }
        if let changes = awaitedDeviceChanges.removeValue(forKey: id) {
            return perform(changes, of: id, after: outcome)
        }
        let isJSON = jsonCommands.remove(id) != nil
        let answer: CommandAnswer =
            switch outcome {
            case .done(let lines): CommandAnswer(text: lines.map { "\($0)\n" }.joined())
            case .refused(let reason): .failed(reason)
            case .controls(let controls):
                CommandAnswer(text: Self.text(of: controls.map(withDevice), asJSON: isJSON))
            case .status(let status): CommandAnswer(text: "\(status.qualityText)\n")
            }
        // A client of the socket that waits no more is not answered elsewhere.
        if !control.answer(id, answer), consoleCommands.remove(id) != nil {
            console?.print(answer.text.split(separator: "\n").joined(separator: "\n"))
        }
    }

    /// The stream's part of a line is done, or refused; the device's part has waited for that.
    private func perform(_ changes: DeviceChanges, of id: CommandID, after outcome: CommandOutcome) {
        let isOfConsole = consoleCommands.remove(id) != nil
        switch outcome {
        case .done(let lines):
            var answer = perform(changes)
            // The stream's part is among the events, which the console shows.
            if isOfConsole {
                console?.print(answer.text.split(separator: "\n").joined(separator: "\n"))
            } else {
                answer.text = lines.map { "\($0)\n" }.joined() + answer.text
                _ = control.answer(id, answer)
            }
        case .refused(let reason): _ = control.answer(id, .failed(reason))
        // Nobody has asked for them under this number.
        case .controls, .status: break
        }
    }

    func listSettings(for asker: CommandAsker) -> CommandAnswer {
        guard stream.isRunning else { return .failed("not live; device.json says what a stream starts with") }
        let id = nextCommand()
        if asker == .console { consoleCommands.insert(id) }
        stream.send(.listSettings(id))
        return asker == .socket ? .later(id) : CommandAnswer(text: "")
    }

    func listControls(asJSON: Bool, for asker: CommandAsker) -> CommandAnswer {
        guard stream.isRunning else {
            return CommandAnswer(text: Self.text(of: controlsWithoutStream.map(withDevice), asJSON: asJSON))
        }
        let id = nextCommand()
        if asJSON { jsonCommands.insert(id) }
        if asker == .console { consoleCommands.insert(id) }
        stream.send(.listControls(id))
        return asker == .socket ? .later(id) : CommandAnswer(text: "")
    }

    /// Of the camera that a computer looks through, if one does.
    private var controlsWithoutStream: [ControlStatus] {
        let known = (idleControls ?? []).filter { $0.offer.name.isOfCamera }
        return ControlName.allCases.map { name in
            let missing = ControlOffer(name, isMissing: "it is known while the stream is live")
            return known.first { $0.offer.name == name } ?? ControlStatus(missing, value: nil, reported: nil)
        }
    }

    /// Light and webcam are the device's, and no camera's.
    private func withDevice(_ status: ControlStatus) -> ControlStatus {
        switch status.offer.name {
        case .torch: torchStatus
        case .webcam:
            ControlStatus(
                ControlOffer(.webcam, words: ["on", "off"]), value: .flag(webcam.isWanted), reported: webcam.status.text)
        case .mute where !stream.isRunning && webcam.isWanted:
            ControlStatus(
                ControlOffer(.mute, words: ["on", "off"]), value: .flag(webcam.relay.isMuted),
                reported: "of what a computer hears")
        default: status
        }
    }

    private var torchStatus: ControlStatus {
        if let torchAbsence {
            return ControlStatus(ControlOffer(.torch, isMissing: torchAbsence), value: nil, reported: nil)
        }
        return ControlStatus(
            ControlOffer(.torch), value: .word(DeviceDescription.Torch(appliance.torchMode).rawValue),
            reported: appliance.isTorchLit ? "lit" : "dark")
    }

    private static func text(of controls: [ControlStatus], asJSON: Bool) -> String {
        asJSON ? String(decoding: controls.jsonLine, as: UTF8.self) : controls.map { "\($0)\n" }.joined()
    }
}
