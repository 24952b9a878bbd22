import Controls
import JSONText
import Media
import Settings
import StreamLogic

// Commands whose answer the stream gives, a moment later.
extension ApplianceRunner {
    func nextCommand() -> CommandID {
        lastCommand += 1
        return CommandID(lastCommand)
    }

    /// The stream has answered a command.
    func answered(_ id: CommandID, _ outcome: CommandOutcome) {
        let isJSON = jsonCommands.remove(id) != nil
        let answer: CommandAnswer =
            switch outcome {
            case .done(let lines): CommandAnswer(text: lines.map { "\($0)\n" }.joined())
            case .refused(let reason): .failed(reason)
            case .controls(let controls):
                CommandAnswer(text: Self.text(of: controls.map(withTorch), asJSON: isJSON))
            }
        // A client of the socket that waits no more is not answered elsewhere.
        if !control.answer(id, answer), consoleCommands.remove(id) != nil {
            console?.print(answer.text.split(separator: "\n").joined(separator: "\n"))
        }
    }

    func listControls(asJSON: Bool, for asker: CommandAsker) -> CommandAnswer {
        guard stream.isRunning else {
            let controls = [ControlOffer].allMissing("it is known while the stream is live").map { offer in
                withTorch(ControlStatus(offer, wished: nil, report: CameraReport()))
            }
            return CommandAnswer(text: Self.text(of: controls, asJSON: asJSON))
        }
        let id = nextCommand()
        if asJSON { jsonCommands.insert(id) }
        if asker == .console { consoleCommands.insert(id) }
        stream.send(.listControls(id))
        return asker == .socket ? .later(id) : CommandAnswer(text: "")
    }

    /// The light is the device's, and no camera's.
    private func withTorch(_ status: ControlStatus) -> ControlStatus {
        guard status.offer.name == .torch else { return status }
        guard files.board?.flashLED != nil else {
            return ControlStatus(
                ControlOffer(.torch, isMissing: "board.json names no flash LED"), value: nil, reported: nil)
        }
        return ControlStatus(
            ControlOffer(.torch), value: .word(DeviceDescription.Torch(appliance.torchMode).rawValue),
            reported: appliance.isTorchLit ? "lit" : "dark")
    }

    private static func text(of controls: [ControlStatus], asJSON: Bool) -> String {
        guard asJSON else { return controls.map { "\($0)\n" }.joined() }
        var writer = JSONLineWriter()
        let line = writer.arrayLine { array in
            for control in controls { array.writeObject { control.write(to: $0) } }
        }
        return String(decoding: line, as: UTF8.self)
    }
}

extension ControlStatus {
    fileprivate func write(to object: borrowing JSONObjectWriter) {
        object.write("name", offer.name.rawValue)
        if let absence = offer.absence { return object.write("missing", absence) }
        if let value { object.write("value", "\(value)") }
        if let reported { object.write("reported", reported) }
        let unit = ControlDescription.of(offer.name).unit
        if !unit.isEmpty { object.write("unit", unit) }
        if let range = offer.range {
            object.write("minimum", range.lowerBound)
            object.write("maximum", range.upperBound)
        }
        if !offer.words.isEmpty {
            object.writeArray("choices") { array in
                for word in offer.words { array.write(word) }
            }
        }
    }
}
