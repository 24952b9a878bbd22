import ApplianceLogic
import LinuxIO
import Media
import Settings
import StreamLogic
import Terminal
import Transport

// Reports from threads, and what they mean for the appliance.
extension ApplianceRunner {
    func buttonMeant(_ actions: [ButtonGestures.Action]) {
        let now = MonotonicClock.now()
        for action in actions {
            switch action {
            case .acknowledgePress: board.answer(.press, now: now)
            case .acknowledgeLongPress: board.answer(.longPress, now: now)
            case .shortPress:
                personActed()
                tell("button pressed")
                commands.take(.press, from: button(onFailure: "not done: "))
            case .doublePress:
                personActed()
                tell("button pressed twice")
                board.answer(.doublePress, now: now)
                doublePressed()
            case .longPress:
                personActed()
                tell("button held: power-off")
                commands.take(.powerOff(.halt), from: button(onFailure: "no power-off: "))
            case .forgetPress, .setTimer: break
            }
        }
    }

    private func doublePressed() {
        guard !appliance.isPoweringOff else { return }
        switch files.device.doublePress {
        // The file has just changed.
        case .none: break
        case .snapshot: commands.take(.snapshot(.keep, quality: nil), from: button(onFailure: "no snapshot: "))
        case .camera: commands.take(.camera(.next), from: button(onFailure: "no other camera: "))
        case .mute: commands.take(.toggleMute, from: button(onFailure: ""))
        case .pause: commands.take(.togglePause, from: button(onFailure: ""))
        case .torch: commands.take(.toggleTorch, from: button(onFailure: "no torch: "))
        }
    }

    /// The button as an asker: the light shows what comes of a press, and the events say why nothing does.
    private func button(onFailure words: String) -> CommandAsker {
        CommandAsker(on: .console, seesEvents: true) { [unowned self] answer, _ in
            if case .failed(let reason) = answer { tell(words + reason) }
        }
    }

    /// Somebody has asked for something: what comes from now on is the answer.
    func personActed() { events.personActed() }

    func cardReported(_ report: CardEvent) {
        let now = MonotonicClock.now()
        card.answered(report, now: now)
        switch report {
        case .looked(let hasChanged):
            guard hasChanged else { return }
            personActed()
            tell("the files on the boot partition have changed")
            perform(appliance.configurationChanged(now: now))
        case .read(let files): load(files.value)
        case .written: boardChecked(now: now)
        case .restartsSaved(let isSaved): restartsSaved(isSaved, now: now)
        case .snapshotSaved(let id, let result): commands.snapshotSaved(id, result)
        case .networkTakenUp(let failure):
            if let failure { tell("the network's settings cannot be taken up: \(failure)") }
        }
    }

    func streamReported(_ report: EngineEvent) {
        switch report {
        case .said(.note(let text)), .said(.log(let text)): tell(text)
        case .said(.event(let event)): streamReported(event)
        case .said(.answer(let id, let outcome)): commands.streamAnswered(id, outcome)
        case .said(.brightness(let brightness)):
            perform(appliance.brightnessMeasured(brightness, now: MonotonicClock.now()))
        case .said(.snapshot(let snapshot)):
            preview.streamChanged(snapshot)
            summary.streamChanged(snapshot)
        case .still(let answer, let brightness): commands.snapshotTaken(answer, brightness: brightness)
        case .stillEnded(let number):
            let now = MonotonicClock.now()
            if stream.stillEnded(number, now: now) { startWaitingStream(now: now) }
        case .idleFrames(let event): idleFramesChanged(event)
        case .webcam(let number, let report): webcamReported(report, of: number)
        case .idleFramesEnded(let number): idleFramesEnded(number)
        case .idleAudio(let event): idleAudioChanged(event)
        case .idleAudioEnded(let number): idleAudioEnded(number)
        case .ended(let failure, let devices): streamEnded(failure, choices: devices)
        }
    }

    private func streamReported(_ event: StreamEvent) {
        let now = MonotonicClock.now()
        summary.eventHappened(event, start: files.device.startQuality)
        report(event, line: event.isWorthKeeping ? event.text : nil)
        encoderReported(event, now: now)
        switch event {
        case .snapshot(let answer): commands.snapshotTaken(answer, brightness: nil)
        case .source(let event):
            faultsChanged(now: now) { $0.sourceChanged(event) }
            webcam.problems.sourceChanged(event)
            showWebcam()
        case .retry(let failure, let stage): faultsChanged(now: now) { $0.attemptFailed(failure, at: stage) }
        // The thread's end says why.
        case .stateChanged(.error): break
        case .stateChanged(let state):
            perform(appliance.streamStateChanged(to: state, now: now))
            if state == .connected {
                reportFaults(now: now)
                settleStream()
            }
            // The camera is open by then, and takes no controls yet.
            if state == .connecting { commands.lookAtControls() }
        case .cameraSwitched:
            webcam.problems.cameraSwitched()
            showWebcam()
            commands.lookAtControls()
        // What was refused is not as the computer's dialogue has it.
        case .controlled, .refused: commands.lookAtControls()
        // It holds for the computer when the stream has ended, too.
        case .muted(let isMuted): webcam.streamMuted(isMuted)
        case .paused(let isPaused): perform(appliance.streamPaused(isPaused, now: now))
        case .qualityChanged: perform(appliance.qualityChanged(isLowered: summary.isLowered, now: now))
        default: break
        }
    }

    /// - Parameter choices: where a device was missing, those that there are, as the files name them.
    func streamEnded(_ failure: StreamFailure?, choices: [String]) {
        let now = MonotonicClock.now()
        let startsAgain = stream.ended()
        commands.streamEnded(isFollowed: failure.map { ApplianceFault($0) } != .server)
        summary = StreamSummary()
        webcam.streamEnded()
        encoderHealth.encoderChanged()
        if let failure {
            let code = failure.code.map { " (\($0.rawValue))" } ?? ""
            report(
                StreamEvent.failed(failure.code, message: failure.text),
                line: "the stream has failed\(code): \(failure.text)")
            if failure.needsMachineRestart {
                askForMachineRestart(for: .everyEncoder, because: failure.text, now: now)
            }
        }
        let reason = failure.map { FaultBook.Failure(ApplianceFault($0), $0.text, code: $0.code, choices: choices) }
        perform(appliance.streamEnded(reason, now: now))
        if startsAgain, !stream.isRunning, appliance.wantsStream { startStream(now: now) }
        reportFaults(now: now)
        saveEvents(isUrgent: true, now: now)
    }

    /// Hardware that has gone or come back since the files were read.
    func boardChecked(now: MediaTimestamp) {
        let failures = card.failures(now: now)
        for failure in failures where !appliance.faultBook.cardFailures.contains(failure) { tell(failure) }
        let (hardware, program) = (hardwareFaults, control.failure)
        faultsChanged(now: now) { $0.boardChecked(hardware: hardware, program: program, card: failures) }
    }

    // MARK: Reports

    /// Something was found wrong, or right again.
    func faultsChanged(now: MediaTimestamp, _ change: (inout FaultBook) -> Void) {
        perform(appliance.faultsChanged(now: now, change))
        reportFaults(now: now)
    }

    /// Brings faults.txt, console and events up to date with what is wrong.
    func reportFaults(now: MediaTimestamp) {
        guard let news = appliance.takeFaultNews(placing: { fileFault(for: $0) }) else { return }
        for line in news.raised { tell(ApplianceEvent.faultFound(line)) }
        let text = news.report.text
        card.write("faults.txt", text, to: .boot, now: now)
        if text != nil { card.write("events.txt", events.text, to: .boot, now: now) }
        saveEvents(isUrgent: true, now: now)
    }

    func saveEvents(isUrgent: Bool, now: MediaTimestamp) {
        guard let text = events.takeUnwritten(isUrgent: isUrgent, now: now) else { return }
        card.write("events", text, to: .state, now: now)
    }

    /// Says something that has no event of its own.
    func tell(_ text: String) { tell(ApplianceEvent.message(text)) }

    func tell(_ event: ApplianceEvent) { report(event, line: event.text) }

    /// Reports an event: to people on the console and in the events that are kept, to whoever reads standard output, and
    /// to the followers on the control socket.
    /// - Parameter line: for people, without secrets; `nil` for what only programs read.
    func report(_ event: some Event, line: String?) {
        let kept = line.map { events.append($0) }
        if let line { console?.print(line) }
        let isJSONWanted = log?.writesJSON == true || control.hasFollowers(of: .json)
        let json = isJSONWanted ? self.json(of: event) : []
        log?.write(json: json, line: kept)
        control.tellFollowers(json: json, line: kept)
    }

    func json(of event: some Event) -> [UInt8] { jsonLine(event, at: (MonotonicClock.now() - start).inSeconds) }
}
