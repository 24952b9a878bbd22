import ApplianceLogic
import CardStorage
import LinuxIO
import Media
import Settings
import StreamLogic

// Carries out the appliance's actions.
extension ApplianceDevice {
    /// A power-off waits at most this long for the card.
    private static let powerOffTimeout = Duration.seconds(10)

    func perform(_ actions: [Appliance.Action]) {
        let isOutermost = pendingActions.isEmpty
        pendingActions += actions
        guard isOutermost else { return }
        while let action = pendingActions.first {
            perform(action)
            pendingActions.removeFirst()
        }
        supervisor.wishChanged()
        hearDoublePresses()
    }

    private func perform(_ action: Appliance.Action) {
        let now = MonotonicClock.now()
        switch action {
        case .startStream: supervisor.start(now: now)
        case .stopStream: supervisor.stop(now: now)
        case .restartStream: stream.restart()
        case .loadConfiguration: card.give(.read, now: now)
        case .show(let state):
            board.show(state.pattern, now: now)
            tell(event: .deviceStateChanged(state))
        case .setTorch(let isLit): board.setTorch(isLit: isLit)
        case .powerOff(let kind): endMachine(kind, now: now)
        case .refuseStart(let fault): tell(.startPrevented(fault))
        case .setTimer(let time): applianceTimer = time
        }
    }

    private func endMachine(_ kind: Appliance.PowerOff, now: MediaTimestamp) {
        isEndingMachine = !settings.simulatesPower
        recording.powerOffNeared()
        tell(kind == .halt ? .poweringOff : .restarting)
        if let text = events.takeLast(now: now) { card.write("events", text, to: .state, now: now) }
        card.endNeared(now: now)
        powerOff = (kind, now + Self.powerOffTimeout)
    }

    /// Everything to be kept is on the card now, or the card takes too long.
    func endMachineIfReady(now: MediaTimestamp) {
        guard let powerOff, powerOff.deadline <= now || !(card.isBusy(now: now) || recording.isFinishing)
        else { return }
        self.powerOff = nil
        guard !settings.simulatesPower else {
            isOver = true
            return
        }
        // init ends this program together with all others; until then, the watchdog is fed.
        do { try askInit(toReboot: powerOff.kind == .reboot) } catch { tell(text: "\(error)") }
    }

    /// Applies the contents of the files.
    func load(_ next: DescriptionFiles) {
        let now = MonotonicClock.now()
        let previous = files
        files = next
        // A broken description must not remove the light that reports it.
        if files.board == nil { files.takeBoard(previous.board ?? files.boardOfTheImage) }
        board.boardChanged(to: files.board, now: now)
        hearDoublePresses()
        if previous.networkText != files.networkText { takeUpNetworkSettings(previous: previous.network) }
        hasLoaded = true
        page.openIfWanted()
        openConsole()
        supervisor.openPreview()
        recording.filesChanged()
        webcam.filesChanged(
            hasOtherCamera: previous.device.camera != files.device.camera
                || previous.device.cameras != files.device.cameras)
        var configuration = Appliance.Configuration(
            faults: files.faults + files.contradictions, hardwareFaults: hardwareFaults,
            wirelessFaults: network.wirelessFaults,
            // New certificates are for the next connection and do not disturb this one.
            isStreamFileTolerated: stream.isRunning && files.onlyCertificatesAreWrong,
            startsAtBoot: files.device.startAtBoot && supervisor.isBoot, torch: files.device.torch.mode,
            needsRestart: previous.streamText != files.streamText || previous.deviceText != files.deviceText
                || files.canUseMoreFilters(than: previous))
        configuration.needsClock = files.stream?.needsClock ?? false
        perform(appliance.configurationLoaded(configuration, now: now))
        // The stream does not have to restart for this.
        if files.hasOtherPauseImage(than: previous) { stream.send(.loadPauseImage) }
        watchBrightness()
        reportFaults(now: now)
    }

    private func takeUpNetworkSettings(previous: NetworkDescription) {
        let network = files.network
        WallClock.zone = network.timeZone
        if hasLoaded, network.timeZone != previous.timeZone { tell(.timeZone(network.timeZone.name)) }
        // A change that does not concern the connection must not break it.
        guard !hasLoaded || !network.connects(like: previous) else { return }
        if hasLoaded { tell(.networkSettingsChanged) }
        // At boot, the start scripts have already applied the same settings.
        card.give(.takeUpNetwork(network, restarts: hasLoaded), now: MonotonicClock.now())
    }

    /// A single press is delayed only while two presses mean something.
    func hearDoublePresses() {
        board.hearsDoublePress = files.device.doublePress != .none || page.wantsDoublePress
    }

    func openConsole() {
        consolePort.open(files.device.console ? files.board?.console : nil)
    }

    func serveConsole() {
        do { try consolePort.console?.serve { commands.take($0, from: $1) } } catch { consolePort.close() }
    }
}
