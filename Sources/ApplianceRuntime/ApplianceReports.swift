import ApplianceLogic
import CardStorage
import CommandChannels
import LinuxIO
import Media
import Settings
import StreamLogic
import Terminal
import Transport

// Reports from threads, and their consequences for the appliance.
extension ApplianceDevice {
    func buttonMeant(_ actions: [ButtonGestures.Action]) {
        let now = MonotonicClock.now()
        for action in actions {
            switch action {
            case .acknowledgePress: board.answer(.press, now: now)
            case .acknowledgeLongPress: board.answer(.longPress, now: now)
            case .shortPress:
                personActed()
                tell(.pressed)
                if !admitted(twice: false, now: now) { commands.take(.press, from: button()) }
            case .doublePress:
                personActed()
                tell(.pressedTwice)
                board.answer(.doublePress, now: now)
                if !admitted(twice: true, now: now) { doublePressed() }
            case .longPress:
                personActed()
                tell(.held)
                commands.take(.powerOff(.halt), from: button())
            case .forgetPress, .setTimer: break
            }
        }
    }

    /// - Returns: whether the press was for browsers that wait for the page.
    private func admitted(twice: Bool, now: MediaTimestamp) -> Bool {
        switch page.pressed(twice: twice, now: now) {
        case .unneeded: return false
        case .admitted: board.answer(.doublePress, now: now)
        // The press has no other effect: the person meant a browser.
        case .ambiguous: break
        }
        return true
    }

    private func doublePressed() {
        guard !appliance.isPoweringOff else { return }
        switch files.device.doublePress {
        // The file has just changed.
        case .none: break
        case .snapshot: commands.take(.snapshot(.keep, quality: nil), from: button(onFailure: "no snapshot: "))
        case .camera: commands.take(.camera(.next), from: button(onFailure: "no other camera: "))
        case .mute: commands.take(.toggleMute, from: button())
        case .pause: commands.take(.togglePause, from: button())
        case .record: commands.take(.record(.toggle), from: button(onFailure: "no recording: "))
        case .torch: commands.take(.toggleTorch, from: button(onFailure: "no torch: "))
        }
    }

    /// The button as an asker: the light shows the result, and the events say why nothing happens.
    private func button(onFailure words: String = "") -> CommandAsker {
        CommandAsker(on: .console, seesEvents: true) { [unowned self] answer, _ in
            if case .failed(let refusal, _) = answer { tell(text: words + refusal.description) }
        }
    }

    /// Someone has asked for something: the following events are the answer.
    func personActed() { events.personActed() }

    func cardReported(_ report: CardEvent) {
        let now = MonotonicClock.now()
        card.answered(report, now: now)
        switch report {
        case .looked(let hasChanged):
            guard hasChanged else { return }
            personActed()
            tell(.filesChanged)
            perform(appliance.configurationChanged(now: now))
        case .read(let files): load(files.value)
        case .written: boardChecked(now: now)
        case .restartsSaved(let isSaved): restartsSaved(isSaved, now: now)
        case .snapshotSaved(let id, let result): commands.snapshotSaved(id, result)
        case .edited(let id, let outcome): page.edited(id, outcome)
        case .networkTakenUp(let failure):
            if let failure { tell(.networkSettingsUnusable(reason: "\(failure)")) }
        }
    }

    /// Hardware that has disappeared or returned since the files were read.
    func boardChecked(now: MediaTimestamp) {
        let failures = card.failures(now: now)
        for failure in failures where !appliance.faultBook.cardFailures.contains(failure) { tell(text: failure) }
        let (hardware, program) = (hardwareFaults, control.failure)
        faultsChanged(now: now) { $0.boardChecked(hardware: hardware, program: program, card: failures) }
    }

    // MARK: Reports

    /// A fault was found or fixed.
    func faultsChanged(now: MediaTimestamp, _ change: (inout FaultBook) -> Void) {
        perform(appliance.faultsChanged(now: now, change))
        reportFaults(now: now)
    }

    /// Updates faults.txt, console and events with the present faults.
    func reportFaults(now: MediaTimestamp) {
        guard let news = appliance.takeFaultNews(placing: { fileFault(for: $0) }) else { return }
        for line in news.raised { tell(event: .faultFound(line)) }
        let text = news.report.text
        card.write("faults.txt", text, to: .boot, now: now)
        if text != nil { card.write("events.txt", events.text, to: .boot, now: now) }
        saveEvents(isUrgent: true, now: now)
    }

    func saveEvents(isUrgent: Bool, now: MediaTimestamp) {
        guard let text = events.takeUnwritten(isUrgent: isUrgent, now: now) else { return }
        card.write("events", text, to: .state, now: now)
    }

    /// Reports a message that has no event of its own.
    func tell(_ notice: ApplianceNotice) { tell(text: notice.description) }

    /// The same for a message from elsewhere.
    func tell(text: String) { tell(event: .message(text)) }

    func tell(event: ApplianceEvent) { report(event, line: event.text) }

    /// Reports an event: to people on the console and in the stored events, to the reader of standard output, and to followers
    /// on the control socket.
    /// - Parameter line: for people, without secrets; `nil` if only programs read it.
    func report(_ event: some Event, line: String?) {
        let kept = line.map { events.append($0) }
        if let line { consolePort.console?.print(line) }
        let isJSONWanted = log?.writesJSON == true || control.hasFollowers(of: .json) || page.eventsAreWanted
        let json = isJSONWanted ? self.json(of: event) : []
        log?.write(json: json, line: kept)
        control.tellFollowers(json: json, line: kept)
        page.tell(json: json)
    }

    func json(of event: some Event) -> [UInt8] { jsonLine(event, at: (MonotonicClock.now() - start).inSeconds) }
}
