import Media

// Reports about connections.
extension StreamSession {
    /// Connected, and secured if TLS is used. `server` is its address, for people.
    public mutating func serverConnected(_ id: ConnectionID, server: String, now: MediaTimestamp) -> [Action] {
        switch phase {
        case .opening(var attempt) where attempt.id == id && !attempt.isConnected:
            // The server can be reached, whatever happened to the earlier link.
            linkIsDown = false
            attempt.isConnected = true
            phase = .opening(attempt)
            abortParked()
            output.append(.emit(.connected(server: server)))
        case .publishing(var publication) where publication.successor?.id == id:
            guard publication.successor?.isConnected == false else { break }
            publication.successor?.isConnected = true
            phase = .publishing(publication)
            abortParked()
            output.append(.emit(.connected(server: server)))
        case .publishing(let publication) where publication.challenger?.id == id:
            abortParked()
            replace(publication, byChallenger: id, now: now)
            output.append(.emit(.connected(server: server)))
        default: break
        }
        return performed()
    }

    /// The server has accepted the stream.
    public mutating func publishingStarted(_ id: ConnectionID, now: MediaTimestamp) -> [Action] {
        switch phase {
        case .opening(let attempt) where attempt.id == id: publish(on: id, target: attempt.target, now: now)
        case .publishing(var publication) where publication.successor?.id == id:
            guard publication.successor?.isPublishing == false else { break }
            publication.successor?.isConnected = true
            publication.successor?.isPublishing = true
            publication.successor?.deadline = now + Self.keyframeTimeout
            phase = .publishing(publication)
            output.append(.requestKeyframe)
        default: break
        }
        return performed()
    }

    /// The connection is gone; there is nothing left to close.
    public mutating func connectionFailed(
        _ id: ConnectionID, _ failure: ConnectionFailure, now: MediaTimestamp
    ) -> [Action] {
        parked.removeAll { $0 == id }
        return ended(id, failure, now: now)
    }

    /// The connection has stalled. It sends nothing more, as after `parkConnection`.
    public mutating func connectionStalled(
        _ id: ConnectionID, _ failure: ConnectionFailure, now: MediaTimestamp
    ) -> [Action] {
        parked.append(id)
        return ended(id, failure, now: now)
    }

    private mutating func ended(_ id: ConnectionID, _ failure: ConnectionFailure, now: MediaTimestamp) -> [Action] {
        retiring.removeAll { $0.id == id }
        switch phase {
        case .opening(let attempt) where attempt.id == id:
            attemptFailed(failure, stage: attempt.isConnected ? .handshake : Self.stage(of: failure), now: now)
        case .publishing(let publication) where publication.id == id: lost(publication, failure, now: now)
        case .publishing(let publication) where publication.successor?.id == id:
            stayed(publication, because: failure)
        case .publishing(var publication) where publication.challenger?.id == id:
            publication.challenger = challengerToCome(now: now)
            phase = .publishing(publication)
        case .closing(let closing) where closing.id == id: closed(closing, now: now)
        default: break
        }
        return performed()
    }

    /// The closing that `closeConnection` started is done.
    public mutating func connectionClosed(_ id: ConnectionID, now: MediaTimestamp) -> [Action] {
        retiring.removeAll { $0.id == id }
        parked.removeAll { $0 == id }
        if case .closing(let closing) = phase, closing.id == id { closed(closing, now: now) }
        return performed()
    }

    /// The server on connection `id` asks the stream to move. One move is made at a time, and never at the expense of
    /// the working connection.
    public mutating func reconnectRequested(_ id: ConnectionID, tcURL: Secret?, now: MediaTimestamp) -> [Action] {
        guard case .publishing(var publication) = phase, publication.id == id, publication.successor == nil else {
            return performed()
        }
        abandonChallenger(of: &publication)
        let successor = nextConnection()
        let target = Target.requested(tcURL: tcURL)
        publication.successor = Successor(id: successor, target: target, deadline: now + settings.attemptTimeout)
        phase = .publishing(publication)
        output.append(.openConnection(successor, target))
        return performed()
    }

    /// The next packet to send is a keyframe. Call this before that packet is sent.
    public mutating func keyframeReached(now: MediaTimestamp) -> [Action] {
        if case .publishing(let publication) = phase, let successor = publication.successor, successor.isPublishing {
            settle(publication, now: now)
            output += [.startMedia(successor.id), .closeConnection(publication.id), .emit(.serverChanged)]
            retiring.append((publication.id, now + settings.stopTimeout))
            phase = .publishing(
                Publication(
                    id: successor.id, target: successor.target, since: now, nextStatus: publication.nextStatus))
        }
        return performed()
    }
}
