import Controls

/// The camera as a computer's webcam. Takes the events of the kernel's function and returns the actions to perform. Nothing
/// that a computer sends can crash it or break its state.
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
        /// The connection ended during streaming. The kernel does not ask to stop then, and reconnects only after its node is
        /// reopened.
        case reopen
        case change(ControlChange)
        case report(WebcamState)
    }

    private static let controlInterface: UInt8 = 0
    private static let streamingInterface: UInt8 = 1

    public private(set) var state = WebcamState.notAttached
    private var speed = USBSpeed.unknown
    private let bus: IsochronousBudget
    private var negotiation: Negotiation
    private var units = UnitRequests()

    /// - Parameter bus: the budget of the streaming endpoint.
    public init(_ offer: VideoOffer, on bus: IsochronousBudget) {
        self.bus = bus
        negotiation = Negotiation(offer, largestTransfer: bus.packetBytes)
    }

    /// Updates the camera's controls and their values.
    public mutating func controlsChanged(_ statuses: [ControlStatus]) { units.statuses = statuses }

    public mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .connected(let speed):
            self.speed = speed
            negotiation.largestTransfer = bus.carried(at: speed).packetBytes
            return reset() + change(to: .attached(speed))
        case .disconnected: return reset() + change(to: .notAttached)
        case .setup(let setup): return connectIfNeeded() + [.answer(answer(setup))]
        case .data(let bytes): return received(bytes)
        case .streamOn:
            guard let choice = negotiation.choice else { return [] }
            return change(to: .active(speed, choice)) + [.startFrames(choice)]
        // The kernel waits for this acknowledgement in any case.
        case .streamOff: return [.stopFrames] + change(to: .attached(speed))
        }
    }

    /// The kernel does not always report a new connection after the end of an earlier one (f_uvc, after STREAMOFF).
    private mutating func connectIfNeeded() -> [Action] { state == .notAttached ? change(to: .attached(speed)) : [] }

    /// Forgets the agreement with the computer.
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
    /// Whether the computer waits for an answer.
    public var isSetup: Bool { if case .setup = self { true } else { false } }

    /// Whether this event ends all earlier requests.
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

/// Speed of the bus between camera and computer, in the kernel's terms.
public enum USBSpeed: String, Hashable, Sendable {
    case unknown, low, full, high, wireless, `super`, superPlus
}

/// The camera's state as a webcam.
public enum WebcamState: Hashable, Sendable {
    /// There is no computer, or it has not identified the device yet.
    case notAttached
    /// No program is using the webcam, so neither camera nor encoder runs for it.
    case attached(USBSpeed)
    /// A program receives frames.
    case active(USBSpeed, VideoChoice)
}

extension WebcamState {
    /// The name in events and in the status.
    public var name: String {
        switch self {
        case .notAttached: "notAttached"
        case .attached: "attached"
        case .active: "active"
        }
    }
}

extension WebcamState: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAttached: "no computer"
        case .attached(let speed): "a computer at \(speed.rawValue) speed, idle"
        case .active(let speed, let choice):
            "\(choice.mode) at \(choice.framesPerSecond.rounded()) fps, \(speed.rawValue) speed"
        }
    }
}
