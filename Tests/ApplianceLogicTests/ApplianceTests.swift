import ApplianceLogic
import Media
import StreamLogic
import Testing

@Suite("Appliance")
struct ApplianceTests {
    typealias Configuration = Appliance.Configuration
    typealias Failure = FaultBook.Failure

    private let now = MediaTimestamp.zero

    private func ready(_ configuration: Configuration = Configuration()) -> Appliance {
        var appliance = Appliance()
        _ = appliance.configurationLoaded(configuration, now: now)
        return appliance
    }

    private func live(_ configuration: Configuration = Configuration()) -> Appliance {
        var appliance = ready(configuration)
        _ = appliance.shortPressed(now: now)
        _ = appliance.streamStateChanged(to: .connecting, now: now)
        _ = appliance.streamStateChanged(to: .live, now: now)
        return appliance
    }

    private func file(_ kind: ApplianceFault) -> FileFault { .ofKind(kind) }

    private func fails(_ appliance: inout Appliance, _ fault: ApplianceFault) -> [Appliance.Action] {
        let now = now
        return appliance.faultsChanged(now: now) { $0.streamFailed(Failure(fault, "it is gone"), now: now) }
    }

    private func isTriedAgain(_ appliance: inout Appliance) -> [Appliance.Action] {
        appliance.retryDue(now: now + FaultBook.retryInterval)
    }

    @Test func pressStartsAndStopsTheStream() {
        var appliance = Appliance()
        #expect(appliance.state == .boot)
        #expect(appliance.configurationLoaded(Configuration(), now: now) == [.show(.ready)])
        #expect(appliance.shortPressed(now: now) == [.startStream])
        #expect(appliance.streamStateChanged(to: .connecting, now: now) == [.show(.connecting)])
        #expect(appliance.streamStateChanged(to: .live, now: now) == [.show(.live)])
        #expect(appliance.qualityChanged(isLowered: true, now: now) == [.show(.degraded)])
        #expect(appliance.qualityChanged(isLowered: false, now: now) == [.show(.live)])
        #expect(appliance.streamStateChanged(to: .reconnecting, now: now) == [.show(.reconnecting)])
        #expect(appliance.streamStateChanged(to: .live, now: now) == [.show(.live)])
        #expect(appliance.shortPressed(now: now) == [.stopStream])
        #expect(appliance.streamStateChanged(to: .disconnecting, now: now) == [.show(.stopping)])
        #expect(appliance.streamStateChanged(to: .disconnected, now: now) == [.show(.ready)])
    }

    @Test func pauseIsShownDespiteFaultsAndLastsUntilAPersonEndsIt() {
        var appliance = live()
        #expect(appliance.streamPaused(true, now: now) == [.show(.paused)])
        #expect(appliance.qualityChanged(isLowered: true, now: now) == [])
        #expect(appliance.streamStateChanged(to: .reconnecting, now: now) == [.show(.reconnecting)])
        #expect(appliance.streamStateChanged(to: .live, now: now) == [.show(.paused)])
        #expect(appliance.streamPaused(false, now: now) == [.show(.live)])
        // A stream that restarts because a file has changed stays paused.
        _ = appliance.streamPaused(true, now: now)
        _ = appliance.configurationChanged(now: now)
        #expect(appliance.configurationLoaded(Configuration(needsRestart: true), now: now).contains(.restartStream))
        _ = appliance.streamEnded(nil, now: now)
        #expect(appliance.isPaused)
        // Stopping and starting it by hand ends the pause.
        _ = appliance.stopRequested(now: now)
        _ = appliance.streamStateChanged(to: .disconnected, now: now)
        #expect(!appliance.isPaused)
    }

    @Test func startEndsAPause() {
        var appliance = live()
        _ = appliance.streamPaused(true, now: now)
        _ = appliance.shortPressed(now: now)
        #expect(appliance.state == .paused, "it still is, until it has ended")
        _ = appliance.shortPressed(now: now)
        #expect(!appliance.isPaused)
    }

    @Test func pressesApplyInOrder() {
        var appliance = ready()
        #expect(appliance.shortPressed(now: now) == [.startStream])
        #expect(appliance.shortPressed(now: now) == [.stopStream])
        #expect(appliance.shortPressed(now: now) == [.startStream])
        _ = appliance.streamStateChanged(to: .connecting, now: now)
        #expect(appliance.shortPressed(now: now) == [.stopStream])
        _ = appliance.streamStateChanged(to: .disconnecting, now: now)
        #expect(appliance.shortPressed(now: now) == [.startStream])
    }

    /// The stream may have reported its end before its thread has ended.
    @Test(arguments: [StreamState.disconnecting, .disconnected])
    func pressWhileAStreamThatLostItsCameraEndsStartsTheNext(state: StreamState) {
        var appliance = ready()
        _ = appliance.shortPressed(now: now)
        _ = appliance.streamStarted(isQueued: false, now: now)
        _ = appliance.streamStateChanged(to: .live, now: now)
        let lost = SourceEvent.interrupted(.video, source: "a", reason: "it hangs")
        _ = appliance.faultsChanged(now: now) { $0.sourceChanged(lost) }
        #expect(appliance.shortPressed(now: now) == [.stopStream])
        _ = appliance.streamStateChanged(to: state, now: now)
        #expect(appliance.shortPressed(now: now) == [.startStream])
        _ = appliance.streamStarted(isQueued: true, now: now)
        _ = appliance.streamEnded(Failure(.camera, "it hangs"), isFollowed: true, now: now)
        #expect(appliance.wantsStream)
    }

    @Test func pressWhileARefusedStreamEndsStartsTheNext() {
        var appliance = ready()
        _ = appliance.shortPressed(now: now)
        _ = appliance.streamStarted(isQueued: false, now: now)
        #expect(appliance.shortPressed(now: now) == [.stopStream])
        #expect(appliance.shortPressed(now: now) == [.startStream])
        _ = appliance.streamStarted(isQueued: true, now: now)
        _ = appliance.streamEnded(Failure(.server, "refused"), isFollowed: true, now: now)
        #expect(appliance.wantsStream)
    }

    @Test func pressDuringBootIsKept() {
        var appliance = Appliance()
        #expect(appliance.shortPressed(now: now) == [])
        #expect(appliance.configurationLoaded(Configuration(), now: now) == [.startStream, .show(.ready)])
        var undone = Appliance()
        _ = undone.shortPressed(now: now)
        #expect(undone.shortPressed(now: now) == [])
        #expect(undone.configurationLoaded(Configuration(), now: now) == [.show(.ready)])
    }

    @Test func startAtBootNeedsNoPress() {
        var appliance = Appliance()
        #expect(
            appliance.configurationLoaded(Configuration(startsAtBoot: true), now: now) == [.startStream, .show(.ready)])
        // Only at boot.
        var stopped = live(Configuration(startsAtBoot: true))
        _ = stopped.stopRequested(now: now)
        _ = stopped.streamStateChanged(to: .disconnected, now: now)
        #expect(stopped.configurationLoaded(Configuration(startsAtBoot: true), now: now) == [])
    }

    // MARK: Faults

    @Test func deadHardwareEncoderIsShownWhileLiveAndStopsNothing() {
        var appliance = live()
        #expect(
            appliance.faultsChanged(now: now) { $0.hardwareEncoderChecked("it is dead") } == [.show(.liveInSoftware)])
        // The uplink changes; the encoder stays dead.
        #expect(appliance.qualityChanged(isLowered: true, now: now) == [])
        _ = appliance.streamStateChanged(to: .reconnecting, now: now)
        #expect(appliance.streamStateChanged(to: .live, now: now) == [.show(.liveInSoftware)])
        #expect(appliance.shortPressed(now: now) == [.stopStream])
        #expect(appliance.streamStateChanged(to: .disconnected, now: now) == [.show(.fault(.hardwareEncoder))])
        // Neither the next stream nor changed files repair it.
        #expect(appliance.configurationLoaded(Configuration(needsRestart: true), now: now) == [])
        #expect(appliance.shortPressed(now: now) == [.startStream])
        _ = appliance.streamStateChanged(to: .connecting, now: now)
        #expect(appliance.state == .connecting)
        #expect(appliance.streamStateChanged(to: .live, now: now) == [.show(.liveInSoftware)])
        #expect(appliance.faultsChanged(now: now) { $0.hardwareEncoderChecked(nil) } == [.show(.live)])
    }

    @Test func isIdleOnlyWhenNothingIsUsedOrAwaited() {
        var appliance = Appliance()
        #expect(!appliance.isIdle, "nothing is known yet")
        _ = appliance.configurationLoaded(Configuration(), now: now)
        #expect(appliance.isIdle)
        _ = appliance.configurationChanged(now: now)
        #expect(!appliance.isIdle)
        _ = appliance.configurationLoaded(Configuration(), now: now)
        _ = appliance.shortPressed(now: now)
        #expect(!appliance.isIdle, "wanted")
        _ = appliance.streamStateChanged(to: .connecting, now: now)
        _ = appliance.shortPressed(now: now)
        #expect(!appliance.isIdle, "just ending")
        _ = appliance.streamStateChanged(to: .disconnected, now: now)
        #expect(appliance.isIdle)
        _ = appliance.powerOffRequested(.halt, now: now)
        #expect(!appliance.isIdle, "on its way down")
        // A stream that waits for the network must go live as soon as the network is up.
        var waiting = ready()
        _ = waiting.networkChanged(isUp: false, now: now)
        _ = waiting.shortPressed(now: now)
        #expect(!waiting.isIdle)
    }

    @Test(arguments: [WebcamUse.waiting, .withoutCamera, .active])
    func cameraUsedByAComputerIsNotIdle(use: WebcamUse) {
        var appliance = ready()
        _ = appliance.webcamChanged(to: use, now: now)
        #expect(!appliance.isIdle)
        _ = appliance.webcamChanged(to: .none, now: now)
        #expect(appliance.isIdle && appliance.state == .ready)
    }

    /// A camera that is only a webcam has no stream.json.
    @Test func waitingComputerIsShownInsteadOfFaults() {
        var appliance = ready(Configuration(faults: [file(.streamFile)]))
        #expect(appliance.webcamChanged(to: .waiting, now: now) == [.show(.asked)])
        #expect(appliance.webcamChanged(to: .active, now: now) == [.show(.webcam)])
        #expect(appliance.webcamChanged(to: .withoutCamera, now: now) == [.show(.fault(.streamFile))])
        #expect(appliance.webcamChanged(to: .none, now: now) == [])
        var live = live()
        #expect(live.webcamChanged(to: .waiting, now: now) == [], "live is what a tally light is for")
    }

    @Test func unreachableServerIsShownWhileAttemptsContinue() {
        var appliance = ready()
        _ = appliance.shortPressed(now: now)
        _ = appliance.streamStateChanged(to: .connecting, now: now)
        let failure = ConnectionFailure(code: -1001, text: "refused")
        for _ in 1..<FaultBook.patience {
            #expect(appliance.faultsChanged(now: now) { $0.attemptFailed(failure, at: .connect) } == [])
        }
        #expect(
            appliance.faultsChanged(now: now) { $0.attemptFailed(failure, at: .connect) } == [.show(.fault(.server))])
        // Without a network the server's state is unknown.
        #expect(appliance.networkChanged(isUp: false, now: now) == [.show(.fault(.network))])
        #expect(appliance.networkChanged(isUp: true, now: now) == [.show(.fault(.server))])
        #expect(appliance.streamStateChanged(to: .live, now: now) == [.show(.live)])
        #expect(appliance.streamStateChanged(to: .reconnecting, now: now) == [.show(.reconnecting)])
    }

    @Test func wrongStreamFileRefusesStartsUntilRepaired() {
        var appliance = ready(Configuration(faults: [file(.streamFile)]))
        #expect(appliance.state == .fault(.streamFile))
        #expect(appliance.shortPressed(now: now) == [.refuseStart(.streamFile)])
        #expect(appliance.configurationChanged(now: now) == [.loadConfiguration, .show(.updating)])
        #expect(appliance.configurationLoaded(Configuration(needsRestart: true), now: now) == [.show(.ready)])
        #expect(appliance.shortPressed(now: now) == [.startStream])
    }

    @Test func wantedStreamStartsWhenTheFaultIsRepaired() {
        var appliance = ready(Configuration(faults: [file(.streamFile)], startsAtBoot: true))
        #expect(appliance.state == .fault(.streamFile))
        _ = appliance.configurationChanged(now: now)
        #expect(appliance.configurationLoaded(Configuration(), now: now) == [.startStream, .show(.ready)])
        var withoutCamera = Appliance()
        _ = fails(&withoutCamera, .camera)
        #expect(
            withoutCamera.configurationLoaded(Configuration(startsAtBoot: true), now: now) == [.show(.fault(.camera))])
        #expect(isTriedAgain(&withoutCamera) == [.startStream, .show(.ready)])
    }

    @Test func lesserFaultsAreShownButDoNotPreventStreaming() {
        for fault in [ApplianceFault.settings, .board] {
            var appliance = ready(Configuration(faults: [file(fault)]))
            #expect(appliance.state == .fault(fault))
            #expect(appliance.shortPressed(now: now) == [.startStream])
        }
        var silent = ready()
        #expect(fails(&silent, .microphone) == [.show(.fault(.microphone))])
        // The light confirms the press before the stream reports that it is connecting.
        #expect(silent.shortPressed(now: now) == [.show(.ready), .startStream])
    }

    @Test(arguments: [ApplianceFault.camera, .microphone, .encoder, .board])
    func streamWithMissingHardwareIsRetriedUntilItIsThere(fault: ApplianceFault) {
        var appliance = ready()
        #expect(appliance.shortPressed(now: now) == [.startStream])
        for attempt in 1...3 {
            _ = appliance.streamStateChanged(to: .connecting, now: now)
            #expect(
                appliance.streamEnded(Failure(fault, "it is gone"), now: now) == [.show(.ready), .show(.fault(fault))],
                "attempt \(attempt)")
            #expect(isTriedAgain(&appliance) == [.startStream, .show(.ready)], "attempt \(attempt)")
        }
        _ = appliance.streamStateChanged(to: .connecting, now: now)
        #expect(appliance.streamStateChanged(to: .live, now: now) == [.show(.live)])
        // A running stream is left alone.
        _ = fails(&appliance, fault)
        #expect(isTriedAgain(&appliance) == [])
    }

    /// The light shows the same before and after.
    @Test func streamThatTheSystemRefusedIsRetriedDespiteALastingFaultOfTheBoard() {
        var appliance = ready(Configuration(hardwareFaults: [file(.board)]))
        _ = appliance.shortPressed(now: now)
        for attempt in 1...3 {
            _ = appliance.streamStateChanged(to: .connecting, now: now)
            _ = appliance.streamEnded(Failure(.board, "no memory"), now: now)
            #expect(appliance.state == .fault(.board))
            #expect(isTriedAgain(&appliance) == [.startStream], "attempt \(attempt)")
        }
    }

    @Test func changedFilesRestartAStreamWithMissingHardwareOnce() {
        for fault in [ApplianceFault.camera, .microphone, .encoder] {
            var appliance = ready()
            _ = appliance.shortPressed(now: now)
            _ = appliance.streamEnded(Failure(fault, "it is gone"), now: now)
            _ = appliance.configurationChanged(now: now)
            #expect(
                appliance.configurationLoaded(Configuration(needsRestart: true), now: now) == [
                    .startStream, .show(.ready),
                ])
            _ = appliance.streamStateChanged(to: .connecting, now: now)
            #expect(isTriedAgain(&appliance) == [])
        }
    }

    @Test func liveStreamIsShownAsLiveDespiteFaults() {
        var appliance = live()
        #expect(
            appliance.faultsChanged(now: now) {
                $0.sourceChanged(.interrupted(.audio, source: "hw:1", reason: "unplugged"))
            } == [])
        #expect(appliance.networkChanged(isUp: false, now: now) == [])
        #expect(appliance.state == .live)
        #expect(appliance.faults == [.microphone, .network])
    }

    @Test func mostSevereFaultIsShownFirst() {
        let appliance = ready(Configuration(faults: [file(.settings), file(.streamFile)]))
        #expect(appliance.state == .fault(.streamFile))
        #expect(appliance.faults == [.streamFile, .settings])
    }

    @Test func startWithoutANetworkWaitsForIt() {
        var appliance = ready()
        #expect(appliance.networkChanged(isUp: false, now: now) == [.show(.fault(.network))])
        #expect(appliance.state.name == "no network")
        #expect(appliance.shortPressed(now: now) == [.startStream])
        #expect(appliance.streamStateChanged(to: .connecting, now: now) == [])
        #expect(appliance.networkChanged(isUp: true, now: now) == [.show(.connecting)])
    }

    @Test func refusedStreamIsShownUntilTheNextStart() {
        var appliance = live()
        #expect(appliance.streamEnded(Failure(.server, "refused"), now: now) == [.show(.fault(.server))])
        #expect(!appliance.wantsStream)
        #expect(appliance.shortPressed(now: now) == [.startStream, .show(.ready)])
    }

    // MARK: Configuration

    @Test func changeWhileLiveRestartsTheStream() {
        var appliance = live()
        #expect(appliance.configurationChanged(now: now) == [.loadConfiguration])
        #expect(appliance.configurationLoaded(Configuration(needsRestart: true), now: now) == [.restartStream])
        #expect(appliance.configurationLoaded(Configuration(), now: now) == [])
    }

    @Test func brokenStreamFileEndsTheStreamUntilRepaired() {
        var appliance = live()
        #expect(appliance.configurationLoaded(Configuration(faults: [file(.streamFile)]), now: now) == [.stopStream])
        _ = appliance.streamStateChanged(to: .disconnected, now: now)
        #expect(appliance.state == .fault(.streamFile))
        #expect(appliance.configurationLoaded(Configuration(), now: now) == [.startStream, .show(.ready)])
    }

    @Test func streamFileRepairedDuringTheEndRestartsTheStreamAfterIt() {
        var appliance = live()
        _ = appliance.configurationLoaded(Configuration(faults: [file(.streamFile)]), now: now)
        _ = appliance.streamStateChanged(to: .disconnecting, now: now)
        #expect(appliance.configurationLoaded(Configuration(needsRestart: true), now: now) == [.startStream])
    }

    @Test func filesThatChangeDuringReadingAreReadAgain() {
        var appliance = ready()
        #expect(appliance.configurationChanged(now: now) == [.loadConfiguration, .show(.updating)])
        #expect(appliance.configurationChanged(now: now) == [])
        #expect(appliance.configurationLoaded(Configuration(), now: now) == [.loadConfiguration])
        #expect(appliance.configurationLoaded(Configuration(), now: now) == [.show(.ready)])
    }

    // MARK: Torch

    @Test func torchFollowsItsMode() {
        var appliance = ready(Configuration(torch: .whileLive))
        _ = appliance.shortPressed(now: now)
        #expect(
            appliance.streamStateChanged(to: .live, now: now) == [.show(.live), .setTorch(isLit: true)])
        #expect(
            appliance.streamStateChanged(to: .reconnecting, now: now)
                == [.show(.reconnecting), .setTorch(isLit: false)])
        var lamp = Appliance()
        #expect(
            lamp.configurationLoaded(Configuration(torch: .on), now: now)
                == [.show(.ready), .setTorch(isLit: true)])
        #expect(lamp.powerOffRequested(.halt, now: now).contains(.setTorch(isLit: false)))
    }

    @Test func torchLightsADarkRoomWhileLive() {
        var appliance = ready(Configuration(torch: .automatic))
        _ = appliance.shortPressed(now: now)
        _ = appliance.streamStateChanged(to: .live, now: now)
        #expect(appliance.brightnessMeasured(.lux(3), now: now) == [])
        #expect(appliance.brightnessMeasured(.lux(3), now: now + .seconds(1)) == [.setTorch(isLit: true)])
        _ = appliance.stopRequested(now: now)
        #expect(appliance.streamStateChanged(to: .disconnected, now: now).contains(.setTorch(isLit: false)))
    }

    @Test func requestedTorchModeLastsUntilTheFileChanges() {
        var appliance = ready(Configuration(torch: .off))
        #expect(appliance.torchToggled() == [.setTorch(isLit: true)])
        #expect(appliance.configurationLoaded(Configuration(torch: .off), now: now) == [])
        #expect(appliance.isTorchLit)
        #expect(appliance.torchToggled() == [.setTorch(isLit: false)])
        #expect(appliance.configurationLoaded(Configuration(torch: .on), now: now) == [.setTorch(isLit: true)])
    }

    @Test func snapshotFlashesAndLeavesTheTorchUnchanged() {
        var appliance = ready()
        #expect(appliance.flashRequested(true) == [.setTorch(isLit: true)])
        #expect(appliance.flashRequested(false) == [.setTorch(isLit: false)])
        var lit = ready(Configuration(torch: .on))
        #expect(lit.flashRequested(true) == [] && lit.flashRequested(false) == [])
        // No light turns on while the machine shuts down.
        _ = lit.powerOffRequested(.halt, now: now)
        #expect(lit.flashRequested(true) == [])
    }

    // MARK: Power

    @Test func longPressEndsTheStreamFirst() {
        var appliance = live()
        #expect(
            appliance.powerOffRequested(.halt, now: now) == [
                .stopStream, .show(.shutdown), .setTimer(now + .seconds(2)),
            ])
        #expect(appliance.shortPressed(now: now) == [])
        #expect(appliance.powerOffRequested(.halt, now: now) == [])
        #expect(appliance.streamStateChanged(to: .disconnecting, now: now) == [])
        #expect(
            appliance.streamStateChanged(to: .disconnected, now: now) == [.setTimer(nil), .powerOff(.halt)])
        #expect(appliance.timerFired(now: now + .seconds(3)) == [])
    }

    @Test func streamThatDoesNotEndDoesNotDelayPowerOff() {
        var appliance = live()
        _ = appliance.powerOffRequested(.reboot, now: now)
        #expect(appliance.timerFired(now: now + .seconds(1)) == [])
        #expect(appliance.timerFired(now: now + .seconds(2)) == [.setTimer(nil), .powerOff(.reboot)])
        #expect(appliance.streamStateChanged(to: .disconnected, now: now) == [])
    }

    @Test func powerOffIsImmediateWithoutAStream() {
        var appliance = ready()
        #expect(appliance.powerOffRequested(.halt, now: now) == [.show(.shutdown), .setTimer(nil), .powerOff(.halt)])
        var booting = Appliance()
        #expect(booting.powerOffRequested(.halt, now: now).contains(.powerOff(.halt)))
    }
}
