import LinuxIO
import Media
import MediaPipeline
import RTMP
import StreamLogic
import StreamQuality
import Transport

// Reports from the target's threads and about the machine's links.
extension PublishTarget {
    func connectionReported(_ report: ConnectionEvent, links: (any LinkWatch)?) {
        let now = MonotonicClock.now()
        let id = report.id
        switch report.content {
        case .connected(let server, let address):
            if connections[id] != nil { ownLink.connected(from: address, links) }
            perform(session.serverConnected(id, server: server, now: now))
            if let owner { connections[id]?.commands.send(.startHandshake(owner.metadata)) }
        case .tlsFallback(let reason): emit(.tlsFallback(reason: reason))
        case .peerUnresponsive: perform(session.peerBecameUnresponsive(id, now: now))
        case .resumed: perform(session.transferResumed(id, now: now))
        case .peerDead(let cause):
            // It has parked itself.
            if let connection = connections.removeValue(forKey: id) { parked[id] = connection }
            mediaEnded(on: id)
            perform(session.connectionStalled(id, cause, now: now))
        case .publishing:
            perform(session.publishingStarted(id, now: now))
            if let mediaConnection, mediaConnection != id {
                connections[mediaConnection]?.commands.send(.holdAtKeyframe)
            }
        case .failed(let cause):
            forget(id)
            mediaEnded(on: id)
            perform(session.connectionFailed(id, cause, now: now))
        case .closed:
            forget(id)
            perform(session.connectionClosed(id, now: now))
        case .drained: perform(session.stopRequested(now: now))
        case .keyframeReached: keyframeReached(on: id)
        case .reconnectRequested(let url):
            requestedURL = url
            perform(session.reconnectRequested(id, tcURL: url.tcURL, now: now))
        case .reconnectRefused(let refusal):
            guard id == mediaConnection else { break }
            let failure = ConnectionFailure(code: EventCode.invalidProtocol.rawValue, text: "\(refusal)")
            emit(.serverChangeFailed(failure))
        }
    }

    /// The connection has stopped at a keyframe. If nothing else has taken over meanwhile, it continues.
    private func keyframeReached(on id: ConnectionID) {
        perform(session.keyframeReached(now: MonotonicClock.now()))
        guard mediaConnection == id, let timeZero = surroundings.hub.publishStart else { return }
        connections[id]?.commands.send(.startMedia(timeZero: timeZero, headers: []))
    }

    /// Its thread has finished.
    private func forget(_ id: ConnectionID) {
        (connections.removeValue(forKey: id) ?? parked.removeValue(forKey: id))?.thread.join()
    }

    /// - Parameter isStalled: nothing comes through, though the target is live.
    func bufferReported(_ events: [SendBufferEvent], isStalled: Bool) {
        for event in events {
            if case .droppedItems(let items) = event { drops.dropped(items, now: MonotonicClock.now()) }
            let isAway = session.state != .live || isStalled
            for event in StreamEvent.ofSendBuffer(event, since: surroundings.hub.publishStart, isServerAway: isAway) {
                reporter.emit(event)
            }
        }
    }

    func linksChanged(_ events: [LinkEvent], _ links: any LinkWatch) {
        let now = MonotonicClock.now()
        for news in ownLink.news(of: events, links) {
            switch news {
            case .down:
                reporter.emit(.linkDown)
                deliveredAtLinkLoss = buffer.delivery.byteCount
                perform(session.linkWentDown(now: now))
            case .up:
                reporter.emit(.linkUp)
                let delivery = buffer.delivery
                let isStalled = !delivery.isComplete && delivery.byteCount == deliveredAtLinkLoss
                perform(session.linkCameUp(isTransferStalled: isStalled, now: now))
            case .routeAppeared: perform(session.routeAppeared(now: now))
            case .addressDisappeared: perform(session.addressDisappeared(now: now))
            }
        }
    }
}
