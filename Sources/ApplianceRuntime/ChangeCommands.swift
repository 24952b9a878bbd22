import ApplianceLogic
import Controls
import Filters
import Settings
import StreamLogic

// Commands that change what is captured and sent.
extension ApplianceRunner {
    /// Passes changes on to the live stream; what came of them is among the events, too.
    func change(_ words: some Sequence<String>, for asker: CommandAsker) -> CommandAnswer {
        // Whether the stream can do it, it says itself; a wrong name is reported at once.
        do {
            var changes = try RequestedChanges(parsing: words)
            let ofDevice = DeviceChanges(takenFrom: &changes, hasMute: !stream.isRunning && webcam.isWanted)
            guard stream.isRunning || changes.count == 0 || mayChangeIdle(changes) else {
                return .failed("not live; device.json says what a stream starts with")
            }
            if let light = ofDevice.light, let problem = torchProblem("\(light)") { return .failed(problem) }
            guard changes.count > 0 else { return perform(ofDevice) }
            guard stream.isRunning else { return try changeIdle(changes.controls, with: ofDevice) }
            return send(changes, with: ofDevice, for: asker)
        } catch {
            return .failed("\(error)")
        }
    }

    /// A computer looks through the camera, and no stream does.
    private func mayChangeIdle(_ changes: RequestedChanges) -> Bool {
        changes.configuration.isEmpty && changes.controls.allSatisfy(\.name.isOfCamera) && idleControls != nil
    }

    /// The camera has it with one of its next frames.
    private func changeIdle(
        _ changes: [ControlChange], with ofDevice: DeviceChanges
    ) throws(ControlError) -> CommandAnswer {
        try (idleControls ?? []).map(\.offer).check(changes)
        personActed()
        changeForPerson(changes)
        var answer = perform(ofDevice)
        answer.text = changes.map { "\($0)\n" }.joined() + answer.text
        return answer
    }

    /// The device's changes wait for the stream's answer: a line takes effect as a whole, or not at all.
    private func send(
        _ changes: RequestedChanges, with ofDevice: DeviceChanges, for asker: CommandAsker
    ) -> CommandAnswer {
        // What it has moved before is not to take effect after this.
        applyAllComputersChanges()
        let former = webcam.settings.held(of: changes.controls.map(\.name))
        // The console shows the events.
        let id = asker == .socket || !ofDevice.isEmpty || !former.isEmpty ? nextCommand() : nil
        if let id, !former.isEmpty { awaitedSettings[id] = former }
        if let id, !ofDevice.isEmpty {
            awaitedDeviceChanges[id] = ofDevice
            if asker == .console { consoleCommands.insert(id) }
        }
        stream.send(.apply(changes, id))
        guard asker == .socket, let id else {
            return CommandAnswer(text: "asked for; see events for the result\n")
        }
        return .later(id)
    }

    func perform(_ changes: DeviceChanges) -> CommandAnswer {
        let answers = [
            changes.light.map { torch("\($0)") },
            changes.isWebcam.map { setWebcam($0 ? "start" : "stop") },
            changes.isMuted.map { muteWebcam($0) },
        ].compactMap { $0 }
        return CommandAnswer(isGood: answers.allSatisfy(\.isGood), text: answers.map(\.text).joined())
    }

    /// As `change`.
    func switchCamera(_ name: String, for asker: CommandAsker) -> CommandAnswer {
        let names = files.device.cameras.map(\.name)
        guard names.count > 1 else { return .failed("there is one camera; cameras of device.json names several") }
        if name != "next", let problem = CameraSelection.problem(with: name, among: names) { return .failed(problem) }
        guard stream.isRunning else { return .failed("not live; device.json says what a stream starts with") }
        let id = asker == .socket ? nextCommand() : nil
        stream.send(.switchCamera(CameraChoice(name), id))
        return id.map { .later($0) } ?? CommandAnswer(text: "asked for; see events for the result\n")
    }

    /// As `change`. A stream that is away just now, and comes back by itself, comes back so.
    func pause(_ isPaused: Bool, for asker: CommandAsker) -> CommandAnswer {
        guard stream.isRunning else { return pauseNextStream(isPaused) }
        let id = nextCommand()
        awaitedPauses[id] = isPaused
        stream.send(.pause(isPaused, id))
        guard asker == .socket else { return CommandAnswer(text: "asked for; see events for the result\n") }
        return .later(id)
    }

    private func pauseNextStream(_ isPaused: Bool) -> CommandAnswer {
        guard appliance.wantsStream else { return .failed("not live: there is nothing to pause") }
        guard appliance.isPaused != isPaused else {
            return CommandAnswer(text: isPaused ? "the stream is paused already\n" : "the stream is not paused\n")
        }
        streamReported(.said(.event(.paused(isPaused))))
        return CommandAnswer(
            text: isPaused
                ? "paused: the stream is away, and comes back paused\n"
                : "no longer paused: the stream is away, and comes back with the camera\n")
    }

    func togglePause() {
        guard !stream.isRunning else { return stream.send(.togglePause) }
        let answer = pauseNextStream(!appliance.isPaused)
        if !answer.isGood { tell("\(answer.text.dropLast())") }
    }

    /// The stream has ended before it took up what it was asked for: the next one does.
    /// - Parameter isFollowed: another one starts by itself.
    func streamLeftPauses(isFollowed: Bool) {
        let pauses = awaitedPauses.sorted { $0.key.number < $1.key.number }
        awaitedPauses = [:]
        guard isFollowed else { return }
        for (id, isPaused) in pauses { _ = control.answer(id, pauseNextStream(isPaused)) }
    }

    /// - Parameter text: the filter, as `--filter` takes it.
    func filter(_ text: String, for asker: CommandAsker) -> CommandAnswer {
        do throws(FilterError) {
            let change = try FilterChange(parsing: text)
            guard stream.isRunning else { return .failed("not live; device.json says what a stream starts with") }
            let id = asker == .socket ? nextCommand() : nil
            stream.send(.filter(change, id))
            return id.map { .later($0) } ?? CommandAnswer(text: "asked for; see events for the result\n")
        } catch {
            return .failed("\(error)")
        }
    }
}

/// Light and webcam are not the stream's, nor is mute where there is none.
struct DeviceChanges {
    let light: ControlValue?
    let isWebcam: Bool?
    let isMuted: Bool?

    var isEmpty: Bool { light == nil && isWebcam == nil && isMuted == nil }

    /// - Parameter hasMute: a computer hears the microphones, and no stream does.
    init(takenFrom changes: inout RequestedChanges, hasMute: Bool) {
        light = changes.take(.torch)
        isWebcam = changes.take(.webcam).map { $0 == .flag(true) }
        isMuted = hasMute ? changes.takeMute() : nil
    }
}
