import Media

/// How one video encoder follows another because something else is wanted of it: another frame size, the frames of another
/// source, or both. (What follows when an encoder fails is `EncoderRecovery`.) The next hardware encoder opens beside the
/// present one and takes over at the first frame that is meant for it; where memory allows only one, they change in place.
///
/// ```
///  settled ─ another is wanted ─▶ wanted ─ hardware encodes ─▶ opening ─▶ open ─ its first frame ─▶ settled
///                                   ▲  └─ software encodes: it is resized at once ────────────────▶ settled
///                                   │                             │         └─ that size does not come ─▶ wanted
///                                   └──────── the hardware fails ─┴─ refused ─▶ settled, or failed for a source
///  for another source: wanted or opening ─ it needs no successor, or has no room for one ─▶ ready ─ the source changes ─▶ settled
/// ```
///
/// Owned by the video thread. `Frames` identifies a source's frames: the machine only compares them.
public struct EncoderSuccession<Frames: Hashable & Sendable>: Sendable {
    private enum State {
        case settled, wanted
        case opening(deadline: MediaTimestamp)
        case open(SizeWait)
        case ready
        case failed(reason: String)
    }

    private let openTimeout: Duration
    private var state = State.settled
    /// `nil` when the present encoder's is the wanted one.
    public private(set) var wanted: VideoEncoderConfiguration?
    /// Another source's, that are to come.
    public private(set) var nextFrames: Frames?
    /// The source did not give its smaller frames when it was asked for them.
    public private(set) var isSecondSizeGivenUp = false
    /// For frames of the source's other size that still arrive after a change.
    private var leftOverWait = SizeWait()

    public init(openTimeout: Duration) {
        self.openTimeout = openTimeout
    }

    private var hasSuccessor: Bool {
        switch state {
        case .opening, .open: true
        default: false
        }
    }

    /// The successor is open, and the source has to give frames of its size.
    public var awaitsSize: Bool {
        if case .open(let wait) = state { wait.isUnderWay } else { false }
    }

    public var preparation: Preparation {
        switch state {
        case .settled, .wanted, .opening: .underWay
        case .open, .ready: .ready
        case .failed(let reason): .failed(reason: reason)
        }
    }
}

// What is wanted.
extension EncoderSuccession {
    /// The last size counts.
    public mutating func sizeWanted(_ configuration: VideoEncoderConfiguration) -> [Action] {
        wanted = configuration
        return startOver()
    }

    /// Rates that change meanwhile hold for the next encoder, too.
    public mutating func ratesChanged(_ change: (inout VideoEncoderConfiguration) -> Void) {
        guard var configuration = wanted else { return }
        change(&configuration)
        wanted = configuration
    }

    /// Frames of another source are to come.
    public mutating func sourceExpected(_ frames: Frames) -> [Action] {
        guard nextFrames != frames else { return [] }
        nextFrames = frames
        return startOver()
    }

    /// The other source's frames do not come after all.
    public mutating func sourceWithdrawn() -> [Action] {
        guard nextFrames != nil else { return [] }
        nextFrames = nil
        return startOver()
    }

    /// The next frame is of that source.
    public mutating func sourceChanged(to frames: Frames, _ situation: Situation) -> [Action] {
        var actions = sourceExpected(frames)
        if hasSuccessor, situation.progress == .open { return [.crossToSuccessor] }
        actions += startOver()
        switch situation.present {
        case .software, .softwareAndTrial: actions.append(.replaceSoftware)
        case .hardware, .unsettledHardware: actions.append(.openInPlace)
        case .none: actions.append(.adoptGoal)
        }
        return actions
    }

    /// What `sourceChanged` asked for is done, or has failed.
    public mutating func sourceSettled() {
        nextFrames = nil
        state = wanted == nil ? .settled : .wanted
    }

    private mutating func startOver() -> [Action] {
        let closes = hasSuccessor
        state = wanted == nil && nextFrames == nil ? .settled : .wanted
        return closes ? [.closeSuccessor] : []
    }
}

// Events.
extension EncoderSuccession {
    /// A frame has arrived: does what can be done now for the goal.
    public mutating func frameArrived(_ situation: Situation, now: MediaTimestamp) -> [Action] {
        hasSuccessor ? successorProgressed(situation, now: now) : start(situation, now: now)
    }

    private mutating func start(_ situation: Situation, now: MediaTimestamp) -> [Action] {
        var actions: [Action] = []
        if let reached = wanted, reached.size == situation.size {
            wanted = nil
            if nextFrames == nil { state = .settled }
            actions.append(.setRates(reached))
        }
        switch (situation.present, state) {
        case (.software, _) where wanted != nil: actions.append(.resizeSoftware)
        case (.hardware, .wanted):
            state = .opening(deadline: now + openTimeout)
            actions.append(.openSuccessor)
        // It takes another source's frames as they come.
        case (.software, _) where nextFrames != nil, (.softwareAndTrial, _) where nextFrames != nil: state = .ready
        default: break
        }
        return actions
    }

    private mutating func successorProgressed(_ situation: Situation, now: MediaTimestamp) -> [Action] {
        switch (situation.progress, state) {
        case (.open, .opening):
            state = .open(SizeWait())
            return nextFrames == nil ? successorWaits(SizeWait(), situation, now: now) : []
        case (.open, .open(let wait)):
            return nextFrames == nil ? successorWaits(wait, situation, now: now) : []
        case (.opening, .opening(let deadline)) where now >= deadline:
            return startOver() + refused("another encoder has not opened in \(openTimeout)")
        case (.failed(let reason, leavesRoomForOne: false), _): return startOver() + refused(reason)
        case (.failed, _): return startOver() + changesInPlace()
        case (.ended, _): return startOver() + refused("the encoder has closed")
        default: return []
        }
    }

    /// There is memory for one encoder only.
    private mutating func changesInPlace() -> [Action] {
        guard nextFrames != nil else { return [.openInPlace] }
        state = .ready
        return []
    }

    /// Frames in the present encoder's size still belong to it.
    private mutating func successorWaits(
        _ wait: SizeWait, _ situation: Situation, now: MediaTimestamp
    ) -> [Action] {
        guard situation.isInAnotherSize else { return [.crossToSuccessor] }
        var wait = wait
        let isOver = wait.isOver(now: now)
        state = .open(wait)
        guard isOver else { return [] }
        guard !situation.takesFullFrames else {
            leftOverWait = wait
            return [.crossToSuccessor]
        }
        // As if the source had one size: the next attempt takes its full frames, scaled.
        isSecondSizeGivenUp = true
        return startOver() + [.reportScaling]
    }

    /// The successor was closed because the present hardware had to be.
    public mutating func successorClosed() {
        switch state {
        case .opening: state = .wanted
        case .open: state = nextFrames == nil ? .wanted : .ready
        default: break
        }
    }

    /// What is wanted cannot be had.
    public mutating func refused(_ reason: String) -> [Action] {
        let refusesSize = wanted != nil
        wanted = nil
        state = nextFrames == nil ? .settled : .failed(reason: reason)
        return refusesSize ? [.reportRefusal(reason: reason)] : []
    }

    /// The goal's configuration is the present one now.
    /// - Parameter isOtherSource: the present frames are those of another source than before.
    public mutating func goalAdopted(isOtherSource: Bool) {
        wanted = nil
        if isOtherSource {
            isSecondSizeGivenUp = false
            leftOverWait.end()
        }
        if nextFrames == nil { state = .settled }
    }

    /// Whether a frame was taken before the source was asked for the encoder's size. Scaled, one such frame would make the
    /// hardware copy all that follow; so they are dropped for a while.
    /// - Parameter isInAnotherSize: it has another size of the source than the encoder's.
    public mutating func isLeftOver(isInAnotherSize: Bool, now: MediaTimestamp) -> Bool {
        guard isInAnotherSize else {
            leftOverWait.end()
            return false
        }
        return !leftOverWait.isOver(now: now)
    }
}

/// How long frames of a size are waited for that the source was asked for.
private struct SizeWait {
    /// Longer than six frames take at five a second: that many may be under way in the size before.
    private static let longest = Duration.seconds(2)

    private var since: MediaTimestamp?
    var isUnderWay: Bool { since != nil }

    /// Starts it, if it has not.
    mutating func isOver(now: MediaTimestamp) -> Bool {
        let start = since ?? now
        since = start
        return now - start >= Self.longest
    }

    mutating func end() { since = nil }
}
