import Media

/// Decides when a stream connects, reconnects, moves and ends. It owns no socket and reads no clock.
///
/// Its runner performs the actions in order and reports the state of each connection. Late reports about a connection
/// that was closed, aborted or failed are ignored.
///
/// ```
/// unknown ──start──▶ connecting ──publishing──▶ live ──stop──▶ disconnecting ──▶ disconnected
///                        │  ▲ retry             │  ▲                                 │
///                        ▼  └──┘           lost ▼  │ publishing                start │
///                      error ◀──given up── reconnecting ◀┐ retry   connecting ◀──────┘
///                                               └────────┘
/// ```
public struct StreamSession: Sendable {
    public enum Target: Hashable, Sendable {
        /// The server in the stream's description, with a new signature.
        case described
        /// Where the server asked to move (Enhanced RTMP v2, ReconnectRequest): its tcUrl, absolute or relative; `nil`
        /// for the same server.
        case requested(tcURL: Secret?)
    }

    public enum StartResult: Hashable, Sendable {
        case publishing
        case failed(ConnectionFailure)
        /// Stopped before it was live.
        case canceled
        /// Already running; nothing changed.
        case alreadyRunning
    }

    public enum Action: Hashable, Sendable {
        /// Look up, connect, do the handshake and publish. Report `serverConnected`, then `publishingStarted`, or
        /// `connectionFailed`.
        case openConnection(ConnectionID, Target)
        /// Send media here from now on: metadata and sequence headers first, then from the next keyframe.
        case startMedia(ConnectionID)
        /// End the RTMP session properly, then report `connectionClosed`.
        case closeConnection(ConnectionID)
        /// Drop it at once, in any state, without ending the RTMP session and without waiting.
        case abortConnection(ConnectionID)
        /// The connection is stalled: send nothing more, but keep it. It is aborted when the server can be reached
        /// again, so that the server releases the stream's name at once instead of after its own timeout.
        case parkConnection(ConnectionID)
        case requestKeyframe
        /// Call `timerFired` at this time. Replaces the previous timer; `nil` cancels it.
        case setTimer(MediaTimestamp?)
        /// Measure, and emit `StreamEvent.status`.
        case reportStatus
        case emit(StreamEvent)
        /// The answer to a start.
        case completeStart(StartResult)
        /// The answer to all stops so far.
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
        /// Never at the same time as a successor.
        var challenger: Challenger?

        /// A connection that is opened in addition to the present one.
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

    /// Competes with a connection that has stalled; the first one to work is kept.
    struct Challenger {
        /// `nil` between two attempts.
        var id: ConnectionID?
        /// End of this attempt, or start of the next.
        var deadline: MediaTimestamp
    }

    struct Closing {
        let id: ConnectionID
        let deadline: MediaTimestamp
        var startsAgain: Bool
        /// Continues the same stream, which has been live.
        var isContinued = false
    }

    public let settings: StreamSessionSettings
    public internal(set) var state: StreamState = .unknown

    var phase: Phase = .idle
    /// Closing after a move; each is aborted at its deadline.
    var retiring: [(id: ConnectionID, deadline: MediaTimestamp)] = []
    /// Stalled; kept until the server can be reached.
    var parked: [ConnectionID] = []
    var lastConnectionNumber = 0
    /// Whether the stream has been live since its start: only then is a loss retried as a reconnection.
    var hasPublished = false
    /// Attempts that count against the limit.
    var countedRetries = 0
    /// Consecutive failures, for the delay.
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

    // MARK: Requests of the owner

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

    /// Cameras and encoders are open: an attempt that had to wait for them gets its full time from now on.
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
            completeStart(.canceled)
        }
        return performed()
    }

    /// Ends the stream properly if it is live and starts it again, with a new signature and with counters and delays
    /// reset.
    /// - Parameter isContinuation: the same stream with another encoding. A server that does not accept it at once is
    ///   retried, like after a loss. A server that is being retried keeps its delays and its count of attempts.
    public mutating func restartRequested(isContinuation: Bool = false, now: MediaTimestamp) -> [Action] {
        switch phase {
        // The next attempt has the new encoding.
        case .waiting where isContinuation: break
        case .idle, .waiting: start(now: now)
        case .opening(let attempt):
            output.append(.abortConnection(attempt.id))
            if isContinuation { self.attempt(now: now) } else { start(now: now) }
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

    // MARK: External events

    /// The time of `setTimer` has come. Early and repeated calls are harmless.
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

    /// The collected actions, with an updated timer.
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
