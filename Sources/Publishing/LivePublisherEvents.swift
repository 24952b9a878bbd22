import LinuxIO
import MediaPipeline
import StreamLogic
import StreamQuality

// What happens.
extension LivePublisher {
    func connectionReported(_ report: ConnectionReport) {
        let now = MonotonicClock.now()
        let id = report.id
        switch report.content {
        case .connected(let server, let address):
            if connections[id] != nil { ownLink.connected(from: address, links) }
            perform(session.serverConnected(id, server: server, now: now))
            // A server that still believes in them would refuse the stream's name to the new one.
            abortStalled()
            connections[id]?.commands.send(.shakeHands)
        case .fellSilent: perform(session.transferFellSilent(id, now: now))
        case .resumed: perform(session.transferResumed(id, now: now))
        case .stalled(let cause):
            if let connection = connections.removeValue(forKey: id) { stalled.append(connection) }
            mediaEnded(on: id)
            perform(session.connectionFailed(id, cause, now: now))
        case .publishing:
            perform(session.publishingBegan(id, now: now))
            if let mediaConnection, mediaConnection != id {
                connections[mediaConnection]?.commands.send(.holdAtKeyFrame)
            }
        case .failed(let cause):
            connections.removeValue(forKey: id)?.thread.join()
            mediaEnded(on: id)
            perform(session.connectionFailed(id, cause, now: now))
        case .closed:
            connections.removeValue(forKey: id)?.thread.join()
            perform(session.connectionClosed(id, now: now))
        case .drained: perform(session.stopRequested(now: now))
        case .keyFrameReached: keyFrameReached(on: id)
        case .reconnectRequested(let url):
            requestedURL = url
            perform(session.reconnectRequested(id, tcURL: url.tcURL, now: now))
        case .reconnectRefused(let refusal):
            guard id == mediaConnection else { break }
            emit(
                .serverChangeFailed(
                    ConnectionFailure(code: EventCode.invalidProtocol.rawValue, text: "\(refusal)")))
        case .buffer(let events): bufferReported(events)
        }
    }

    func trackReported(_ report: TrackReport) {
        switch report {
        case .ended(let track, let note):
            queue.trackEnded()
            // Sound alone is no use when the picture has ended.
            if track == .video { stopTracks.signal() }
            if let note { sourceEnded(track, note) }
        case .note(let track, let note): sourceEnded(track, note)
        case .source(let notice): reporter.emit(Event(notice))
        case .buffer(let events): bufferReported(events)
        case .encoder(let event): emit(event)
        case .encoderNote(let note): reporter.log("warning: \(note)")
        case .settingRefused(let reason): refuse("the encoder keeps its setting: \(reason)")
        case .failed(let cause):
            failure = failure ?? cause
            stop()
        }
    }

    private func sourceEnded(_ track: TrackReport.Track, _ note: String) {
        reporter.emit(Event("sourceEnded", text: note, ["track": .text(track.rawValue)]))
    }

    func bufferReported(_ events: [SendBufferEvent]) {
        for event in events {
            if case .droppedItems(let items) = event {
                let frames = items.count { $0.kind.isVideo }
                drops.dropped(items, now: MonotonicClock.now())
                counters.update {
                    $0.droppedFrames += frames
                    $0.droppedAudioUnits += items.count - frames
                }
            }
            for event in Event.ofSendBuffer(event, since: timeZero) { reporter.emit(event) }
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
                reporter.emit(
                    Event("linkDown", text: "the link to the network is down; the stream waits for its return"))
                deliveredAtLinkLoss = queue.delivery.byteCount
                perform(session.linkWentDown(now: now))
            case .up:
                reporter.emit(Event("linkUp", text: "the link to the network is up"))
                let delivery = queue.delivery
                let isStalled = !delivery.isComplete && delivery.byteCount == deliveredAtLinkLoss
                perform(session.linkCameUp(isTransferStalled: isStalled, now: now))
            case .routeAppeared: perform(session.routeAppeared(now: now))
            case .addressDisappeared: perform(session.addressDisappeared(now: now))
            }
        }
    }
}
