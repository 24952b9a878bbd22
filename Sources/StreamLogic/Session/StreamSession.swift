import Media

/// Decides when a stream connects, reconnects, moves and ends. It owns no socket and reads no clock.
///
/// Its runner performs the actions in their order and reports what becomes of each connection. What
/// it reports about a connection that the session has closed, aborted or heard failing does not matter.
///
/// ```
/// unknown ──start──▶ connecting ──publishing──▶ connected ──stop──▶ disconnecting ──▶ disconnected
///                        │  ▲ retry               │    ▲                                  │
///                        ▼  └──┘             lost ▼    │ publishing                 start │
///                      error ◀──given up── reconnecting ┘ ▲ retry       connecting ◀──────┘
///                                               └─────────┘
/// ```
public struct StreamSession: Sendable {
    public enum Target: Hashable, Sendable {
        /// What the stream's description says, signed afresh.
        case described
        /// Where the server asked to move (Enhanced RTMP v2, ReconnectRequest): its tcUrl, absolute or
        /// relative; the same server when `nil`.
        case requested(tcURL: Secret?)
    }

    public enum StartResult: Hashable, Sendable {
        case publishing
        case failed(ConnectionFailure)
        /// Stopped before it was up.
        case cancelled
        /// It was running already; nothing has changed.
        case alreadyRunning
    }

    public enum Action: Hashable, Sendable {
        /// Look up, connect, do the handshake and publish; report `serverConnected`, then
        /// `publishingStarted`, or `connectionFailed`.
        case openConnection(ConnectionID, Target)
        /// Send media here from now on: metadata and sequence headers first, then from the next keyframe.
        case startMedia(ConnectionID)
        /// Say goodbye as RTMP asks, then report `connectionClosed`.
        case closeConnection(ConnectionID)
        /// Drop it at once, whatever it is doing, without a farewell and without waiting.
        case abortConnection(ConnectionID)
        /// Nothing gets through it: send nothing more, and keep it. It is aborted when the server can be reached again,
        /// which then gives the stream's name free at once instead of when it misses the publisher.
        case parkConnection(ConnectionID)
        case requestKeyframe
        /// Call `timerFired` then; replaces the timer before, `nil` ends it.
        case setTimer(MediaTimestamp?)
        /// Measure, and emit `StreamEvent.status`.
        case reportStatus
        case emit(StreamEvent)
        /// The answer to a start.
        case completeStart(StartResult)
        /// The answer to every stop so far.
        case completeStop
    }

    enum Phase {
        /// Not running: never started, ended, or failed.
        case idle
        case opening(Attempt)
        /// Until the next attempt.
        case waiting(until: MediaTimestamp)
        case publishing(Publication)
        case closing(Closing)
    }

    struct Attempt {
        let id: ConnectionID
        var target = Target.described
        var deadline: MediaTimestamp
        var isConnected = false
    }

    struct Publication {
        let id: ConnectionID
        let target: Target
        let since: MediaTimestamp
        var nextStatus: MediaTimestamp
        var successor: Successor?
        /// Never beside a successor.
        var challenger: Challenger?

        /// The connection that is opened beside the present one.
        var second: ConnectionID? { successor?.id ?? challenger?.id }
    }

    /// The connection to the server that the present one asked to move to.
    struct Successor {
        let id: ConnectionID
        let target: Target
        /// For publishing, then for a keyframe.
        var deadline: MediaTimestamp
        var isConnected = false
        var isPublishing = false
    }

    /// Races against a connection through which nothing gets: the first of the two that lives is kept.
    struct Challenger {
        /// `nil` between two attempts.
        var id: ConnectionID?
        /// Of the attempt, or for the next.
        var deadline: MediaTimestamp
    }

    struct Closing {
        let id: ConnectionID
        let deadline: MediaTimestamp
        var startsAgain: Bool
        /// It goes on as the same stream, which has been up.
        var isContinued = false
    }

    public let settings: StreamSessionSettings
    public internal(set) var state: StreamState = .unknown

    var phase: Phase = .idle
    /// Said goodbye to after a move; each is aborted at its deadline.
    var retiring: [(id: ConnectionID, deadline: MediaTimestamp)] = []
    /// Dead, and kept until the server can learn of it.
    var parked: [ConnectionID] = []
    var lastConnectionNumber = 0
    /// Whether the stream was up since its start: losses then are reconnected.
    var hasPublished = false
    /// Attempts that count against the limit.
    var countedRetries = 0
    /// Failures in a row, for the delay.
    var backoffStep = 0
    var linkIsDown = false
    var isStartPending = false
    var isStopPending = false
    var random: JitterGenerator
    var output: [Action] = []
    private var timer: MediaTimestamp?

    /// - Parameter seed: any random number; different for each device.
    public init(settings: StreamSessionSettings = StreamSessionSettings(), seed: UInt64) {
        self.settings = settings
        random = JitterGenerator(state: seed)
    }

    // MARK: What the owner asks for

    public mutating func startRequested(now: MediaTimestamp) -> [Action] {
        switch phase {
        case .idle: start(now: now)
        case .opening, .waiting, .publishing: output.append(.completeStart(.alreadyRunning))
        case .closing(var closing):
            closing.startsAgain = true
            isStartPending = true
            phase = .closing(closing)
        }
        return performed()
    }

    /// Cameras and encoders are open: an attempt that had to wait for them has its whole time from now on.
    public mutating func sourcesOpened(now: MediaTimestamp) -> [Action] {
        if case .opening(var attempt) = phase {
            attempt.deadline = now + settings.attemptTimeout
            phase = .opening(attempt)
        }
        return performed()
    }

    /// Answered by `completeStop` within `settings.stopTimeout`, whatever the network does.
    public mutating func stopRequested(now: MediaTimestamp) -> [Action] {
        isStopPending = true
        switch phase {
        case .idle: completeStop()
        case .opening(let attempt):
            output.append(.abortConnection(attempt.id))
            finishStop()
        case .waiting: finishStop()
        case .publishing(let publication): close(publication, startsAgain: false, now: now)
        case .closing(var closing):
            closing.startsAgain = false
            phase = .closing(closing)
            completeStart(.cancelled)
        }
        return performed()
    }

    /// Ends the stream in order if it is up and starts anew; the signature, all counters and delays are fresh.
    /// - Parameter isContinuation: it is the same stream with another encoding: a server that does not take it back
    ///   at once is tried again, like after a loss.
    public mutating func restartRequested(isContinuation: Bool = false, now: MediaTimestamp) -> [Action] {
        switch phase {
        case .idle, .waiting: start(now: now)
        case .opening(let attempt):
            output.append(.abortConnection(attempt.id))
            start(now: now)
        case .publishing(let publication):
            isStartPending = true
            close(publication, startsAgain: true, isContinued: isContinuation, now: now)
        case .closing(var closing):
            closing.startsAgain = true
            isStartPending = true
            phase = .closing(closing)
        }
        return performed()
    }

    // MARK: What happens around

    /// The time of `setTimer` has come. Coming early or twice does no harm.
    public mutating func timerFired(now: MediaTimestamp) -> [Action] {
        timer = nil
        for connection in retiring where connection.deadline <= now { output.append(.abortConnection(connection.id)) }
        retiring.removeAll { $0.deadline <= now }
        switch phase {
        case .idle: break
        case .opening(let attempt):
            guard attempt.deadline <= now else { break }
            output.append(.abortConnection(attempt.id))
            let stage: StreamEvent.RetryStage = attempt.isConnected ? .handshake : .connect
            attemptFailed(Self.timeout(settings.attemptTimeout), stage: stage, now: now)
        case .waiting(let until):
            guard until <= now else { break }
            if attemptsCount { countedRetries += 1 }
            attempt(now: now)
        case .publishing(let publication): publishingTimerFired(publication, now: now)
        case .closing(let closing):
            guard closing.deadline <= now else { break }
            output.append(.abortConnection(closing.id))
            closed(closing, now: now)
        }
        return performed()
    }

    /// The actions collected, with the timer brought up to date.
    mutating func performed() -> [Action] {
        let next = nextDeadline
        if next != timer {
            timer = next
            output.append(.setTimer(next))
        }
        defer { output = [] }
        return output
    }
}
