import ApplianceLogic
import LinuxIO
import Media
import RTMP
import Transport

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
            case .beginMedia(let id): beginMedia(on: id)
            case .closeConnection(let id): connections[id]?.commands.send(.close)
            case .abortConnection(let id): abort(id)
            case .requestKeyFrame: control.requestKeyFrame()
            case .setTimer(let time): sessionTimer = time
            case .reportStatus: reportStatus()
            case .emit(let event): emit(event)
            case .completeStart(.failed(let cause)):
                failure = failure ?? CommandFailure(.connection, code: cause.code, cause.text)
            case .completeStart: break
            case .completeStop: isOver = true
            }
            pendingActions.removeFirst()
        }
    }

    private func open(_ id: ConnectionID, _ target: StreamSession.Target) {
        do {
            var url = try options.destination.connectionURL()
            if case .requested = target, let requestedURL {
                // The stream name keeps its own, fresh signature.
                let streamName = url.streamName
                url = requestedURL
                url.streamName = streamName
            }
            let configuration = PublishConfiguration(
                url: url, encoderName: "Tallycam/\(version)", randomBytes: try randomBytes(count: 1528),
                metadata: tracks.metadata, timeLimits: options.limits.session, acceptsReconnectRequest: true,
                md5: { MD5.digest(of: $0) })
            connections[id] = try RunningConnection(
                id: id, configuration: configuration, authorityFile: options.destination.authorityFile,
                limits: options.limits, queue: queue, counters: counters, reports: reports)
        } catch {
            let message = (error as? CommandFailure)?.message ?? "\(error)"
            // A clock is set and a disk has room again some time: no reason to give up for good.
            let cause = ConnectionFailure(code: EventCode.socketFailed.rawValue, text: message)
            perform(session.connectionFailed(id, cause, now: MonotonicClock.now()))
        }
    }

    func abort(_ id: ConnectionID) {
        // A stream that goes on elsewhere: the link is back, but perhaps not yet the way to the server.
        mediaEnded(on: id)
        guard id == mediaConnection, session.state == .reconnecting,
            let connection = connections.removeValue(forKey: id)
        else {
            connections[id]?.commands.send(.abort)
            return
        }
        connection.commands.send(.fallSilent)
        stalled.append(connection)
    }

    func abortStalled() {
        for connection in stalled { connection.commands.send(.abort) }
        for connection in stalled { connection.thread.join() }
        stalled = []
    }

    private func beginMedia(on id: ConnectionID) {
        let isHandover = mediaConnection.map { connections[$0] != nil } ?? false
        mediaConnection = id
        if let timeZero {
            // After a loss the queue begins anew; a server that only wanted to move misses nothing.
            if !isHandover { bufferReported(queue.connectionOpened()) }
            let headers = isHandover ? counters.snapshot.brought(upToDate: queue.headers) : []
            connections[id]?.commands.send(.beginMedia(timeZero: timeZero, headers: headers))
            adapted(adaptation.connectionOpened(now: MonotonicClock.now()))
            return
        }
        let now = MonotonicClock.now()
        timeZero = now
        queue.mediaBegan(at: now)
        if var header = tracks.audioHeader {
            header.decodeTime = now
            bufferReported(queue.append([header]))
        }
        connections[id]?.commands.send(.beginMedia(timeZero: now, headers: []))
        adapted(adaptation.connectionOpened(now: now))
        tracks.start(until: options.media.duration.map { now + $0 })
    }

    /// The connection stands still at a key frame. If nothing else took over meanwhile, it goes on.
    func keyFrameReached(on id: ConnectionID) {
        perform(session.keyFrameReached(now: MonotonicClock.now()))
        guard mediaConnection == id, let timeZero else { return }
        connections[id]?.commands.send(.beginMedia(timeZero: timeZero, headers: []))
    }

    func emit(_ event: StreamEvent) {
        if case .stateChanged = event {
            // What is written next draws the view anew: it must not say "live" any more.
            statusReporter.viewExpired(now: MonotonicClock.now())
            showView()
        }
        guard case .failed(let code, let reason) = event else {
            console.emit(Event(event, destination: options.destination.label))
            return
        }
        failure = failure ?? CommandFailure(.connection, code: code.rawValue, reason)
        isOver = true
    }
}
