import ApplianceLogic
import Controls
import DevicePorts
import JSONText
import LinuxIO
import Media
import Settings
import StreamLogic
import USBVideo

/// What a webcam's gadget is made of, by the files.
struct GadgetPlan: Equatable {
    let identity: GadgetIdentity
    let bus: IsochronousBudget
    let asks: Bool
}

/// The camera as a computer's webcam, and what is known of that computer.
struct WebcamDuty {
    /// A camera that hangs while it is opened does not keep the webcam for longer.
    static let lookTimeout = Duration.seconds(10)

    /// Streams have it from their start on.
    let relay = WebcamRelay()
    var state = WebcamState.notConnected
    /// The computer takes no frames, although a program there looks.
    var isStalled = false
    /// A program there records.
    var isRecorded = false
    /// Why there is none.
    var problem: String?
    /// Why the computer sees nothing new.
    var cameraProblem: String?
    /// Why the computer hears nothing.
    var microphoneProblem: String?
    /// device.json or a command wants one; the gadget waits for what the camera is known to have.
    private(set) var isWanted = false
    /// Somebody at the camera has to agree.
    private var asks: Bool { plan?.asks ?? false }
    /// What a command has said, until the program ends; else device.json says it.
    var wish: Bool?
    /// A command holds, and device.json says otherwise.
    private(set) var isAgainstFile = false
    /// What the camera has; `nil` until it has been open once, or did not open.
    var controls: [ControlStatus]?
    /// When the gadget is made without it.
    private(set) var lookDeadline: MediaTimestamp?
    /// What the gadget is made of.
    private(set) var plan: GadgetPlan?
    /// Of the gadget that is there: what one before it has reported is late.
    private(set) var number = 0
    var settings = ComputerSettings()
    /// The present stream's camera has what the computer had set before.
    var isStreamSettled = false
    /// The present stream's audio; it may be muted before there is a webcam.
    private var isStreamMuted = false
    /// Whose answer is for the computer.
    var lastLook: CommandID?

    /// A program there looks or records, and nobody has agreed yet.
    var waitsForPress: Bool { !relay.isAllowed && isUsed }

    /// A program there looks or records, or wants to.
    var isUsed: Bool {
        if isRecorded { return true }
        return if case .active = state { !isStalled } else { false }
    }

    /// Frames are of use, or what the camera has is not known yet.
    var wantsCamera: Bool {
        if case .active = state { return relay.isAllowed && !isStalled }
        return isWanted && controls == nil
    }

    /// Audio is of use.
    var wantsMicrophone: Bool { isRecorded && relay.isAllowed }

    /// Somebody there sees or hears what the camera does.
    var isActive: Bool { relay.isAllowed && isUsed && (isRecorded || cameraProblem == nil) }

    /// - Parameter file: whether device.json wants one.
    /// - Returns: whether there is to be one.
    mutating func decide(file: Bool) -> Bool {
        isAgainstFile = wish.map { $0 != file } ?? false
        return wish ?? file
    }

    mutating func start(_ plan: GadgetPlan, now: MediaTimestamp) {
        isWanted = true
        self.plan = plan
        number += 1
        relay.isAllowed = !plan.asks
        lookDeadline = controls == nil ? now + Self.lookTimeout : nil
    }

    /// Name and port change when nobody is cut off by that; that somebody has to agree holds at once.
    func isOutdated(_ plan: GadgetPlan) -> Bool {
        guard let present = self.plan else { return true }
        return present.asks != plan.asks || present != plan && !isUsed
    }

    /// What the other one has is looked at as soon as nothing else has it open; the gadget of before stays until then.
    mutating func cameraChanged(now: MediaTimestamp) {
        controls = nil
        lookDeadline = isWanted ? now + Self.lookTimeout : nil
    }

    /// What the camera has, or that it does not open, is known.
    mutating func looked(_ statuses: [ControlStatus]) {
        controls = statuses
        lookDeadline = nil
    }

    /// The gadget is gone by then, unless the kernel keeps it.
    mutating func end() {
        let sink = relay.sink
        relay.sink = nil
        relay.isAllowed = false
        (state, isStalled, isRecorded) = (.notConnected, false, false)
        (problem, cameraProblem, microphoneProblem) = (nil, nil, nil)
        (isWanted, lookDeadline) = (false, nil)
        settings = ComputerSettings()
        sink?.end()
    }
}

extension WebcamDuty {
    /// - Parameter isMuted: the stream's audio. It holds for the computer when the stream has ended, too.
    mutating func streamMuted(_ isMuted: Bool) {
        isStreamMuted = isMuted
        relay.isMuted = isMuted && isWanted
    }

    mutating func streamStarted(isMuted: Bool) { isStreamMuted = isMuted }

    mutating func streamEnded() { (isStreamMuted, isStreamSettled) = (false, false) }

    /// A stream that runs was muted, or heard, before there was a webcam.
    func takeStreamsMute() { relay.isMuted = isStreamMuted }
}

extension WebcamDuty {
    /// For programs.
    func write(to object: borrowing JSONObjectWriter) {
        object.write("state", problem == nil ? state.name : "failed")
        switch state {
        case .notConnected: break
        case .connected(let speed): object.write("speed", speed.rawValue)
        case .active(let speed, let choice):
            object.write("speed", speed.rawValue)
            object.write("format", choice.mode.coding.rawValue)
            object.write("width", choice.mode.size.width)
            object.write("height", choice.mode.size.height)
            object.write("framesPerSecond", (choice.framesPerSecond * 100).rounded() / 100)
        }
        if let problem { object.write("reason", problem) }
        if let cameraProblem { object.write("cameraReason", cameraProblem) }
        if let microphoneProblem { object.write("microphoneReason", microphoneProblem) }
        let statistics = relay.sink?.statistics ?? WebcamStatistics()
        object.write("waitsForPress", waitsForPress)
        object.write("isStalled", isStalled)
        object.write("isRecorded", isRecorded)
        object.write("isMuted", relay.isMuted)
        object.write("isAgainstFile", isAgainstFile)
        object.write("sentFrames", statistics.sentFrames)
        object.write("lostFrames", statistics.lostFrames)
        object.write("sentBytes", statistics.sentBytes)
    }

    /// `nil` where it is no webcam, nor to be one by device.json.
    var text: String? {
        guard isWanted else { return isAgainstFile ? "off by a command, against device.json" : nil }
        if let problem { return "none, \(problem)" }
        var words = waitsForPress ? "a program waits for a press of the button" : "\(state)"
        if let statistics = relay.sink?.statistics, statistics.sentFrames > 0 {
            words += "; \(statistics.sentFrames) frames sent, \(statistics.lostFrames) lost"
        }
        if isRecorded, !waitsForPress { words += "; a program records" }
        if let cameraProblem { words += "; \(cameraProblem)" }
        if isStalled { words += "; the computer takes no frames" }
        if relay.isMuted { words += "; muted" }
        if let microphoneProblem { words += "; no audio: \(microphoneProblem)" }
        if isAgainstFile { words += "; by a command, against device.json" }
        return words
    }
}

extension ApplianceRunner {
    /// Makes the camera a webcam, or ends that, as device.json or a command says.
    /// - Parameter hasOtherCamera: than it had.
    func openWebcam(hasOtherCamera: Bool = false) {
        if hasOtherCamera { webcam.cameraChanged(now: MonotonicClock.now()) }
        let isWanted = webcam.decide(file: files.device.webcam != .off)
        let plan = webcamPlan
        guard isWanted != webcam.isWanted || isWanted && webcam.isOutdated(plan) else { return }
        if webcam.isWanted {
            webcam.end()
            showWebcam()
        }
        guard isWanted else { return }
        webcam.start(plan, now: MonotonicClock.now())
        if stream.isRunning { webcam.takeStreamsMute() }
        lookAtControls()
        connectWebcam()
    }

    /// As soon as it is known what the camera has, as a computer asks for that once.
    func connectWebcam() {
        guard webcam.relay.sink == nil, let plan = webcam.plan, webcam.isWanted, let controls = webcam.controls
        else { return }
        let (reports, number) = (stream.reports, webcam.number)
        let request = WebcamRequest(identity: plan.identity, bus: plan.bus, asks: plan.asks, controls: controls)
        do {
            webcam.relay.sink = try stream.engine.openWebcam(request) { reports.send(.webcam(number, $0)) }
        } catch {
            webcam.problem = "\(error)"
            tell(WebcamEvent.failed(reason: "\(error)").text)
        }
    }

    /// As the files have it now.
    private var webcamPlan: GadgetPlan {
        GadgetPlan(
            identity: GadgetIdentity(name: files.network.hostName, serialNumber: Self.serialNumber),
            bus: IsochronousBudget(of: files.board?.devicePort), asks: files.device.webcam == .ask)
    }

    /// Of the board; else the same for all.
    private static var serialNumber: String {
        let text = (try? readFile("/sys/firmware/devicetree/base/serial-number", limit: 64)) ?? []
        let serial = String(decoding: text.prefix { $0 > 32 && $0 < 127 }, as: UTF8.self)
        return serial.isEmpty ? "tallycam" : serial
    }

    /// - Parameter number: of the gadget.
    func webcamReported(_ report: WebcamReport, of number: Int) {
        guard webcam.relay.sink != nil, number == webcam.number else { return }
        let waited = webcam.waitsForPress
        switch report {
        case .event(let event):
            tell(event.text)
            webcamChanged(event)
        case .change(let change): return changeForComputer(change)
        case .recorded(let isRecorded):
            webcam.isRecorded = isRecorded
            webcam.microphoneProblem = nil
            // Another camera's controls may have waited for the end of it.
            if !isRecorded, let controls = webcam.controls { webcam.relay.sink?.controlsChanged(controls) }
        }
        // The files may have changed while somebody looked.
        if !webcam.isUsed { openWebcam() }
        if webcam.waitsForPress, !waited { tell("webcam: a program wants to see or hear; press the button to let it") }
        showWebcam()
    }

    private func webcamChanged(_ event: WebcamEvent) {
        switch event {
        case .changed(let state):
            (webcam.state, webcam.isStalled, webcam.problem) = (state, false, nil)
            // The next computer is asked for anew.
            if state == .notConnected { webcam.relay.isAllowed = webcam.plan?.asks != true }
        case .stalled(let isStalled): webcam.isStalled = isStalled
        case .failed(let reason): webcam.problem = reason
        case .microphoneFailed(let reason): webcam.microphoneProblem = reason
        case .impaired: break
        }
    }

    func showWebcam() {
        perform(appliance.webcamChanged(isActive: webcam.isActive, now: MonotonicClock.now()))
    }

    /// - Returns: whether somebody's agreement was an answer to a computer.
    func allowWebcam() -> Bool {
        guard webcam.waitsForPress, let sink = webcam.relay.sink else { return false }
        webcam.relay.isAllowed = true
        sink.allow()
        showWebcam()
        return true
    }

    /// Without a stream, whose own mute the computer hears as well.
    func muteWebcam(_ isMuted: Bool) -> CommandAnswer {
        personActed()
        webcam.relay.isMuted = isMuted
        tell("webcam: \(isMuted ? "muted" : "heard")")
        return CommandAnswer(text: "webcam: \(webcam.text ?? "off")\n")
    }

    func setWebcam(_ word: String) -> CommandAnswer {
        personActed()
        switch word {
        case "start", "stop":
            webcam.wish = word == "start"
            openWebcam()
        case "allow": guard allowWebcam() else { return .failed("no program on a computer waits") }
        default: return .failed("webcam takes start, stop or allow, not \(quoted(word.prefix(60)))")
        }
        return CommandAnswer(text: "webcam: \(webcam.text ?? "off")\n")
    }
}

extension IsochronousBudget {
    init(of port: BoardDescription.DevicePort?) {
        guard let port else {
            self.init()
            return
        }
        self.init(packetBytes: port.packetBytes, interval: port.interval)
    }
}
