import ApplianceLogic
import BoardRuntime
import CommandChannels
import Controls
import Filters
import LinuxIO
import Settings
import StreamLogic

// Commands that change what is captured and sent.
extension CommandService {
    /// Passes changes on to the live stream, which itself reports whether it can make them.
    func change(_ requested: RequestedChanges, for asker: CommandAsker) -> CommandAnswer? {
        var changes = requested
        let ofDevice = DeviceChanges(
            takenFrom: &changes, hasMute: !device.stream.isRunning && device.webcam.isWanted)
        guard device.stream.isRunning || changes.count == 0 || mayChangeIdle(changes) else { return Self.notLive }
        if let light = ofDevice.light, let refusal = torchRefusal("\(light)") { return .failed(refusal) }
        guard changes.count > 0 else { return perform(ofDevice) }
        guard device.stream.isRunning else { return changeIdle(changes.controls, with: ofDevice) }
        return send(changes, with: ofDevice, for: asker)
    }

    /// Whether a computer uses the camera and no stream does.
    private func mayChangeIdle(_ changes: RequestedChanges) -> Bool {
        changes.configuration.isEmpty && changes.controls.allSatisfy(\.name.isOfCamera)
            && device.webcam.idleControls != nil
    }

    /// The camera applies the change with one of its next frames.
    private func changeIdle(_ changes: [ControlChange], with ofDevice: DeviceChanges) -> CommandAnswer {
        do throws(ControlError) {
            try (device.webcam.idleControls ?? []).map(\.offer).check(changes)
        } catch {
            return .failed(.command(.control(error, othersChanged: false)))
        }
        device.personActed()
        device.webcam.changeForPerson(changes)
        return CommandAnswer.done(changes.map(\.description)).followed(by: perform(ofDevice))
    }

    /// The device's changes wait for the stream's answer, because a line takes effect completely or not at all.
    private func send(
        _ changes: RequestedChanges, with ofDevice: DeviceChanges, for asker: CommandAsker
    ) -> CommandAnswer? {
        // Earlier changes by the computer must not take effect after this.
        device.webcam.applyAllComputersChanges()
        let former = device.webcam.settings(of: changes.controls.map(\.name))
        guard !ofDevice.isEmpty || !former.isEmpty else {
            return askStream(for: asker, isEvent: true) { .apply(changes, $0) }
        }
        let id = pending.add(
            .changes(device: ofDevice, former: former), for: asker, watchesEvents: asker.seesEvents,
            now: MonotonicClock.now())
        guard let id else { return Self.tooMany }
        device.stream.send(.apply(changes, id))
        return asker.seesEvents ? Self.seeEvents : nil
    }

    func perform(_ changes: DeviceChanges) -> CommandAnswer {
        let answers = [
            changes.light.map { torch(DeviceDescription.Torch(rawValue: "\($0)")) },
            changes.isWebcam.map { device.webcam.set($0) },
            changes.isMuted.map { device.webcam.mute($0) },
        ].compactMap { $0 }
        return answers.reduce(.done([])) { $0.followed(by: $1) }
    }

    /// See `change`.
    func switchCamera(_ choice: CameraChoice, for asker: CommandAsker) -> CommandAnswer? {
        let names = device.files.device.cameras.map(\.name)
        guard names.count > 1 else { return .failed(.singleCamera) }
        if case .named(let name) = choice, !names.contains(name) {
            return .failed(.command(.unknownCamera(name, available: names)))
        }
        guard device.stream.isRunning else { return Self.notLive }
        return askStream(for: asker, isEvent: true) { .switchCamera(choice, $0) }
    }

    /// See `change`.
    func switchTarget(_ name: String, isOn: Bool, for asker: CommandAsker) -> CommandAnswer? {
        guard device.stream.isPublishing else { return Self.notLive }
        return askStream(for: asker, isEvent: false) { .switchTarget(name, isOn: isOn, $0) }
    }

    /// See `change`.
    func filter(_ change: FilterChange, for asker: CommandAsker) -> CommandAnswer? {
        guard device.stream.isRunning else { return Self.notLive }
        return askStream(for: asker, isEvent: true) { .filter(change, $0) }
    }

    func toggleMute() -> CommandAnswer {
        if device.stream.isRunning {
            device.stream.send(.toggleMute)
            return Self.seeEvents
        }
        guard device.webcam.isWanted else { return .failed(.nothingToMute) }
        return device.webcam.mute(!device.webcam.relay.isMuted)
    }

    // MARK: Pause

    /// See `change`. If the stream is interrupted at the moment, it will come back in this state.
    func pause(_ isPaused: Bool, for asker: CommandAsker) -> CommandAnswer? {
        guard device.stream.isPublishing else { return pauseNextStream(isPaused) }
        // It may end before it answers, so it needs a number even if nobody waits.
        let id = pending.add(.pause(isPaused), for: asker.seesEvents ? nil : asker, now: MonotonicClock.now())
        guard let id else { return Self.tooMany }
        device.stream.send(.pause(isPaused, id))
        return asker.seesEvents ? Self.seeEvents : nil
    }

    func togglePause() -> CommandAnswer {
        guard !device.stream.isPublishing else {
            device.stream.send(.togglePause)
            return Self.seeEvents
        }
        return pauseNextStream(!device.appliance.isPaused)
    }

    func pauseNextStream(_ isPaused: Bool) -> CommandAnswer {
        guard device.appliance.wantsStream else { return .failed(.nothingToPause) }
        guard device.appliance.isPaused != isPaused else {
            return .done([PauseNotice.already(isPaused).description])
        }
        device.supervisor.reported(.said(.event(.paused(isPaused))))
        return .done([PauseNotice.forNextStream(isPaused).description])
    }
}
