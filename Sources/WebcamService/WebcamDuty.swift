import ApplianceLogic
import Controls
import DevicePorts
import Media
import Settings
import StreamLogic
import USBVideo

/// The gadget's configuration, from the files.
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

/// The camera as a computer's webcam, and what is known about that computer.
package struct WebcamDuty {
    /// Limits how long a camera that hangs while opening delays the webcam.
    static let lookTimeout = Duration.seconds(10)
    /// Limits the wait for the kernel to release a gadget.
    private static let endTimeout = Duration.seconds(2)
    /// Interval between attempts to create the gadget.
    private static let shortestPause = Duration.seconds(2)
    private static let longestPause = Duration.seconds(60)

    /// Streams hold it from their start on.
    package let relay = WebcamRelay()
    package var state = WebcamState.notAttached
    /// The computer takes no frames although a program there has opened the webcam.
    package var isStalled = false
    /// Whether a program on the computer is recording.
    package var isRecorded = false
    package var problems = WebcamProblems()
    /// device.json or a command wants a webcam. The gadget waits until the camera's controls are known.
    package private(set) var isWanted = false
    /// Whether someone at the camera must agree.
    private var asks: Bool { plan?.asks ?? false }
    /// The choice of a command, until the program ends; otherwise, device.json decides.
    package var wish: Bool?
    /// Whether a command overrides device.json.
    private(set) var isAgainstFile = false
    /// The camera's controls; `nil` until it has been opened once, or if it failed to open.
    package var controls: [ControlStatus]?
    /// When the gadget is created without them.
    package private(set) var lookDeadline: MediaTimestamp?
    package private(set) var plan: GadgetPlan?
    /// Number of the present gadget. Reports of earlier gadgets are ignored.
    package private(set) var number = 0
    package var settings = ComputerSettings()
    /// Whether the present stream's camera has the computer's earlier settings.
    package var isStreamSettled = false
    /// Mute state of the present stream's audio, which may be set before there is a webcam.
    private var isStreamMuted = false
    /// When to retry creating the gadget; `nil` unless that has failed.
    package private(set) var retryTime: MediaTimestamp?
    /// Pause after the next failure.
    private var pause = Self.shortestPause
    /// Number of a gadget being removed, and how long the next one waits for that.
    package private(set) var ending: (number: Int, limit: MediaTimestamp)?

    package init() {}

    /// A program has opened the webcam or is recording, and nobody has agreed yet.
    package var waitsForPress: Bool { !relay.isAllowed && isUsed }

    /// A program has opened the webcam or is recording, or is waiting to.
    package var isUsed: Bool {
        if isRecorded { return true }
        return if case .active = state { !isStalled } else { false }
    }

    /// Whether frames are needed, or the camera's controls are not known yet.
    package var wantsCamera: Bool {
        if case .active = state { return relay.isAllowed && !isStalled }
        return isWanted && controls == nil
    }

    /// Whether audio is needed.
    package var wantsMicrophone: Bool { isRecorded && relay.isAllowed }

    /// Why the computer sees nothing new; `nil` if it does not want to.
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

    /// - Parameter file: whether device.json wants a webcam.
    /// - Returns: whether there should be one.
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

    /// A change of name or port waits until nobody is cut off by it. A changed need for consent applies at once.
    package func isOutdated(_ plan: GadgetPlan) -> Bool {
        guard let present = self.plan else { return true }
        return present.asks != plan.asks || present != plan && !isUsed
    }

    /// The new camera's controls are queried as soon as nothing else uses it. The previous gadget stays until then.
    package mutating func cameraChanged(now: MediaTimestamp) {
        controls = nil
        lookDeadline = isWanted ? now + Self.lookTimeout : nil
    }

    /// The camera's controls are known now, or it failed to open.
    package mutating func looked(_ statuses: [ControlStatus]) {
        controls = statuses
        lookDeadline = nil
    }

    package mutating func opened(_ sink: any WebcamSink) {
        relay.sink = sink
        problems.gadget = nil
        pause = Self.shortestPause
    }

    /// Creating the gadget has failed.
    /// - Returns: whether the failure is new.
    package mutating func failed(_ reason: String, now: MediaTimestamp) -> Bool {
        defer {
            problems.gadget = reason
            pause = min(pause * 2, Self.longestPause)
        }
        retryTime = now + pause
        return pause == Self.shortestPause || reason != problems.gadget
    }

    /// - Returns: whether it is time for another attempt; once.
    package mutating func takeRetry(now: MediaTimestamp) -> Bool {
        guard let retryTime, retryTime <= now else { return false }
        self.retryTime = nil
        return true
    }

    /// Starts to remove the gadget, if there is one.
    package mutating func end(now: MediaTimestamp) {
        if let sink = relay.sink {
            sink.end()
            ending = (number, now + Self.endTimeout)
        }
        relay.sink = nil
        relay.isAllowed = false
        (state, isStalled, isRecorded) = (.notAttached, false, false)
        problems.gadgetEnded()
        (isWanted, lookDeadline) = (false, nil)
        (retryTime, pause) = (nil, Self.shortestPause)
        settings = ComputerSettings()
    }

    /// - Parameter number: number of the gadget that is gone.
    package mutating func ended(_ number: Int) {
        if ending?.number == number { ending = nil }
    }

    /// - Returns: whether the wait for a gadget's removal is over; once.
    package mutating func takeEndTimeout(now: MediaTimestamp) -> Bool {
        guard let ending, ending.limit <= now else { return false }
        self.ending = nil
        return true
    }
}

extension WebcamDuty {
    /// - Parameter isMuted: whether the stream's audio is muted. For the computer, this also applies after the stream's end.
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

    /// The running stream was muted or unmuted before there was a webcam.
    package func takeStreamsMute() { relay.isMuted = isStreamMuted }
}
