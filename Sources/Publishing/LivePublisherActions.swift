import LinuxIO
import Media
import MediaPipeline
import RTMP
import StreamLogic

// What the session wants done.
extension LivePublisher {
    /// Does the actions in their order. What one of them makes the session want is done after the rest.
    func perform(_ actions: [StreamSession.Action]) {
        let isOutermost = pendingActions.isEmpty
        pendingActions += actions
        guard isOutermost else { return }
        while let action = pendingActions.first {
            switch action {
            case .openConnection(let id, let target): open(id, target)
            case .startMedia(let id): startMedia(on: id)
            case .closeConnection(let id): connections[id]?.commands.send(.close)
            case .abortConnection(let id): abort(id)
            case .parkConnection(let id): park(id)
            case .requestKeyframe: control.requestKeyframe()
            case .setTimer(let time): sessionTimer = time
            case .reportStatus: reportStatus()
            case .emit(let event): emit(event)
            case .completeStart(.failed(let cause)):
                failure = failure ?? StreamFailure(.connection, code: EventCode(rawValue: cause.code), cause.text)
            case .completeStart: break
            case .completeStop: isOver = true
            }
            pendingActions.removeFirst()
        }
    }

    private func open(_ id: ConnectionID, _ target: StreamSession.Target) {
        do {
            var requested: RTMPURL?
            if case .requested = target { requested = requestedURL }
            let plan = ConnectionPlan(
                destination: settings.destination, requestedURL: requested, metadata: StreamMetadata(tracks),
                timeouts: settings.timeouts, card: settings.card)
            connections[id] = try RunningConnection(
                id: id, plan: plan, network: network, queue: queue
            ) { [reports] in reports.send(.connection($0)) }
        } catch {
            // No thread: there may be room for one the next time.
            let cause = ConnectionFailure(code: EventCode.socketFailed.rawValue, text: "\(error)")
            perform(session.connectionFailed(id, cause, now: MonotonicClock.now()))
        }
    }

    private func park(_ id: ConnectionID) {
        mediaEnded(on: id)
        connections[id]?.commands.send(.parkUntilAbort)
        parked[id] = connections.removeValue(forKey: id)
    }

    private func abort(_ id: ConnectionID) {
        mediaEnded(on: id)
        guard let carrier = parked.removeValue(forKey: id) ?? takeCarrier(id) else {
            connections[id]?.commands.send(.abort)
            return
        }
        carrier.commands.send(.abort)
        // A server that still believed in it would refuse the stream's name to the next one.
        carrier.thread.join()
    }

    /// The connection, if it is the one that media goes to.
    private func takeCarrier(_ id: ConnectionID) -> RunningConnection? {
        id == mediaConnection ? connections.removeValue(forKey: id) : nil
    }

    private func startMedia(on id: ConnectionID) {
        let isHandover = mediaConnection.map { connections[$0] != nil } ?? false
        mediaConnection = id
        if let timeZero {
            // After a loss the queue starts anew; a server that only wanted to move misses nothing.
            if !isHandover { hub.restart(queue) }
            let headers = isHandover ? queue.sent.brought(upToDate: hub.headers) : []
            connections[id]?.commands.send(.startMedia(timeZero: timeZero, headers: headers))
            adapted(adaptation.connectionOpened(now: MonotonicClock.now()))
            return
        }
        let now = MonotonicClock.now()
        timeZero = now
        hub.mediaStarted(at: now)
        if var header = tracks.audioHeader {
            header.decodeTime = now
            hub.append([header])
        }
        hub.restart(queue)
        connections[id]?.commands.send(.startMedia(timeZero: now, headers: []))
        adapted(adaptation.connectionOpened(now: now))
        tracks.start(from: now, until: settings.media.duration.map { now + $0 })
    }

    /// The connection stands still at a keyframe. If nothing else took over meanwhile, it goes on.
    func keyframeReached(on id: ConnectionID) {
        perform(session.keyframeReached(now: MonotonicClock.now()))
        guard mediaConnection == id, let timeZero else { return }
        connections[id]?.commands.send(.startMedia(timeZero: timeZero, headers: []))
    }

    func emit(_ event: StreamEvent) {
        if case .stateChanged = event {
            // What is written next draws the view anew: it must not say "live" any more.
            showSnapshot(isDue: true)
        }
        guard case .failed(let code, let reason) = event else {
            reporter.emit(event)
            return
        }
        failure = failure ?? StreamFailure(.connection, code: code, reason)
        isOver = true
    }
}

extension StreamMetadata {
    fileprivate init(_ tracks: MediaTracks) {
        self.init(
            video: tracks.videoConfiguration.map {
                Video(size: $0.size, frameRate: $0.frameRate, bitrate: $0.bitrate)
            },
            audio: tracks.audio.map {
                Audio(bitrate: $0.bitrate, sampleRate: $0.sampleRate, channelCount: $0.channelCount)
            })
    }
}
