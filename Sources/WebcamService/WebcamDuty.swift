import ApplianceLogic
import Controls
import DevicePorts
import Media
import Settings
import StreamLogic
import USBVideo

/// What a webcam's gadget is made of, by the files.
package struct GadgetPlan: Equatable {
    package let identity: GadgetIdentity
    package let bus: IsochronousBudget
    package let asks: Bool

    package init(identity: GadgetIdentity, bus: IsochronousBudget, asks: Bool) {
        self.identity = identity
        self.bus = bus
        self.asks = asks
    }
}

/// The camera as a computer's webcam, and what is known of that computer.
package struct WebcamDuty {
    /// A camera that hangs while it is opened does not keep the webcam for longer.
    static let lookTimeout = Duration.seconds(10)
    /// A kernel that takes longer to let go of a gadget is not waited for.
    private static let endTimeout = Duration.seconds(2)
    /// From one try to make the gadget to the next.
    private static let shortestPause = Duration.seconds(2)
    private static let longestPause = Duration.seconds(60)

    /// Streams have it from their start on.
    package let relay = WebcamRelay()
    package var state = WebcamState.notConnected
    /// The computer takes no frames, although a program there looks.
    package var isStalled = false
    /// A program there records.
    package var isRecorded = false
    package var problems = WebcamProblems()
    /// device.json or a command wants one; the gadget waits for what the camera is known to have.
    package private(set) var isWanted = false
    /// Somebody at the camera has to agree.
    private var asks: Bool { plan?.asks ?? false }
    /// What a command has said, until the program ends; else device.json says it.
    package var wish: Bool?
    /// A command holds, and device.json says otherwise.
    private(set) var isAgainstFile = false
    /// What the camera has; `nil` until it has been open once, or did not open.
    package var controls: [ControlStatus]?
    /// When the gadget is made without it.
    package private(set) var lookDeadline: MediaTimestamp?
    /// What the gadget is made of.
    package private(set) var plan: GadgetPlan?
    /// Of the gadget that is there: what one before it has reported is late.
    package private(set) var number = 0
    package var settings = ComputerSettings()
    /// The present stream's camera has what the computer had set before.
    package var isStreamSettled = false
    /// The present stream's audio; it may be muted before there is a webcam.
    private var isStreamMuted = false
    /// When it is tried again to make the gadget; `nil` unless that has failed.
    package private(set) var retryTime: MediaTimestamp?
    /// From the next failure to the next try.
    private var pause = Self.shortestPause
    /// The number of a gadget that is being taken down, and until when the next one waits for that.
    package private(set) var ending: (number: Int, limit: MediaTimestamp)?

    package init() {}

    /// A program there looks or records, and nobody has agreed yet.
    package var waitsForPress: Bool { !relay.isAllowed && isUsed }

    /// A program there looks or records, or wants to.
    package var isUsed: Bool {
        if isRecorded { return true }
        return if case .active = state { !isStalled } else { false }
    }

    /// Frames are of use, or what the camera has is not known yet.
    package var wantsCamera: Bool {
        if case .active = state { return relay.isAllowed && !isStalled }
        return isWanted && controls == nil
    }

    /// Audio is of use.
    package var wantsMicrophone: Bool { isRecorded && relay.isAllowed }

    /// Why the computer sees nothing new; `nil` while it wants to see nothing, too.
    var cameraProblem: String? {
        guard case .active = state, relay.isAllowed else { return nil }
        return problems.camera
    }

    /// Why the computer hears nothing.
    var microphoneProblem: String? { wantsMicrophone ? problems.microphone : problems.card }

    package var use: WebcamUse {
        guard isUsed else { return .none }
        guard relay.isAllowed else { return .waiting }
        return isRecorded || cameraProblem == nil ? .active : .withoutCamera
    }

    /// - Parameter file: whether device.json wants one.
    /// - Returns: whether there is to be one.
    package mutating func decide(file: Bool) -> Bool {
        isAgainstFile = wish.map { $0 != file } ?? false
        return wish ?? file
    }

    package mutating func start(_ plan: GadgetPlan, now: MediaTimestamp) {
        isWanted = true
        self.plan = plan
        number += 1
        relay.isAllowed = !plan.asks
        lookDeadline = controls == nil ? now + Self.lookTimeout : nil
    }

    /// Name and port change when nobody is cut off by that; that somebody has to agree holds at once.
    package func isOutdated(_ plan: GadgetPlan) -> Bool {
        guard let present = self.plan else { return true }
        return present.asks != plan.asks || present != plan && !isUsed
    }

    /// What the other one has is looked at as soon as nothing else has it open; the gadget of before stays until then.
    package mutating func cameraChanged(now: MediaTimestamp) {
        controls = nil
        lookDeadline = isWanted ? now + Self.lookTimeout : nil
    }

    /// What the camera has, or that it does not open, is known.
    package mutating func looked(_ statuses: [ControlStatus]) {
        controls = statuses
        lookDeadline = nil
    }

    package mutating func opened(_ sink: any WebcamSink) {
        relay.sink = sink
        problems.gadget = nil
        pause = Self.shortestPause
    }

    /// The gadget was not made.
    /// - Returns: whether that is news.
    package mutating func failed(_ reason: String, now: MediaTimestamp) -> Bool {
        defer {
            problems.gadget = reason
            pause = min(pause * 2, Self.longestPause)
        }
        retryTime = now + pause
        return pause == Self.shortestPause || reason != problems.gadget
    }

    /// - Returns: whether the time for another try has come; once.
    package mutating func takeRetry(now: MediaTimestamp) -> Bool {
        guard let retryTime, retryTime <= now else { return false }
        self.retryTime = nil
        return true
    }

    /// Starts to take the gadget down, if there is one.
    package mutating func end(now: MediaTimestamp) {
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
    package mutating func ended(_ number: Int) {
        if ending?.number == number { ending = nil }
    }

    /// - Returns: whether a gadget that is being taken down has to be waited for no longer; once.
    package mutating func takeEndTimeout(now: MediaTimestamp) -> Bool {
        guard let ending, ending.limit <= now else { return false }
        self.ending = nil
        return true
    }
}

extension WebcamDuty {
    /// - Parameter isMuted: the stream's audio. It holds for the computer when the stream has ended, too.
    package mutating func streamMuted(_ isMuted: Bool) {
        isStreamMuted = isMuted
        relay.isMuted = isMuted && isWanted
    }

    package mutating func streamStarted(_ device: DeviceDescription, isMuted: Bool) {
        isStreamMuted = isMuted
        problems.streamStarted(device)
    }

    package mutating func streamEnded() {
        (isStreamMuted, isStreamSettled) = (false, false)
        problems.streamEnded()
    }

    /// A stream that runs was muted, or heard, before there was a webcam.
    package func takeStreamsMute() { relay.isMuted = isStreamMuted }
}
