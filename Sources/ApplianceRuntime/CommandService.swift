import ApplianceLogic
import CommandChannels
import Controls
import LinuxIO
import Media
import Settings
import StreamLogic

/// Takes every parsed command and gives every answer, whoever asks. Used from the main thread.
final class CommandService {
    static let tooMany = CommandAnswer.failed(.tooManyCommands)

    /// The device that the commands apply to.
    unowned let device: ApplianceDevice
    var pending = PendingCommands()

    init(of device: ApplianceDevice) { self.device = device }

    func take(_ line: String, from asker: CommandAsker) {
        let command: ApplianceCommand
        do throws(CommandRefusal) {
            command = try ApplianceCommand(line, on: asker.surface)
        } catch {
            return asker.answer(.failed(.command(error)))
        }
        take(command, from: asker)
    }

    /// Answers right away, or once the answer is known.
    func take(_ command: ApplianceCommand, from asker: CommandAsker) {
        let asker = asker.reading(command.form)
        if let answer = execute(command, for: asker, now: MonotonicClock.now()) { asker.answer(answer) }
    }

    /// - Returns: `nil` if the answer comes later.
    private func execute(
        _ command: ApplianceCommand, for asker: CommandAsker, now: MediaTimestamp
    ) -> CommandAnswer? {
        switch command {
        case .status: return .status(ApplianceStatus(of: device, now: now))
        case .start: return start(now: now)
        case .stop: return stop(now: now)
        case .press: return press(now: now)
        case .settings: return listSettings(for: asker)
        case .quality: return .quality(ApplianceStatus.QualityReading(of: device))
        case .change(let changes): return change(changes, for: asker)
        case .filter(let change): return filter(change, for: asker)
        case .controls: return listControls(for: asker)
        case .snapshot(let purpose, let quality): return takeSnapshot(purpose, quality: quality, for: asker)
        case .record(let order): return record(order, for: asker, now: now)
        case .torch(let torch): return self.torch(torch)
        case .toggleTorch: return toggleTorch()
        case .camera(let choice): return switchCamera(choice, for: asker)
        case .target(let name, let isOn): return switchTarget(name, isOn: isOn, for: asker)
        case .list(let kind, _): return list(kind, for: asker)
        case .pause(let isPaused): return pause(isPaused, for: asker)
        case .togglePause: return togglePause()
        case .toggleMute: return toggleMute()
        case .webcam(let order): return webcam(order, for: asker)
        case .wifi: return device.network.search.start(for: asker, now: now)
        case .page(let admission): return device.page.admit(admission, now: now)
        case .faults:
            let lines = device.appliance.faultBook.lines
            return .done(lines.isEmpty ? ["none"] : lines)
        case .doctor: return device.doctor.start(for: asker, now: now)
        case .events(let count): return .done(Array(device.events.lines.suffix(count)))
        case .followEvents(let form, let count): return followEvents(form, count: count)
        case .powerOff(let kind):
            device.perform(device.appliance.powerOffRequested(kind, now: now))
            return .done([kind == .halt ? "powering off" : "restarting"])
        case .help: return .done(CommandDescription.help(on: asker.surface))
        }
    }

    private func stop(now: MediaTimestamp) -> CommandAnswer {
        device.personActed()
        device.perform(device.appliance.stopRequested(now: now))
        return .done([device.stream.isPublishing ? "stopping" : device.appliance.state.name])
    }

    private func start(now: MediaTimestamp) -> CommandAnswer {
        device.personActed()
        let actions = device.appliance.startRequested(now: now)
        device.perform(actions)
        for case .refuseStart(let fault) in actions {
            return .failed(.startPrevented(fault, details: device.appliance.faultBook.lines))
        }
        return .done([device.appliance.state.name])
    }

    private func press(now: MediaTimestamp) -> CommandAnswer {
        if !device.webcam.allow() { device.perform(device.appliance.shortPressed(now: now)) }
        return .done([])
    }

    private func followEvents(_ form: ReaderForm, count: Int) -> CommandAnswer {
        switch form {
        case .json:
            let event = ApplianceEvent.deviceStateChanged(device.appliance.state)
            return .follow(.json, first: device.json(of: event))
        case .text:
            let lines = device.events.lines.suffix(count)
            return .follow(.text, first: Array(lines.map { "\($0)\n" }.joined().utf8))
        }
    }
}

// MARK: Delayed answers

extension CommandService {
    /// Sends a request to the live stream and answers after it is done.
    /// - Parameters:
    ///   - isEvent: whether the result is also an event.
    ///   - order: makes the command with its number; `nil` if nobody waits for the answer.
    func askStream(
        for asker: CommandAsker, isEvent: Bool, _ order: (CommandID?) -> PublisherCommand
    ) -> CommandAnswer? {
        guard !isEvent || !asker.seesEvents else {
            device.stream.send(order(nil))
            return Self.seeEvents
        }
        guard let id = pending.add(.answer, for: asker, now: MonotonicClock.now()) else { return Self.tooMany }
        device.stream.send(order(id))
        return nil
    }

    static let seeEvents = CommandAnswer.done(["asked for; see events for the result"])
    static let notLive = CommandAnswer.failed(.notLive)

    func streamAnswered(_ id: CommandID, _ outcome: CommandOutcome) {
        if case .controls(let controls) = outcome { device.webcam.takeControls(controls) }
        guard let command = pending.remove(id) else { return }
        switch command.purpose {
        case .changes(let changes, let former): answer(command, outcome, changes, former)
        case .answer, .pause: command.asker?.answer(answer(to: outcome))
        // The stream never gets a number for these.
        case .webcamLook, .webcamStop, .eject, .snapshot: break
        }
    }

    func answer(to outcome: CommandOutcome) -> CommandAnswer {
        switch outcome {
        case .done(let lines): .done(lines)
        case .refused(let refusal): .failed(.command(refusal))
        case .controls(let controls): .controls(controls.map(withDevice))
        case .status(let status): .done([status.qualityText])
        }
    }

    /// The stream's part of a line was done or refused. The device's part has waited for that.
    private func answer(
        _ command: PendingCommand, _ outcome: CommandOutcome, _ changes: DeviceChanges, _ former: [ControlChange]
    ) {
        guard case .done(let lines) = outcome else {
            // The events tell why.
            if !command.watchesEvents { command.asker?.answer(answer(to: outcome)) }
            return
        }
        // The computer's earlier values must not override what a person has set since.
        device.webcam.forget(former)
        guard !changes.isEmpty || !command.watchesEvents else { return }
        let own = perform(changes)
        command.asker?.answer(command.watchesEvents ? own : CommandAnswer.done(lines).followed(by: own))
    }

    /// - Parameter isFollowed: whether another stream starts by itself.
    func streamEnded(isFollowed: Bool) {
        let lost = pending.removeAll { purpose in
            switch purpose {
            case .answer, .changes, .pause, .webcamLook: true
            case .snapshot(let snapshot): snapshot.stage == .taking
            case .webcamStop, .eject: false
            }
        }
        for command in lost {
            switch command.purpose {
            case .snapshot: snapshotFailed(command, .streamEnded)
            case .pause(let isPaused) where isFollowed:
                let answer = pauseNextStream(isPaused)
                command.asker?.answer(answer)
            case _ where command.watchesEvents: break
            default: command.asker?.answer(.failed(.streamEnded))
            }
        }
        device.perform(device.appliance.flashRequested(false))
    }

    var nextDeadline: MediaTimestamp? { pending.nextDeadline }

    func timeReached(now: MediaTimestamp) {
        for asker in pending.timeReached(now: now) { asker.answer(.failed(.noAnswerYet)) }
    }
}
