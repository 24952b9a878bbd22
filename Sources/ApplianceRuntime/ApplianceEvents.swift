import ApplianceLogic
import LinuxIO
import Media
import Settings
import StreamLogic
import Transport

// What happens.
extension ApplianceRunner {
    static let mediaFaults: [ApplianceFault] = [.camera, .microphone, .encoder]
    /// Attempts that fail before the server is said to be at fault.
    private static let patience = 3

    func buttonMeant(_ actions: [ButtonGestures.Action]) {
        let now = MonotonicClock.now()
        for action in actions {
            switch action {
            case .acknowledgePress: board.answer(.press, now: now)
            case .acknowledgeLongPress: board.answer(.longPress, now: now)
            case .shortPress:
                personActed()
                tell("button pressed")
                if !appliance.wantsStream { forgiveMedia(now: now) }
                perform(appliance.shortPressed(now: now))
            case .longPress:
                personActed()
                tell("button held: power-off")
                perform(appliance.longPressed(now: now))
            case .forgetPress, .setTimer: break
            }
        }
    }

    /// A camera, microphone or encoder that failed may work now. Until it does, what is told of it stays: the card is
    /// not written twice for each attempt.
    func forgiveMedia(now: MediaTimestamp) {
        for fault in Self.mediaFaults where failures[fault] != nil { perform(appliance.faultCleared(fault, now: now)) }
    }

    /// Somebody has asked for something: what comes from now on is the answer.
    func personActed() { events.personActed() }

    func cardReported(_ report: CardReport) {
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
        case .networkTakenUp(let failure):
            if let failure { tell("the network's settings cannot be taken up: \(failure)") }
        }
    }

    func streamReported(_ report: StreamReport) {
        switch report {
        case .said(.note(let text)), .said(.log(let text)): tell(text)
        case .said(.event(let event)): streamTold(event)
        case .said(.snapshot): break
        case .ended(let failure, let devices):
            if let failure { present[ApplianceFault(failure)] = devices }
            streamEnded(failure)
        }
    }

    private func streamTold(_ event: Event) {
        let now = MonotonicClock.now()
        status.eventHappened(event, start: files.device.startQuality)
        if event.isWorthKeeping, let text = event.text { tell(text) }
        sourceTold(event, now: now)
        attemptTold(event, now: now)
        encoderTold(event, now: now)
        if let state = event.streamState {
            // The thread's end says why.
            guard state != .error else { return }
            if state == .connected { forgiveEverything() }
            perform(appliance.streamStateChanged(to: state, now: now))
        }
        if event.code == EventCode.qualityChanged.rawValue {
            perform(appliance.qualityChanged(isLowered: status.isLowered, now: now))
        }
    }

    /// A camera or microphone that was lost while the stream goes on is told, though the light says live.
    private func sourceTold(_ event: Event, now: MediaTimestamp) {
        let fault: ApplianceFault = event.text(of: "track") == "audio" ? .microphone : .camera
        switch event.name {
        case "sourceInterrupted":
            interruptions[fault] = event.text ?? fault.meaning
            perform(appliance.faultRaised(fault, now: now))
        case "sourceReturned":
            interruptions[fault] = nil
            if failures[fault] == nil { perform(appliance.faultCleared(fault, now: now)) }
        default: return
        }
        reportFaults(now: now)
    }

    /// A server that a start does not reach is a mistake more often than bad luck: it is told and counted out while the
    /// attempts go on. A stream that was up shows that it reconnects.
    private func attemptTold(_ event: Event, now: MediaTimestamp) {
        let retries: [EventCode] = [.retryAfterLookup, .retryAfterConnect, .retryAfterHandshake]
        guard let code = EventCode(rawValue: event.code), retries.contains(code), !status.hasBeenUp,
            !appliance.faults.contains(.network)
        else { return }
        vainAttempts += 1
        guard vainAttempts >= Self.patience else { return }
        failures[.server] = event.text ?? code.meaning
        perform(appliance.faultRaised(.server, now: now))
        reportFaults(now: now)
    }

    private func forgiveEverything() {
        failures = [:]
        vainAttempts = 0
        reportFaults(now: MonotonicClock.now())
    }

    func streamEnded(_ failure: StreamFailure?) {
        let now = MonotonicClock.now()
        let startsAgain = stream.ended()
        status = StreamSummary()
        vainAttempts = 0
        // The next stream finds out what is there by then.
        for fault in interruptions.keys { perform(appliance.faultCleared(fault, now: now)) }
        interruptions = [:]
        encoderHealth.encoderChanged()
        // What this stream did not find wrong is right.
        for fault in Self.mediaFaults { failures[fault] = nil }
        if let failure {
            let code = failure.code.map { " (\($0.rawValue))" } ?? ""
            tell("the stream has failed\(code): \(failure.text)")
            if failure.needsMachineRestart {
                askForMachineRestart(for: .everyEncoder, because: failure.text, now: now)
            }
            let fault = ApplianceFault(failure)
            failures[fault] = failure.text
            if fault == .server {
                perform(appliance.streamStateChanged(to: .error, now: now))
            } else {
                perform(appliance.streamStateChanged(to: .disconnected, now: now))
                perform(appliance.faultRaised(fault, now: now))
                mediaRetry = now + Self.mediaRetryInterval
            }
        } else {
            perform(appliance.streamStateChanged(to: .disconnected, now: now))
            // Stopped by the person, who knows.
            failures[.server] = nil
            perform(appliance.faultCleared(.server, now: now))
        }
        // What a stream that was connected could do without counts now.
        if files.applianceFaults.contains(.streamFile), !appliance.faults.contains(.streamFile) {
            perform(appliance.faultRaised(.streamFile, now: now))
        }
        if startsAgain, !stream.isRunning, appliance.wantsStream { startStream(now: now) }
        reportFaults(now: now)
        saveEvents(isUrgent: true, now: now)
    }

    /// What is wrong with the program or its surroundings, and no file can mend.
    var programFaults: [String] { [crashFault, control.failure].compactMap { $0 } }

    /// Hardware that has gone or come back since the files were read.
    func boardChecked(now: MediaTimestamp) {
        let cardFailures = card.failures(now: now)
        for failure in cardFailures where !toldCardFailures.contains(failure) { tell(failure) }
        toldCardFailures = cardFailures
        let isAtFault =
            !hardwareFaults.isEmpty || !programFaults.isEmpty || !cardFailures.isEmpty
            || files.applianceFaults.contains(.board)
        if isAtFault != appliance.faults.contains(.board) {
            perform(isAtFault ? appliance.faultRaised(.board, now: now) : appliance.faultCleared(.board, now: now))
        }
        reportFaults(now: now)
    }

    // MARK: Reports

    /// Brings faults.txt, console and events up to date with what is wrong.
    func reportFaults(now: MediaTimestamp) {
        var report = FaultReport(files: files.faults)
        report.files += files.contradictions + wirelessFaults + hardwareFaults + streamFaults
        report.others = interruptions.sorted { $0.key < $1.key }
            .map { FaultReport.Entry(fault: $0.key, text: $0.value) }
        report.others += encoderFaults
        report.others += programFaults.map { FaultReport.Entry(fault: .board, text: $0) }
        guard report != reported else { return }
        let told = reported?.lines ?? []
        for line in report.lines where !told.contains(line) { tell("fault: \(line)") }
        reported = report
        card.write("faults.txt", report.text, to: .boot, now: now)
        if report.text != nil { card.write("events.txt", events.text, to: .boot, now: now) }
        saveEvents(isUrgent: true, now: now)
    }

    func saveEvents(isUrgent: Bool, now: MediaTimestamp) {
        guard let text = events.takeUnwritten(isUrgent: isUrgent, now: now) else { return }
        card.write("events", text, to: .state, now: now)
    }

    var faultLines: [String] { (reported?.lines ?? []) + toldCardFailures }

    /// Says something to people: on the console, and in the events that are kept.
    func tell(_ text: String) {
        events.append(text)
        console?.print(text)
    }
}
