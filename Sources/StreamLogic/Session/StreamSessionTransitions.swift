import Media

/// A small generator (SplitMix64) for delays; never used for secrets.
struct JitterGenerator: Sendable {
    var state: UInt64

    /// 0..<1.
    mutating func next() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed: UInt64 = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return Double(mixed >> 11) * 0x1p-53
    }
}

extension StreamSession {
    /// How long the encoder may take to output the keyframe requested for a move.
    static let keyframeTimeout: Duration = .seconds(5)

    /// The most retries; `nil` if unlimited.
    var limit: Int? {
        if case .attempts(let count) = settings.reconnect.limit { count } else { nil }
    }

    var nextDeadline: MediaTimestamp? {
        var deadlines = retiring.map(\.deadline)
        switch phase {
        case .idle: break
        case .opening(let attempt): deadlines.append(attempt.deadline)
        case .waiting(let until): deadlines.append(until)
        case .publishing(let publication):
            deadlines.append(publication.nextStatus)
            if let successor = publication.successor { deadlines.append(successor.deadline) }
            if let challenger = publication.challenger { deadlines.append(challenger.deadline) }
        case .closing(let closing): deadlines.append(closing.deadline)
        }
        return deadlines.min()
    }

    // MARK: Starting

    mutating func start(now: MediaTimestamp, isContinued: Bool = false) {
        hasPublished = isContinued
        countedRetries = 0
        backoffStep = 0
        isStartPending = true
        enter(.connecting)
        attempt(now: now)
    }

    mutating func attempt(now: MediaTimestamp) {
        let id = nextConnection()
        phase = .opening(Attempt(id: id, deadline: now + settings.attemptTimeout))
        output.append(.openConnection(id, .described))
    }

    mutating func nextConnection() -> ConnectionID {
        lastConnectionNumber += 1
        return ConnectionID(number: lastConnectionNumber)
    }

    mutating func publish(on id: ConnectionID, target: Target, now: MediaTimestamp) {
        hasPublished = true
        phase = .publishing(Publication(id: id, target: target, since: now, nextStatus: now + settings.statusInterval))
        // Request the keyframe first, so that the first frame is a keyframe and the second one is not.
        output += [.requestKeyframe, .startMedia(id), .emit(.publishing(destination: settings.destination))]
        enter(.live)
        completeStart(.publishing)
    }

    // MARK: Failing

    mutating func attemptFailed(_ failure: ConnectionFailure, stage: StreamEvent.RetryStage, now: MediaTimestamp) {
        let endsAtOnce =
            switch settings.reconnect.permanentFailures {
            case .endBeforeFirstPublishing: failure.isPermanent && !hasPublished
            case .endAlways: failure.isPermanent
            case .retry: false
            }
        if endsAtOnce {
            end(hasPublished ? .reconnectFailed : EventCode(rawValue: failure.code) ?? .connectFailed, failure)
        } else {
            retry(after: failure, stage: stage, now: now)
        }
    }

    mutating func lost(_ publication: Publication, _ failure: ConnectionFailure, now: MediaTimestamp) {
        settle(publication, now: now)
        if let challenger = publication.challenger?.id {
            goOn(with: challenger, of: publication, after: failure, now: now)
            return
        }
        guard let successor = publication.successor else {
            retry(after: failure, stage: .close, now: now)
            return
        }
        // The connection that was about to take over is the best replacement.
        output.append(.emit(.retry(failure, .close)))
        output.append(.emit(.reconnecting(attempt: countedRetries + 1, limit: limit, delay: .zero)))
        enter(.reconnecting)
        if successor.isPublishing {
            publish(on: successor.id, target: successor.target, now: now)
        } else {
            phase = .opening(
                Attempt(
                    id: successor.id, target: successor.target, deadline: successor.deadline,
                    isConnected: successor.isConnected))
        }
    }

    /// A connection that lasted long enough resets the counts.
    mutating func settle(_ publication: Publication, now: MediaTimestamp) {
        guard now - publication.since >= settings.reconnect.stableAfter else { return }
        countedRetries = 0
        backoffStep = 0
    }

    /// Whether an attempt counts against the limit. A stream that was live and lost its link waits for the link without
    /// limit.
    var attemptsCount: Bool { !(linkIsDown && hasPublished) }

    mutating func retry(after failure: ConnectionFailure, stage: StreamEvent.RetryStage, now: MediaTimestamp) {
        if let limit, countedRetries >= limit, attemptsCount {
            let ownCode = EventCode(rawValue: failure.code) ?? .connectFailed
            end(hasPublished && limit > 0 ? .recoveriesFailed : ownCode, failure)
            return
        }
        var delay = settings.reconnect.delay(step: backoffStep, random: random.next())
        backoffStep += 1
        if limit == nil, !linkIsDown, stage == .connect, Self.isUnreachable(failure) {
            // Add jitter here as well, so that cameras do not reconnect in step.
            delay = min(delay, settings.reconnect.delayUnreachable(random: random.next()))
            // When the server answers again, its delays start from the shortest.
            backoffStep = 1
        }
        output.append(.emit(.retry(failure, stage)))
        output.append(.emit(.reconnecting(attempt: countedRetries + 1, limit: limit, delay: delay)))
        if hasPublished { enter(.reconnecting) }
        phase = .waiting(until: now + delay)
    }

    mutating func end(_ code: EventCode, _ failure: ConnectionFailure) {
        phase = .idle
        abortParked()
        output.append(.emit(.failed(code, message: failure.text)))
        enter(.error)
        completeStart(.failed(failure))
    }

    /// The stage at which an attempt without a connection failed.
    static func stage(of failure: ConnectionFailure) -> StreamEvent.RetryStage {
        switch EventCode(rawValue: failure.code) {
        case .lookupUnreachable, .lookupFailed: .lookup
        case .tlsFailed, .tlsUnavailable, .handshakeFailed: .handshake
        default: .connect
        }
    }

    private static func isUnreachable(_ failure: ConnectionFailure) -> Bool {
        failure.code == EventCode.connectFailed.rawValue || failure.code == EventCode.timedOut.rawValue
    }

    private static let noKeyframe = ConnectionFailure(
        code: EventCode.timedOut.rawValue, text: "no keyframe for the move within \(keyframeTimeout)")

    static func timeout(_ limit: Duration) -> ConnectionFailure {
        ConnectionFailure(
            code: EventCode.timedOut.rawValue, text: "the server did not accept the stream within \(limit)")
    }

    // MARK: Publishing

    mutating func publishingTimerFired(_ publication: Publication, now: MediaTimestamp) {
        var publication = publication
        if publication.nextStatus <= now {
            output.append(.reportStatus)
            // Reports missed while the whole program was stopped are skipped.
            publication.nextStatus = max(publication.nextStatus + settings.statusInterval, now)
            if publication.nextStatus == now { publication.nextStatus = now + settings.statusInterval }
            phase = .publishing(publication)
        }
        challengerTimerFired(publication, now: now)
        guard let successor = publication.successor, successor.deadline <= now else { return }
        output.append(.abortConnection(successor.id))
        stayed(publication, because: successor.isPublishing ? Self.noKeyframe : Self.timeout(settings.attemptTimeout))
    }

    /// The move failed; the working connection continues.
    mutating func stayed(_ publication: Publication, because failure: ConnectionFailure) {
        var publication = publication
        publication.successor = nil
        phase = .publishing(publication)
        output.append(.emit(.serverChangeFailed(failure)))
    }

    // MARK: Ending

    mutating func close(
        _ publication: Publication, startsAgain: Bool, isContinued: Bool = false, now: MediaTimestamp
    ) {
        if let second = publication.second { output.append(.abortConnection(second)) }
        output.append(.closeConnection(publication.id))
        phase = .closing(
            Closing(
                id: publication.id, deadline: now + settings.stopTimeout, startsAgain: startsAgain,
                isContinued: isContinued))
        enter(.disconnecting)
    }

    mutating func closed(_ closing: Closing, now: MediaTimestamp) {
        finishStop(keepingStart: closing.startsAgain)
        if closing.startsAgain { start(now: now, isContinued: closing.isContinued) }
    }

    mutating func finishStop(keepingStart: Bool = false) {
        for connection in retiring { output.append(.abortConnection(connection.id)) }
        retiring = []
        abortParked()
        phase = .idle
        if !keepingStart { completeStart(.canceled) }
        enter(.disconnected)
        completeStop()
    }

    mutating func completeStop() {
        guard isStopPending else { return }
        isStopPending = false
        output.append(.completeStop)
    }

    mutating func completeStart(_ result: StartResult) {
        guard isStartPending else { return }
        isStartPending = false
        output.append(.completeStart(result))
    }

    mutating func enter(_ next: StreamState) {
        guard next != state else { return }
        state = next
        output.append(.emit(.stateChanged(next)))
    }
}
