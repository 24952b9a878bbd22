import Controls

/// The camera as a computer's webcam: what the kernel's function reports goes in, what is to be done comes out. Nothing that
/// a computer sends makes it trap or lose its place.
public struct VideoFunction {
    public enum Event: Hashable, Sendable {
        case connected(USBSpeed)
        case disconnected
        case setup(SetupPacket)
        /// The data of a control transfer to the camera.
        case data([UInt8])
        case streamOn
        case streamOff
    }

    public enum Action: Hashable, Sendable {
        case answer(ControlAnswer)
        case startFrames(VideoChoice)
        case stopFrames
        /// Frames were under way when the connection ended: the kernel asks for no end of them, and connects again when its node
        /// is opened anew.
        case reopen
        case change(ControlChange)
        case report(WebcamState)
    }

    private static let controlInterface: UInt8 = 0
    private static let streamingInterface: UInt8 = 1

    public private(set) var state = WebcamState.notConnected
    private var speed = USBSpeed.unknown
    private let bus: IsochronousBudget
    private var negotiation: Negotiation
    private var units = UnitRequests()

    /// - Parameter bus: of the streaming endpoint.
    public init(_ offer: VideoOffer, on bus: IsochronousBudget) {
        self.bus = bus
        negotiation = Negotiation(offer, largestTransfer: bus.packetBytes)
    }

    /// What the camera has and is set to, newer than before.
    public mutating func controlsChanged(_ statuses: [ControlStatus]) { units.statuses = statuses }

    public mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .connected(let speed):
            self.speed = speed
            negotiation.largestTransfer = bus.carried(at: speed).packetBytes
            return reset() + change(to: .connected(speed))
        case .disconnected: return reset() + change(to: .notConnected)
        case .setup(let setup): return connectIfNeeded() + [.answer(answer(setup))]
        case .data(let bytes): return received(bytes)
        case .streamOn:
            guard let choice = negotiation.choice else { return [] }
            return change(to: .active(speed, choice)) + [.startFrames(choice)]
        // The kernel waits for it, whatever was started.
        case .streamOff: return [.stopFrames] + change(to: .connected(speed))
        }
    }

    /// The kernel does not always report a connection that follows the end of another (f_uvc, after STREAMOFF).
    private mutating func connectIfNeeded() -> [Action] { state == .notConnected ? change(to: .connected(speed)) : [] }

    /// Nothing is agreed on any more.
    private mutating func reset() -> [Action] {
        negotiation.reset()
        units.reset()
        return if case .active = state { [.reopen] } else { [] }
    }

    private mutating func change(to state: WebcamState) -> [Action] {
        guard state != self.state else { return [] }
        self.state = state
        return [.report(state)]
    }

    private mutating func answer(_ setup: SetupPacket) -> ControlAnswer {
        negotiation.expectNothing()
        units.expectNothing()
        let result: Result<ControlAnswer, VideoRequestFailure> =
            switch (setup.isOfClassToInterface, setup.interface) {
            case (true, Self.controlInterface): units.answer(setup)
            case (true, Self.streamingInterface): negotiation.answer(setup)
            default: .failure(.init(.unknownRequest))
            }
        switch result {
        case .success(let answer):
            units.succeeded()
            if case .send(let bytes) = answer { return .send([UInt8](bytes.prefix(Int(setup.length)))) }
            return answer
        case .failure(let failure):
            units.failed(failure.reason)
            return .stall
        }
    }

    private mutating func received(_ bytes: [UInt8]) -> [Action] {
        if negotiation.isExpectingData {
            negotiation.received(bytes)
            return []
        }
        guard units.isExpectingData, let change = units.received(bytes) else { return [] }
        return [.change(change)]
    }
}

extension VideoFunction.Event {
    /// The computer waits for an answer.
    public var isSetup: Bool { if case .setup = self { true } else { false } }

    /// What was asked before it waits for no answer.
    public var endsRequests: Bool {
        switch self {
        case .connected, .disconnected: true
        case .setup, .data, .streamOn, .streamOff: false
        }
    }
}

extension VideoFunction.Action {
    public var isAnswer: Bool { if case .answer = self { true } else { false } }
}

/// Of the bus between camera and computer, as the kernel names it.
public enum USBSpeed: String, Hashable, Sendable {
    case unknown, low, full, high, wireless, `super`, superPlus
}

/// What the camera is for a computer.
public enum WebcamState: Hashable, Sendable {
    /// No computer is there, or it has not asked what this is.
    case notConnected
    /// No program there looks: neither camera nor encoder runs for it.
    case connected(USBSpeed)
    /// A program is given frames.
    case active(USBSpeed, VideoChoice)
}

extension WebcamState {
    /// As events and the status have it.
    public var name: String {
        switch self {
        case .notConnected: "notConnected"
        case .connected: "connected"
        case .active: "active"
        }
    }
}

extension WebcamState: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notConnected: "no computer"
        case .connected(let speed): "a computer at \(speed.rawValue) speed, nobody looks"
        case .active(let speed, let choice):
            "\(choice.mode) at \(choice.framesPerSecond.rounded()) fps, \(speed.rawValue) speed"
        }
    }
}
