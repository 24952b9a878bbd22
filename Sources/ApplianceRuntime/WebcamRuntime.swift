import CardStorage
import CommandChannels
import DeviceStreams
import LinuxIO
import Media
import Settings
import StreamLogic
import USBVideo
import WebcamService

/// The camera as a computer's webcam: creates the gadget, carries out the computer's requests, and tracks the consent of people
/// at the camera. Used from the main thread.
final class WebcamRuntime {
    unowned let device: ApplianceDevice
    var duty = WebcamDuty()

    init(of device: ApplianceDevice) { self.device = device }

    var isWanted: Bool { duty.isWanted }
    /// Whether the gadget is being removed.
    var isEnding: Bool { duty.ending != nil }
    var relay: WebcamRelay { duty.relay }
    var waitsForPress: Bool { duty.waitsForPress }
    var wantsCamera: Bool { duty.wantsCamera }
    var wantsMicrophone: Bool { duty.wantsMicrophone }
    var status: WebcamStatus { WebcamStatus(duty) }

    // MARK: The gadget

    /// Starts or ends webcam mode, according to device.json or a command.
    /// - Parameter hasOtherCamera: whether the camera has been replaced.
    func filesChanged(hasOtherCamera: Bool = false) {
        if hasOtherCamera { duty.cameraChanged(now: MonotonicClock.now()) }
        let isWanted = duty.decide(file: device.files.device.webcam != .off)
        let plan = GadgetPlan(device.files)
        guard isWanted != duty.isWanted || isWanted && duty.isOutdated(plan) else { return }
        if duty.isWanted {
            duty.end(now: MonotonicClock.now())
            show()
        }
        guard isWanted else { return }
        duty.start(plan, now: MonotonicClock.now())
        // This is known before the camera is open. The gadget is tried anyway.
        duty.problems.gadget = device.stream.engine.webcamAbsence
        if device.stream.isRunning { duty.takeStreamsMute() }
        device.commands.lookAtControls()
        connect()
    }

    /// Creates the gadget once the camera's controls are known, because a computer asks for them only once, and the previous
    /// gadget is gone.
    func connect() {
        guard duty.isWanted, relay.sink == nil, duty.ending == nil, duty.retryTime == nil, let plan = duty.plan,
            let controls = duty.controls
        else { return }
        let (reports, number) = (device.stream.reports, duty.number)
        let request = WebcamRequest(identity: plan.identity, bus: plan.bus, asks: plan.asks, controls: controls)
        do {
            duty.opened(try device.stream.engine.openWebcam(request) { reports.send(.webcam(number, $0)) })
        } catch {
            let reason = "\(error)"
            guard duty.failed(reason, now: MonotonicClock.now()) else { return }
            device.tell(text: WebcamEvent.failed(reason: reason).text)
        }
    }

    /// The program ends.
    func end(now: MediaTimestamp) { duty.end(now: now) }

    /// - Parameter number: number of the gadget that is gone.
    func gone(_ number: Int) { duty.ended(number) }

    /// A gadget is gone, or the kernel does not release it in time.
    private func stopped() {
        guard duty.ending == nil else { return }
        device.commands.webcamStopped()
        connect()
    }

    /// When the next action for a computer is due.
    var nextDeadline: MediaTimestamp? {
        [duty.settings.deadline, duty.lookDeadline, duty.retryTime, duty.ending?.limit].compactMap { $0 }.min()
    }

    func timeReached(now: MediaTimestamp) {
        applyComputersChanges(now: now)
        if let deadline = duty.lookDeadline, deadline <= now { cameraIsAway() }
        if duty.takeRetry(now: now) { connect() }
        if duty.takeEndTimeout(now: now) { stopped() }
    }

    // MARK: Reports

    /// - Parameter number: number of the gadget.
    func reported(_ report: WebcamReport, of number: Int) {
        if report == .ended {
            duty.ended(number)
            return stopped()
        }
        guard relay.sink != nil, number == duty.number else { return }
        let waited = duty.waitsForPress
        switch report {
        case .event(let event):
            device.tell(text: event.text)
            happened(event)
        case .change(let change): return changeForComputer(change)
        case .recorded(let isRecorded):
            duty.isRecorded = isRecorded
            duty.problems.card = nil
            // Another camera's controls may have waited for the recording to end.
            if !isRecorded, let controls = duty.controls { relay.sink?.controlsChanged(controls) }
        case .ended: break
        }
        // The files may have changed while a program used the webcam.
        if !duty.isUsed { filesChanged() }
        if duty.waitsForPress, !waited {
            device.tell(.webcamWaits)
        }
        show()
    }

    private func happened(_ event: WebcamEvent) {
        switch event {
        case .changed(let state):
            (duty.state, duty.isStalled, duty.problems.gadget) = (state, false, nil)
            // The next computer needs its own consent.
            if state == .notAttached { relay.isAllowed = duty.plan?.asks != true }
        case .stalled(let isStalled): duty.isStalled = isStalled
        case .failed(let reason): duty.problems.gadget = reason
        case .microphoneFailed(let reason): duty.problems.card = reason
        case .impaired: break
        }
    }

    /// Updates the light.
    func show() {
        device.perform(device.appliance.webcamChanged(to: duty.use, now: MonotonicClock.now()))
    }

    // MARK: People at the camera

    /// Admits a waiting program.
    /// - Returns: whether one was waiting.
    func allow() -> Bool {
        guard duty.waitsForPress, let sink = relay.sink else { return false }
        relay.isAllowed = true
        sink.allow()
        show()
        return true
    }

    /// For audio without a stream; muting a stream also mutes the computer.
    func mute(_ isMuted: Bool) -> CommandAnswer {
        device.personActed()
        relay.isMuted = isMuted
        device.tell(.webcamMuted(isMuted))
        return answer
    }

    /// Starts or ends webcam mode until the program ends.
    func set(_ isWanted: Bool) -> CommandAnswer {
        device.personActed()
        duty.wish = isWanted
        filesChanged()
        guard duty.isWanted, let problem = device.stream.engine.webcamAbsence ?? duty.problems.gadget else {
            return answer
        }
        return .failed(.webcam(reason: problem))
    }

    var answer: CommandAnswer { .done(["webcam: \(status.text ?? "off")"]) }
}

// MARK: The stream, and the camera without one

extension WebcamRuntime {
    func streamStarted(_ description: DeviceDescription, isMuted: Bool) {
        duty.streamStarted(description, isMuted: isMuted)
    }

    func streamEnded() { duty.streamEnded() }

    func streamMuted(_ isMuted: Bool) { duty.streamMuted(isMuted) }

    func sourceChanged(_ event: SourceEvent) {
        duty.problems.sourceChanged(event)
        show()
    }

    func cameraSwitched() {
        duty.problems.cameraSwitched()
        show()
    }

    func idleCameraChanged(problem: String?) { duty.problems.idleCamera = problem }

    func idleMicrophoneChanged(problem: String?) { duty.problems.idleMicrophone = problem }
}

extension GadgetPlan {
    /// The present contents of the files.
    fileprivate init(_ files: DescriptionFiles) {
        self.init(
            identity: GadgetIdentity(name: files.network.hostName, serialNumber: Self.serialNumber),
            bus: IsochronousBudget(of: files.board?.devicePort), asks: files.device.webcam == .ask)
    }

    /// The board's serial number, or the same constant for all.
    private static var serialNumber: String {
        let text = (try? readFile("/sys/firmware/devicetree/base/serial-number", limit: 64)) ?? []
        let serial = String(decoding: text.prefix { $0 > 32 && $0 < 127 }, as: UTF8.self)
        return serial.isEmpty ? "tallycam" : serial
    }
}

extension IsochronousBudget {
    fileprivate init(of port: BoardDescription.DevicePort?) {
        guard let port else {
            self.init()
            return
        }
        self.init(packetBytes: port.packetBytes, interval: port.interval)
    }
}
