import LinuxIO
import Media
import MediaPipeline
import StreamLogic
import StreamQuality

// Reports from threads.
extension LivePublisher {
    func reported(_ report: TargetReport) {
        switch report {
        case .connection(let event): connectionReported(event)
        case .buffer(let events): bufferReported(events)
        }
    }

    private func connectionReported(_ report: ConnectionEvent) {
        let now = MonotonicClock.now()
        let id = report.id
        switch report.content {
        case .connected(let server, let address):
            if connections[id] != nil { ownLink.connected(from: address, links) }
            perform(session.serverConnected(id, server: server, now: now))
            connections[id]?.commands.send(.startHandshake)
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
            emit(
                .serverChangeFailed(
                    ConnectionFailure(code: EventCode.invalidProtocol.rawValue, text: "\(refusal)")))
        }
    }

    /// Its thread has nothing more to do.
    private func forget(_ id: ConnectionID) {
        (connections.removeValue(forKey: id) ?? parked.removeValue(forKey: id))?.thread.join()
    }

    func trackReported(_ report: TrackEvent) {
        switch report {
        case .ended(let track, let note):
            hub.trackEnded()
            // Audio alone is no use when the video has ended.
            if track == .video { stopTracks.signal() }
            if let note { reporter.emit(.sourceEnded(track, note: note)) }
        case .note(let track, let note): reporter.emit(.sourceEnded(track, note: note))
        case .source(let event): reporter.emit(.source(event))
        case .snapshot(let answer): reporter.emit(.snapshot(answer))
        case .brightness(let brightness): reporter.tell(brightness)
        case .cameraSwitched(let name, let duration): cameraSwitched(to: name, after: duration)
        case .cameraSwitchFailed(let name, let reason): cameraSwitchFailed(name, reason)
        case .encoder(let event): emit(event)
        case .encoderNote(let note): reporter.log("warning: \(note)")
        case .sizeRefused(let reason, let size):
            // A later change of settings is not to ask for it again.
            configuration.settings.resize = .never
            adaptation.sizeRefused(keeping: size)
            refuse("frames stay at \(size): \(reason)")
        case .sizeNotOpened(let reason, let size): sizeNotOpened(size, reason)
        case .settingRefused(let reason): refuse("the encoder keeps its setting: \(reason)")
        case .controlled(let readings, let id): controlled(readings, id)
        case .controlRefused(let error, let id): refusedByCamera(error, id)
        case .filtersLoaded(let result, let id): filtersLoaded(result, id)
        case .failed(let cause):
            failure = failure ?? cause
            stop()
        }
    }

    func takeSnapshot(_ request: SnapshotRequest) {
        guard let snapshots = tracks.snapshots else {
            return reporter.emit(.snapshot(.failed(request, reason: "the stream has no video")))
        }
        // Frames come when the first server has taken the stream, which may never be.
        guard timeZero != nil else {
            return reporter.emit(.snapshot(.failed(request, reason: "the stream is still connecting")))
        }
        snapshots.take(request)
    }

    /// Only a restart for the size's sake opens the hardware anew in another size than the stream's own, which it encoded before.
    private func sizeNotOpened(_ size: FrameSize, _ reason: String) {
        let own = configuration.dimension.size
        guard configuration.settings.resize == .restart, size != own else { return }
        configuration.settings.resize = .never
        let point = adaptation.sizeNotOpened(goingBackTo: own)
        refuse("frames stay at \(own): \(reason)")
        restart(at: point)
    }

    func bufferReported(_ events: [SendBufferEvent]) {
        for event in events {
            if case .droppedItems(let items) = event { drops.dropped(items, now: MonotonicClock.now()) }
            let isAway = session.state != .connected || adaptation.isLinkStalled
            for event in StreamEvent.ofSendBuffer(event, since: timeZero, isServerAway: isAway) {
                reporter.emit(event)
            }
        }
    }

    func linksChanged() {
        guard let links, let events = try? links.takeEvents() else { return }
        if events.contains(where: { if case .linkUp = $0 { true } else { false } }) {
            // Without the right to do so, only some time is lost.
            try? links.forgetUnresolvedNeighbours()
        }
        let now = MonotonicClock.now()
        for news in ownLink.news(of: events, links) {
            switch news {
            case .down:
                reporter.emit(.linkDown)
                deliveredAtLinkLoss = queue.delivery.byteCount
                perform(session.linkWentDown(now: now))
            case .up:
                reporter.emit(.linkUp)
                let delivery = queue.delivery
                let isStalled = !delivery.isComplete && delivery.byteCount == deliveredAtLinkLoss
                perform(session.linkCameUp(isTransferStalled: isStalled, now: now))
            case .routeAppeared: perform(session.routeAppeared(now: now))
            case .addressDisappeared: perform(session.addressDisappeared(now: now))
            }
        }
    }
}
