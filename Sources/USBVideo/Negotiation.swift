/// The streaming interface's probe and commit: the computer proposes, and the camera answers with its nearest mode.
struct Negotiation {
    private enum Control: UInt8 {
        case probe = 1
        case commit = 2
    }

    private let offer: VideoOffer
    /// Bytes that the endpoint carries per service interval. Computers use it to choose the endpoint's setting.
    var largestTransfer: Int
    private var probe: StreamingParameters
    private var committed: StreamingParameters
    private var expected: Control?

    init(_ offer: VideoOffer, largestTransfer: Int) {
        self.offer = offer
        self.largestTransfer = largestTransfer
        probe = StreamingParameters()
        committed = probe
        reset()
    }

    /// Forgets the agreement, as after a bus reset.
    mutating func reset() {
        probe = nearest(to: StreamingParameters())
        committed = probe
        expectNothing()
    }

    /// A computer that sends another request has abandoned the data of the previous one.
    mutating func expectNothing() { expected = nil }

    /// The mode that the computer streams with; `nil` if nothing is offered.
    var choice: VideoChoice? {
        offer.mode(format: Int(committed.formatIndex), frame: Int(committed.frameIndex))
            .map { VideoChoice(mode: $0, interval: committed.frameInterval) }
    }

    mutating func answer(_ setup: SetupPacket) -> Result<ControlAnswer, VideoRequestFailure> {
        guard let control = Control(rawValue: setup.selector), setup.entity == 0 else {
            return .failure(.init(.unknownControl))
        }
        switch (VideoRequest(rawValue: setup.request), setup.isFromDevice) {
        case (.setCurrent, false):
            let length = Int(setup.length)
            guard length >= StreamingParameters.smallestByteCount, length <= 60 else {
                return .failure(.init(.outOfRange))
            }
            expected = control
            return .success(.receive(length))
        case (.current, true): return .success(.send((control == .probe ? probe : committed).bytes))
        case (.minimum, true) where control == .probe: return .success(.send(bound { $0.intervals.first }.bytes))
        case (.maximum, true) where control == .probe: return .success(.send(bound { $0.intervals.last }.bytes))
        case (.usual, true) where control == .probe:
            return .success(.send(nearest(to: StreamingParameters()).bytes))
        // No field has a step size.
        case (.resolution, true) where control == .probe:
            return .success(.send([UInt8](repeating: 0, count: StreamingParameters.byteCount)))
        case (.length, true):
            return .success(.send([UInt8(StreamingParameters.byteCount), 0]))
        // Bits 0 and 1: readable and writable.
        case (.information, true): return .success(.send([3]))
        default: return .failure(.init(.unknownRequest))
        }
    }

    /// Handles the data of a request that `answer` expects.
    mutating func received(_ bytes: [UInt8]) {
        defer { expectNothing() }
        guard bytes.count >= StreamingParameters.smallestByteCount else { return }
        let agreed = nearest(to: StreamingParameters(bytes))
        switch expected {
        case .probe: probe = agreed
        case .commit: (probe, committed) = (agreed, agreed)
        case nil: break
        }
    }

    var isExpectingData: Bool { expected != nil }

    /// The offered mode nearest to a proposal. Unknown formats, sizes and rates are replaced by existing ones.
    private func nearest(to wished: StreamingParameters) -> StreamingParameters {
        var agreed = StreamingParameters()
        agreed.hint = wished.hint
        guard !offer.formats.isEmpty else { return agreed }
        let format = min(max(1, Int(wished.formatIndex)), offer.formats.count)
        let modes = offer.formats[format - 1].modes
        let frame = min(max(1, Int(wished.frameIndex)), modes.count)
        let mode = modes[frame - 1]
        agreed.formatIndex = UInt8(clamping: format)
        agreed.frameIndex = UInt8(clamping: frame)
        agreed.frameInterval =
            wished.frameInterval == 0 ? mode.usualInterval : mode.interval(nearestTo: wished.frameInterval)
        agreed.largestFrame = UInt32(clamping: mode.largestFrame)
        agreed.largestTransfer = UInt32(clamping: largestTransfer)
        return agreed
    }

    private func bound(_ interval: (VideoMode) -> UInt32?) -> StreamingParameters {
        var bound = probe
        if let mode = offer.mode(format: Int(probe.formatIndex), frame: Int(probe.frameIndex)) {
            bound.frameInterval = interval(mode) ?? probe.frameInterval
        }
        return bound
    }
}

/// Why a request is stalled.
struct VideoRequestFailure: Error {
    let reason: RequestError

    init(_ reason: RequestError) { self.reason = reason }
}

extension VideoMode {
    func interval(nearestTo wished: UInt32) -> UInt32 {
        func distance(_ interval: UInt32) -> UInt32 { interval < wished ? wished - interval : interval - wished }
        return intervals.min { distance($0) < distance($1) } ?? usualInterval
    }
}
