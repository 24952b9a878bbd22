import Controls

/// The control interface: requests to units and terminals, which adjust the camera's controls.
struct UnitRequests {
    /// The ID that the kernel's function gives its output terminal, which has no controls.
    private static let outputTerminal: UInt8 = 3

    /// The camera's controls and their values, as last known.
    var statuses: [ControlStatus] = []
    private var lastError = RequestError.none
    private var expected: UnitControl?

    init() {}

    mutating func reset() {
        lastError = .none
        expectNothing()
    }

    /// A computer that sends another request has abandoned the data of the previous one.
    mutating func expectNothing() { expected = nil }

    var isExpectingData: Bool { expected != nil }

    mutating func failed(_ reason: RequestError) { lastError = reason }

    /// Any successful request clears the error, including a request for the error itself (UVC 1.5, section 4.2.1.2).
    mutating func succeeded() { lastError = .none }

    mutating func answer(_ setup: SetupPacket) -> Result<ControlAnswer, VideoRequestFailure> {
        guard setup.entity != 0 else { return answerOfInterface(setup) }
        guard let unit = UnitControl.Unit(rawValue: setup.entity) else {
            return .failure(.init(setup.entity == Self.outputTerminal ? .unknownControl : .unknownEntity))
        }
        guard let control = UnitControl.all.first(where: { $0.unit == unit && $0.selector == setup.selector }),
            let range = control.range(statuses), let current = control.current(statuses)
        else { return .failure(.init(.unknownControl)) }
        func send(_ number: Int) -> Result<ControlAnswer, VideoRequestFailure> {
            .success(.send(control.bytes(of: number)))
        }
        switch (VideoRequest(rawValue: setup.request), setup.isFromDevice) {
        case (.setCurrent, false):
            // Programs restore all their settings when they start. Accepting this value would turn the camera's automatic off
            // (UVC 1.5, section 4.2.2.1.4 for exposure time, and likewise for focus and white balance).
            guard !control.isAutomatic(statuses) else { return .failure(.init(.wrongState)) }
            guard Int(setup.length) == control.byteCount else { return .failure(.init(.outOfRange)) }
            expected = control
            return .success(.receive(control.byteCount))
        case (.current, true): return send(current)
        case (.minimum, true): return send(range.lowerBound)
        case (.maximum, true): return send(range.upperBound)
        case (.resolution, true): return send(control.resolution(in: range))
        case (.usual, true): return send(control.usual(in: range, statuses))
        case (.length, true): return .success(.send([UInt8(control.byteCount), 0]))
        // Bits 0 and 1: readable and writable. Bit 2: disabled, because it is automatic (UVC 1.5, section 4.1.2). uvcvideo asks
        // only once, when it finds the camera, and ignores bit 2. Instead it queries the automatic mode and shows the number as
        // inactive meanwhile (uvc_ctrl_get_flags, __uvc_query_v4l2_ctrl).
        case (.information, true): return .success(.send([control.isAutomatic(statuses) ? 7 : 3]))
        default: return .failure(.init(.unknownRequest))
        }
    }

    /// Only VC_REQUEST_ERROR_CODE_CONTROL exists: why the last request was stalled.
    private mutating func answerOfInterface(_ setup: SetupPacket) -> Result<ControlAnswer, VideoRequestFailure> {
        guard setup.selector == 2 else { return .failure(.init(.unknownControl)) }
        switch (VideoRequest(rawValue: setup.request), setup.isFromDevice) {
        case (.current, true): return .success(.send([lastError.rawValue]))
        case (.length, true): return .success(.send([1, 0]))
        case (.information, true): return .success(.send([1]))
        default: return .failure(.init(.unknownRequest))
        }
    }

    /// Handles the data of a request that `answer` expects.
    /// - Returns: `nil` for a number that the camera does not accept.
    mutating func received(_ bytes: [UInt8]) -> ControlChange? {
        defer { expectNothing() }
        let change = expected.flatMap { control in
            control.number(from: bytes).flatMap { control.change(to: $0, statuses) }
        }
        guard let change else {
            lastError = .outOfRange
            return nil
        }
        // The camera's actual value is known later. Until then, the computer reads what it wrote.
        statuses = statuses.map { $0.changed(by: change) }
        return change
    }
}

extension ControlStatus {
    fileprivate func changed(by change: ControlChange) -> ControlStatus {
        if offer.name == change.name { return ControlStatus(offer, value: change.value, reported: nil) }
        // Automatic exposure takes over values that were set before.
        if change == ControlChange(.exposure, .word("auto")), offer.isFoundByExposure {
            return ControlStatus(offer, value: .word("auto"), reported: nil)
        }
        return self
    }
}
