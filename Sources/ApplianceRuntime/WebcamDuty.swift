import ApplianceLogic
import Controls
import DevicePorts
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
    /// A kernel that takes longer to let go of a gadget is not waited for.
    private static let endTimeout = Duration.seconds(2)
    /// From one try to make the gadget to the next.
    private static let shortestPause = Duration.seconds(2)
    private static let longestPause = Duration.seconds(60)

    /// Streams have it from their start on.
    let relay = WebcamRelay()
    var state = WebcamState.notConnected
    /// The computer takes no frames, although a program there looks.
    var isStalled = false
    /// A program there records.
    var isRecorded = false
    var problems = WebcamProblems()
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
    /// When it is tried again to make the gadget; `nil` unless that has failed.
    private(set) var retryTime: MediaTimestamp?
    /// From the next failure to the next try.
    private var pause = Self.shortestPause
    /// The number of a gadget that is being taken down, and until when the next one waits for that.
    private(set) var ending: (number: Int, limit: MediaTimestamp)?

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

    /// Why the computer sees nothing new; `nil` while it wants to see nothing, too.
    var cameraProblem: String? {
        guard case .active = state, relay.isAllowed else { return nil }
        return problems.camera
    }

    /// Why the computer hears nothing.
    var microphoneProblem: String? { wantsMicrophone ? problems.microphone : problems.card }

    var use: WebcamUse {
        guard isUsed else { return .none }
        guard relay.isAllowed else { return .waiting }
        return isRecorded || cameraProblem == nil ? .active : .withoutCamera
    }

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

    mutating func opened(_ sink: any WebcamSink) {
        relay.sink = sink
        problems.gadget = nil
        pause = Self.shortestPause
    }

    /// The gadget was not made.
    /// - Returns: whether that is news.
    mutating func failed(_ reason: String, now: MediaTimestamp) -> Bool {
        defer {
            problems.gadget = reason
            pause = min(pause * 2, Self.longestPause)
        }
        retryTime = now + pause
        return pause == Self.shortestPause || reason != problems.gadget
    }

    /// - Returns: whether the time for another try has come; once.
    mutating func takeRetry(now: MediaTimestamp) -> Bool {
        guard let retryTime, retryTime <= now else { return false }
        self.retryTime = nil
        return true
    }

    /// Starts to take the gadget down, if there is one.
    mutating func end(now: MediaTimestamp) {
        if let sink = relay.sink {
            sink.end()
            ending = (number, now + Self.endTimeout)
        }
        relay.sink = nil
        relay.isAllowed = false
        (state, isStalled, isRecorded) = (.notConnected, false, false)
        problems.gadgetEnded()
        (isWanted, lookDeadline) = (false, nil)
        (retryTime, pause) = (nil, Self.shortestPause)
        settings = ComputerSettings()
    }

    /// - Parameter number: of the gadget that is gone.
    mutating func ended(_ number: Int) {
        if ending?.number == number { ending = nil }
    }

    /// - Returns: whether a gadget that is being taken down has to be waited for no longer; once.
    mutating func takeEndTimeout(now: MediaTimestamp) -> Bool {
        guard let ending, ending.limit <= now else { return false }
        self.ending = nil
        return true
    }
}

extension WebcamDuty {
    /// - Parameter isMuted: the stream's audio. It holds for the computer when the stream has ended, too.
    mutating func streamMuted(_ isMuted: Bool) {
        isStreamMuted = isMuted
        relay.isMuted = isMuted && isWanted
    }

    mutating func streamStarted(_ device: DeviceDescription, isMuted: Bool) {
        isStreamMuted = isMuted
        problems.streamStarted(device)
    }

    mutating func streamEnded() {
        (isStreamMuted, isStreamSettled) = (false, false)
        problems.streamEnded()
    }

    /// A stream that runs was muted, or heard, before there was a webcam.
    func takeStreamsMute() { relay.isMuted = isStreamMuted }
}
