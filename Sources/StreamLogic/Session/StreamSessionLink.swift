import Media

// Reports about the route to the server.
extension StreamSession {
    /// The link of the connection, or of the last one, went down.
    public mutating func linkWentDown(now: MediaTimestamp) -> [Action] {
        linkIsDown = true
        return performed()
    }

    /// The link is back, with an address.
    /// - Parameter isTransferStalled: nothing has been acknowledged since the link went down although bytes are
    ///   waiting. TCP's doubling timers would find out only seconds later. When other links change, a running transfer
    ///   is left alone.
    public mutating func linkCameUp(isTransferStalled: Bool, now: MediaTimestamp) -> [Action] {
        let wasDown = linkIsDown
        linkIsDown = false
        switch phase {
        case .waiting:
            backoffStep = 0
            attempt(now: now)
        case .opening(let attempt) where wasDown && !attempt.isConnected:
            // Its packets were lost with the link, and their retransmission takes seconds.
            output.append(.abortConnection(attempt.id))
            backoffStep = 0
            self.attempt(now: now)
        case .publishing(let publication) where wasDown && isTransferStalled:
            reconnectAtOnce(publication, now: now)
        case .idle, .opening, .publishing, .closing: break
        }
        return performed()
    }

    /// A new address or default route appeared. An attempt under way started without it and may be waiting for an
    /// unreachable name server.
    public mutating func routeAppeared(now: MediaTimestamp) -> [Action] {
        linkIsDown = false
        switch phase {
        case .waiting:
            backoffStep = 0
            attempt(now: now)
        case .opening(let attempt) where !attempt.isConnected:
            output.append(.abortConnection(attempt.id))
            backoffStep = 0
            self.attempt(now: now)
        case .idle, .opening, .publishing, .closing: break
        }
        return performed()
    }

    /// The local address of the present connection is gone, so the connection can never recover.
    public mutating func addressDisappeared(now: MediaTimestamp) -> [Action] {
        if case .publishing(let publication) = phase {
            guard limit != 0 else {
                // If attempts do not count, the stream continues when the link is back.
                if attemptsCount { output.append(.abortConnection(publication.id)) } else { park(publication.id) }
                if let second = publication.second { output.append(.abortConnection(second)) }
                retry(after: Self.addressLoss, stage: .close, now: now)
                return performed()
            }
            output.append(.emit(.retry(Self.addressLoss, .close)))
            reconnectAtOnce(publication, now: now)
        }
        return performed()
    }

    private mutating func reconnectAtOnce(_ publication: Publication, now: MediaTimestamp) {
        settle(publication, now: now)
        // The link is back, but perhaps not yet the route to the server.
        park(publication.id)
        if let second = publication.second { output.append(.abortConnection(second)) }
        backoffStep = 0
        enter(.reconnecting)
        output.append(.emit(.reconnecting(attempt: countedRetries + 1, limit: limit, delay: .zero)))
        attempt(now: now)
    }

    private mutating func park(_ id: ConnectionID) {
        parked.append(id)
        output.append(.parkConnection(id))
    }

    /// The server can be reached, or the stream is over.
    mutating func abortParked() {
        output += parked.map { .abortConnection($0) }
        parked = []
    }

    private static let addressLoss = ConnectionFailure(
        code: EventCode.closedByPeer.rawValue, text: "the local address of the connection is gone")

    /// Data sent and retransmitted on connection `id` stays unacknowledged. TCP doubles the time between
    /// retransmissions, so a second connection is tried until one of the two works.
    public mutating func peerBecameUnresponsive(_ id: ConnectionID, now: MediaTimestamp) -> [Action] {
        guard case .publishing(var publication) = phase, publication.id == id, publication.second == nil,
            publication.challenger == nil, limit != 0
        else { return performed() }
        challenge(&publication, now: now)
        return performed()
    }

    /// Data sent on connection `id` was acknowledged after all.
    public mutating func transferResumed(_ id: ConnectionID, now: MediaTimestamp) -> [Action] {
        guard case .publishing(var publication) = phase, publication.id == id else { return performed() }
        abandonChallenger(of: &publication)
        phase = .publishing(publication)
        return performed()
    }
}

// The race between a stalled connection and a new one.
extension StreamSession {
    /// Opens a second connection to the stalled connection's server.
    mutating func challenge(_ publication: inout Publication, now: MediaTimestamp) {
        let id = nextConnection()
        publication.challenger = Challenger(id: id, deadline: now + settings.attemptTimeout)
        phase = .publishing(publication)
        output.append(.openConnection(id, publication.target))
    }

    /// The next attempt, after the shortest delay: while nothing gets through, an attempt costs one packet.
    mutating func challengerToCome(now: MediaTimestamp) -> Challenger {
        Challenger(id: nil, deadline: now + settings.reconnect.delay(step: 0, random: random.next()))
    }

    mutating func abandonChallenger(of publication: inout Publication) {
        if let id = publication.challenger?.id { output.append(.abortConnection(id)) }
        publication.challenger = nil
    }

    mutating func challengerTimerFired(_ publication: Publication, now: MediaTimestamp) {
        var publication = publication
        guard let challenger = publication.challenger, challenger.deadline <= now else { return }
        if let id = challenger.id {
            output.append(.abortConnection(id))
            publication.challenger = challengerToCome(now: now)
            phase = .publishing(publication)
        } else {
            challenge(&publication, now: now)
        }
    }

    /// The new connection is up while the old one has stalled. The old one is aborted first: the server would not
    /// accept the stream's name from both.
    mutating func replace(_ publication: Publication, byChallenger id: ConnectionID, now: MediaTimestamp) {
        settle(publication, now: now)
        linkIsDown = false
        output.append(.abortConnection(publication.id))
        goOn(with: id, of: publication, after: Self.silence, isConnected: true, now: now)
    }

    /// The challenger becomes a normal attempt.
    mutating func goOn(
        with challenger: ConnectionID, of publication: Publication, after failure: ConnectionFailure,
        isConnected: Bool = false, now: MediaTimestamp
    ) {
        output.append(.emit(.retry(failure, .close)))
        output.append(.emit(.reconnecting(attempt: countedRetries + 1, limit: limit, delay: .zero)))
        countedRetries += 1
        enter(.reconnecting)
        phase = .opening(
            Attempt(
                id: challenger, target: publication.target, deadline: now + settings.attemptTimeout,
                isConnected: isConnected))
    }

    private static let silence = ConnectionFailure(
        code: EventCode.timedOut.rawValue, text: "the server stopped acknowledging; switched to a new connection")
}
