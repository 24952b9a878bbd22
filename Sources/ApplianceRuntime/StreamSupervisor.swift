import ApplianceLogic
import CardStorage
import DevicePorts
import DeviceStreams
import Encoding
import LinuxIO
import Media
import Settings
import StreamLogic

/// Starts, stops, retries and resumes the stream as `Appliance` decides, and passes on its reports. Without a stream, the
/// camera serves a screen, a computer or a snapshot. Used from the main thread.
final class StreamSupervisor {
    unowned let device: ApplianceDevice
    let streams: StreamRunner
    private(set) var summary = StreamSummary()
    private var leading = LeadingTarget()
    var preview = PreviewDuty()
    /// Whether this is the first start since the machine's boot.
    var isBoot = true
    var resumed: ResumedStream
    /// A stream without servers is tried again at this time.
    var idleRetry: MediaTimestamp?
    /// Whether someone has muted a stream without servers, which also holds for the stream that follows it.
    private var isIdleMuted = false
    /// Takes the encoded packets of all streams for the page; `nil` without it.
    var viewer: (any PacketSink)?
    /// Whether the page's preview has viewers. While no other stream runs, one without servers runs for them at a low rate.
    var isViewerWanted = false {
        didSet { if isViewerWanted != oldValue { viewerWishChanged() } }
    }
    /// Why the page's viewers get no video; `nil` if they do, or if it is not known.
    var viewerProblem: String?

    init(of device: ApplianceDevice) {
        self.device = device
        streams = device.stream
        resumed = ResumedStream(path: "\(device.settings.socketPath).wanted")
    }

    // MARK: Start and stop

    func start(now: MediaTimestamp) {
        let webcam = device.webcam
        let isQueued = streams.isPublishing
        let isMuted = startsMuted
        // First, so that no frame of it is lost to the recording. A start that waits for the camera comes here again.
        if !streams.isTaken { device.recording.streamChanged(isStreaming: true) }
        do {
            try streams.start(
                device.files, receivers(preview: preview.sink), isMuted: isMuted, isPaused: device.appliance.isPaused)
            webcam.streamStarted(device.files.device, isMuted: isMuted)
            device.watchBrightness()
            device.perform(device.appliance.streamStarted(isQueued: isQueued, now: now))
        } catch {
            ended(StreamFailure(.system, "\(error)"), choices: [])
        }
    }

    var startsMuted: Bool { device.webcam.isWanted && device.webcam.relay.isMuted || isIdleMuted }

    /// - Parameter isLowRate: whether the stream runs for viewers of the page alone. A recording starts with another one.
    func receivers(preview: (any PreviewSink)?, isLowRate: Bool = false) -> StreamReceivers {
        let (relay, recording) = (device.webcam.relay, device.recording)
        return StreamReceivers(
            preview: preview, frames: [relay], audio: [relay], archive: isLowRate ? nil : recording.sink,
            viewer: viewer, startsAtOnce: recording.isWantedWithoutServer || isViewerWanted, isLowRate: isLowRate)
    }

    private func viewerWishChanged() {
        viewerProblem = nil
        // A new viewer does not wait for the next attempt, and a stream that waits for a server would not bring anything yet.
        idleRetry = nil
        if isViewerWanted { streams.send(.startMedia) }
    }

    /// The camera has become free for a waiting stream.
    func startWaiting(now: MediaTimestamp) { if device.appliance.wantsStream { start(now: now) } }

    func stop(now: MediaTimestamp) {
        if streams.stop() { device.perform(device.appliance.streamEnded(nil, now: now)) }
    }

    func timeReached(now: MediaTimestamp) { if streams.timeReached(now: now) { startWaiting(now: now) } }

    /// Ends stream, camera and webcam, and waits briefly for them. Tells what comes late, such as a stream's totals.
    func end() {
        _ = streams.stop()
        _ = try? streams.runIdle(device.files, nil, isMuted: false, now: MonotonicClock.now())
        device.webcam.end(now: MonotonicClock.now())
        _ = streams.feedIdle([], of: SourceDescription(device.files), now: MonotonicClock.now())
        streams.feedIdleAudio(nil, of: device.files, now: MonotonicClock.now())
        let limit = MonotonicClock.now() + .seconds(2)
        while streams.isRunning || streams.isFeedingIdle || device.webcam.isEnding, MonotonicClock.now() < limit {
            var waits: PollSet<ApplianceWait> = [.stream: streams.reports.wakeup.fileDescriptor]
            guard (try? waits.wait(until: limit)) != nil else { break }
            for report in streams.reports.takeAll() {
                switch report {
                case .said(.note(let text)), .said(.log(let text)): device.tell(text: text)
                case .said(.event(let event, of: let target)): tell(event, of: target)
                case .ended: _ = streams.ended()
                case .idleFramesEnded(let number): _ = streams.idleFramesEnded(number, now: MonotonicClock.now())
                case .idleAudioEnded(let number): _ = streams.idleAudioEnded(number, now: MonotonicClock.now())
                case .webcam(let number, .ended): device.webcam.gone(number)
                default: break
                }
            }
        }
    }

    // MARK: Reports

    func reported(_ report: EngineEvent) {
        let now = MonotonicClock.now()
        switch report {
        case .said(.note(let text)), .said(.log(let text)): device.tell(text: text)
        case .said(.event(let event, of: let target)):
            tell(event, of: target)
            if let target { happened(event, to: target, now: now) }
            if leading.isOrigin(of: target) { happened(event, now: now) }
        case .said(.leads(let target)):
            if let state = leading.changed(to: target) { stateChanged(to: state, now: now) }
        case .said(.answer(let id, let outcome)): device.commands.streamAnswered(id, outcome)
        case .said(.brightness(let level)): device.perform(device.appliance.brightnessMeasured(level, now: now))
        case .said(.snapshot) where streams.isIdle: break
        case .said(.snapshot(let snapshot)):
            preview.streamChanged(snapshot)
            summary.streamChanged(snapshot)
        case .still(let answer, let brightness): device.commands.snapshotTaken(answer, brightness: brightness)
        case .stillEnded(let number): if streams.stillEnded(number, now: now) { startWaiting(now: now) }
        case .idleFrames(let event): idleFramesChanged(event)
        case .idleFramesEnded(let number):
            idleCameraReturned()
            device.webcam.show()
            if streams.idleFramesEnded(number, now: now) { startWaiting(now: now) }
        case .idleAudio(let event): idleAudioChanged(event)
        case .idleAudioEnded(let number):
            device.webcam.idleMicrophoneChanged(problem: nil)
            if streams.idleAudioEnded(number, now: now) { startWaiting(now: now) }
        case .listed(let id, let kind, let list): device.commands.listed(id, kind, list)
        case .webcam(let number, let report): device.webcam.reported(report, of: number)
        case .ended(let failure, let devices): ended(failure, choices: devices)
        }
    }

    private func tell(_ event: StreamEvent, of target: TargetID?) {
        let named = event.of(target)
        device.report(named, line: event.isWorthKeeping ? named.text : nil)
    }

    private func happened(_ event: StreamEvent, to target: TargetID, now: MediaTimestamp) {
        if case .stateChanged(let state) = event { leading.stateChanged(of: target, to: state) }
        switch event {
        case .retry(let failure, let stage):
            device.faultsChanged(now: now) { $0.attemptFailed(failure, at: stage, of: target) }
        case .failed(let code, let text): device.faultsChanged(now: now) { $0.targetFailed(target, code, text) }
        case .stateChanged(.live): device.faultsChanged(now: now) { $0.targetBecameLive(target) }
        case .stateChanged(.disconnected): device.faultsChanged(now: now) { $0.targetSwitchedOff(target) }
        default: break
        }
    }

    private func happened(_ event: StreamEvent, now: MediaTimestamp) {
        summary.eventHappened(event, start: device.files.device.startQuality)
        device.encoderReported(event, now: now)
        let webcam = device.webcam
        switch event {
        case .snapshot(let answer): device.commands.snapshotTaken(answer, brightness: nil)
        case .source(let event):
            device.faultsChanged(now: now) { $0.sourceChanged(event) }
            if case .started = event {
                viewerProblem = nil
                if streams.isIdle { device.faultsChanged(now: now) { $0.mediaProved() } }
            }
            webcam.sourceChanged(event)
        // The end of the thread tells why.
        case .stateChanged(.error): break
        case .stateChanged(let state): stateChanged(to: state, now: now)
        case .cameraSwitched:
            webcam.cameraSwitched()
            device.commands.lookAtControls()
        // After a refusal, the computer's dialog shows wrong values.
        case .controlled, .refused: device.commands.lookAtControls()
        // For the computer, this also applies after the stream's end.
        case .muted(let isMuted):
            if streams.isIdle { isIdleMuted = isMuted }
            webcam.streamMuted(isMuted)
        case .paused(let isPaused): device.perform(device.appliance.streamPaused(isPaused, now: now))
        case .qualityChanged:
            device.perform(device.appliance.qualityChanged(isLowered: summary.isLowered, now: now))
        default: break
        }
    }

    private func stateChanged(to state: StreamState, now: MediaTimestamp) {
        device.perform(device.appliance.streamStateChanged(to: state, now: now))
        if state == .live {
            isIdleMuted = false
            device.reportFaults(now: now)
            device.webcam.settleStream()
        }
        // The stream handles this once the camera is open; it does not accept controls yet.
        if state == .connecting { device.commands.lookAtControls() }
    }

    /// - Parameter choices: if a device was missing, the available ones as the files name them.
    private func ended(_ failure: StreamFailure?, choices: [String]) {
        let now = MonotonicClock.now()
        if streams.isIdle { return idleEnded(failure, choices: choices, now: now) }
        let startsAgain = streams.ended()
        device.recording.streamChanged(isStreaming: false)
        device.commands.streamEnded(isFollowed: startsAgain || failure.map { ApplianceFault($0) } != .server)
        summary = StreamSummary()
        leading = LeadingTarget()
        device.webcam.streamEnded()
        device.encoderHealth.encoderChanged()
        if let failure {
            let (code, text) = (failure.code.map { " (\($0.rawValue))" } ?? "", failure.text)
            device.report(
                StreamEvent.failed(failure.code, message: text), line: "the stream has failed\(code): \(text)")
            if failure.needsMachineRestart {
                device.askForMachineRestart(for: .everyEncoder, because: failure.text, now: now)
            }
        }
        let reason = failure.map { FaultBook.Failure(ApplianceFault($0), $0, choices: choices) }
        device.perform(device.appliance.streamEnded(reason, isFollowed: startsAgain, now: now))
        if startsAgain, !streams.isRunning { startWaiting(now: now) }
        device.reportFaults(now: now)
        device.saveEvents(isUrgent: true, now: now)
    }
}
