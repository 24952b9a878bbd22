import ApplianceLogic
import DevicePorts
import Glibc
import LinuxIO
import Media
import RTMP
import StreamQuality
import Transport

/// Publishes live media. Runs `StreamSession` on the main thread: events in, its actions done.
final class LivePublisher {
    private let options: PublishOptions
    private let console: Console
    /// `nil` where somebody else takes the signals.
    private let signals: SignalFD?
    private let remote: PublisherRemote?
    private let reports: Mailbox<ConnectionReport>
    private let trackReports: Mailbox<TrackReport>
    private let links: LinkMonitor?
    private let stopTracks: EventFD
    private let queue: MediaQueue
    private let counters = SharedCounters()
    private let control = EncoderControl()
    private let adaptation: StreamAdaptation
    private let tracks: MediaTracks
    private var session: StreamSession
    private var connections: [ConnectionID: RunningConnection] = [:]
    /// Through these nothing gets; they are aborted when the server can be reached again.
    private var stalled: [RunningConnection] = []
    /// The one that media goes to.
    private var mediaConnection: ConnectionID?
    /// Where the server asked the stream to move.
    private var requestedURL: RTMPURL?
    private var statusReporter: StatusReporter
    /// The one being done stays in front until it is.
    private var pendingActions: [StreamSession.Action] = []
    private var sessionTimer: MediaTimestamp?
    /// RTMP's time zero: when the first server took the stream.
    private var timeZero: MediaTimestamp?
    private var deliveredAtLinkLoss = 0
    private var drops = DropSummary()
    private var isOver = false
    private var isMuted = false
    private var failure: CommandFailure?

    /// - Parameter remote: ends the stream; `nil` to end it by SIGINT and SIGTERM.
    init(options: PublishOptions, console: Console, remote: PublisherRemote? = nil) throws {
        self.options = options
        self.console = console
        self.remote = remote
        signals = remote == nil ? try SignalFD([SIGINT, SIGTERM, SIGUSR1]) : nil
        reports = try Mailbox()
        trackReports = try Mailbox()
        // Without netlink (a sandbox) a lost link is noticed by TCP, seconds later.
        links = try? LinkMonitor()
        stopTracks = try EventFD()
        queue = try MediaQueue(limits: options.quality.bufferLimits, tracks: options.media.trackCount)
        adaptation = StreamAdaptation(settings: options.quality, control: control, queue: queue, counters: counters)
        tracks = try MediaTracks(
            options: options.media, point: adaptation.operatingPoint, stop: stopTracks, queue: queue,
            counters: counters, control: control, reports: trackReports, console: console)
        var settings = StreamSessionSettings()
        settings.statusInterval = options.statusInterval
        settings.reconnect.limit = options.reconnectLimit
        session = StreamSession(settings: settings, seed: UInt64(bitPattern: MonotonicClock.now().nanoseconds))
        statusReporter = StatusReporter(options: options, now: MonotonicClock.now())
    }

    func run() throws -> ExitStatus {
        console.log("publishing to \(options.destination.label)")
        perform(session.startRequested(now: MonotonicClock.now()))
        while !isOver { try step() }
        stopTracks.signal()
        for connection in connections.values { connection.commands.send(.abort) }
        for connection in connections.values { connection.thread.join() }
        abortStalled()
        tracks.join()
        tellDrops(now: nil)
        console.show(view: [])
        if let failure { throw failure }
        emitEnd()
        return .success
    }

    /// Waits for the next thing to do and does it.
    private func step() throws {
        var entries = [
            PollEntry(signals?.fileDescriptor ?? -1), PollEntry(reports.wakeup.fileDescriptor),
            PollEntry(trackReports.wakeup.fileDescriptor), PollEntry(links?.fileDescriptor ?? -1),
            PollEntry(remote?.wakeup.fileDescriptor ?? -1),
        ]
        let deadlines = [
            sessionTimer, adaptation.nextMeasurement, drops.deadline,
            console.hasTerminal ? statusReporter.nextViewTime : nil,
        ]
        try poll(&entries, until: deadlines.compactMap { $0 }.min())
        if let remote, remote.turn() { stop() }
        while let signal = signals?.next() {
            signalled(signal)
        }
        for report in trackReports.takeAll() { trackReported(report) }
        for report in reports.takeAll() { connectionReported(report) }
        if entries[3].ready.contains(.readable) { linksChanged() }
        if let time = sessionTimer, MonotonicClock.now() >= time {
            sessionTimer = nil
            perform(session.timerFired(now: MonotonicClock.now()))
        }
        adapt()
        tellDrops(now: MonotonicClock.now())
        showView()
    }

    private func signalled(_ signal: Int32) {
        guard signal != SIGUSR1 else {
            isMuted.toggle()
            control.setMuted(isMuted)
            let text = isMuted ? "muted: sound goes out as silence" : "no longer muted"
            console.emit(Event("muted", text: text, ["muted": .flag(isMuted)]))
            return
        }
        console.log(signal == SIGINT ? "interrupted: ending the stream" : "terminated: ending the stream")
        stop()
    }

    private func stop() {
        stopTracks.signal()
        perform(session.stopRequested(now: MonotonicClock.now()))
    }
}

// What the session wants done.
extension LivePublisher {
    /// Does the actions in their order. What one of them makes the session want is done after the rest.
    private func perform(_ actions: [StreamSession.Action]) {
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
                metadata: tracks.metadata, acceptsReconnectRequest: true, md5: { MD5.digest(of: $0) })
            connections[id] = try RunningConnection(
                id: id, configuration: configuration, authorityFile: options.destination.authorityFile, queue: queue,
                counters: counters, reports: reports)
        } catch {
            let message = (error as? CommandFailure)?.message ?? "\(error)"
            let cause = ConnectionFailure(code: EventCode.socketFailed.rawValue, text: message, isPermanent: true)
            perform(session.connectionFailed(id, cause, now: MonotonicClock.now()))
        }
    }

    private func abort(_ id: ConnectionID) {
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

    private func abortStalled() {
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
            connections[id]?.commands.send(
                .beginMedia(timeZero: timeZero, headers: isHandover ? queue.headers : []))
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
    private func keyFrameReached(on id: ConnectionID) {
        perform(session.keyFrameReached(now: MonotonicClock.now()))
        guard mediaConnection == id, let timeZero else { return }
        connections[id]?.commands.send(.beginMedia(timeZero: timeZero, headers: []))
    }

    private func emit(_ event: StreamEvent) {
        guard case .failed(let code, let reason) = event else {
            console.emit(Event(event, destination: options.destination.label))
            return
        }
        failure = failure ?? CommandFailure(.connection, code: code.rawValue, reason)
        isOver = true
    }
}

// What happens.
extension LivePublisher {
    private func connectionReported(_ report: ConnectionReport) {
        let now = MonotonicClock.now()
        let id = report.id
        switch report.content {
        case .connected(let server):
            // A server that still believes in them would refuse the stream's name to the new one.
            abortStalled()
            connections[id]?.commands.send(.shakeHands)
            perform(session.serverConnected(id, server: server, now: now))
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
        case .buffer(let events): bufferReported(events)
        }
    }

    private func trackReported(_ report: TrackReport) {
        switch report {
        case .ended(let track, let note):
            queue.trackEnded()
            // Sound alone is no use when the picture has ended.
            if track == .video { stopTracks.signal() }
            if let note { sourceEnded(track, note) }
        case .note(let track, let note): sourceEnded(track, note)
        case .source(let notice): console.emit(Event(notice))
        case .buffer(let events): bufferReported(events)
        case .encoder(let event): emit(event)
        case .failed(let cause):
            failure = failure ?? cause
            stop()
        }
    }

    private func sourceEnded(_ track: TrackReport.Track, _ note: String) {
        console.emit(Event("sourceEnded", text: note, ["track": .text(track.rawValue)]))
    }

    private func bufferReported(_ events: [SendBufferEvent]) {
        for event in events {
            if case .droppedItems(let items) = event {
                let frames = items.count { $0.kind.isVideo }
                drops.dropped(items, now: MonotonicClock.now())
                counters.update {
                    $0.droppedFrames += frames
                    $0.droppedAudioUnits += items.count - frames
                }
            }
            if case .keyFrameNeeded = event { control.requestKeyFrame() }
            for event in Event.ofSendBuffer(event, since: timeZero) { console.emit(event) }
        }
    }

    private func linksChanged() {
        guard let links, let events = try? links.takeEvents() else { return }
        if events.contains(where: { if case .linkUp = $0 { true } else { false } }) {
            // Without the right to do so, only some time is lost.
            try? links.forgetUnresolvedNeighbours()
        }
        let now = MonotonicClock.now()
        for event in events {
            switch event {
            case .linkDown:
                deliveredAtLinkLoss = queue.delivery.byteCount
                perform(session.linkWentDown(now: now))
            case .linkUp:
                let delivery = queue.delivery
                let isStalled = !delivery.isComplete && delivery.byteCount == deliveredAtLinkLoss
                perform(session.linkCameUp(isTransferStalled: isStalled, now: now))
            default: break
            }
        }
    }
}

// How it adapts to the network.
extension LivePublisher {
    private func adapt() {
        let now = MonotonicClock.now()
        guard let time = adaptation.nextMeasurement, now >= time else { return }
        adapted(adaptation.timePassed(now: now))
        if options.isTraced, let measurement = adaptation.lastMeasurement {
            console.emit(.ofMeasurement(measurement, linkEstimate: adaptation.linkEstimate))
        }
    }

    private func mediaEnded(on id: ConnectionID) {
        if id == mediaConnection { adaptation.connectionLost() }
    }

    private func adapted(_ outcomes: [StreamAdaptation.Outcome]) {
        for outcome in outcomes {
            switch outcome {
            case .buffer(let events): bufferReported(events)
            case .changed(let change):
                if adaptation.isWarningDue(change, now: MonotonicClock.now()) {
                    emit(.uplinkTooSlow(bitrate: change.linkEstimate ?? change.from.mediaBitrate))
                }
                console.emit(.ofQuality(change))
            case .restart(let point): restart(at: point)
            }
        }
    }

    /// Ends the stream in order and begins it again with the profile that the point's group has.
    private func restart(at point: OperatingPoint) {
        var configuration = tracks.videoConfiguration
        if let present = configuration {
            do {
                let replacement = try VideoTrack.configuration(
                    options.media, point: point, sourceRate: options.quality.frameRateLimit ?? point.frameRate)
                control.replaceVideoEncoder(replacement)
                configuration = replacement
            } catch {
                // The encoder that there is goes on; only the profile stays what it was.
                console.log("warning: \(error); the stream keeps its profile")
                control.perform([.setVideo(bitrate: point.videoBitrate, frameRate: present.frameRate)])
                return
            }
        }
        if let audio = point.audioQuality { control.setAudioBitrate(audio.bitrate) }
        tracks.restarted(video: configuration, audioBitrate: point.audioQuality?.bitrate)
        queue.paused(replacesVideoEncoder: configuration != nil)
        adaptation.connectionLost()
        mediaConnection = nil
        perform(session.restartRequested(isContinuation: true, now: MonotonicClock.now()))
    }
}

// What is told.
extension LivePublisher {
    private var snapshot: StatusReporter.Snapshot {
        StatusReporter.Snapshot(
            counters: counters.snapshot, buffered: queue.duration, state: session.state, encoder: tracks.encoderName,
            point: adaptation.operatingPoint, linkEstimate: adaptation.linkEstimate, reason: adaptation.lastReason)
    }

    private func reportStatus() { console.emit(statusReporter.status(snapshot, now: MonotonicClock.now())) }

    /// - Parameter now: `nil` at the end, when nothing more comes.
    private func tellDrops(now: MediaTimestamp?) {
        for line in drops.takeLines(since: timeZero, now: now) { console.note(line) }
    }

    private func showView() {
        guard console.hasTerminal else { return }
        let now = MonotonicClock.now()
        guard now >= statusReporter.nextViewTime else { return }
        console.show(view: statusReporter.view(snapshot, since: timeZero, now: now))
    }

    private func emitEnd() {
        let sent = counters.snapshot
        let seconds = tracks.audioSeconds(units: sent.sentAudioUnits)
        console.emit(
            Event(
                "ended",
                text: "ended: \(sent.sentFrames) pictures and \(fixed(seconds, decimals: 1)) s of audio sent, "
                    + "\(sent.skippedFrames) pictures skipped by the encoder, \(sent.droppedFrames) dropped",
                [
                    "videoFrames": .integer(sent.sentFrames), "videoSkipped": .integer(sent.skippedFrames),
                    "videoDropped": .integer(sent.droppedFrames), "videoBytes": .integer(sent.sentVideoBytes),
                    "audioUnits": .integer(sent.sentAudioUnits), "audioBytes": .integer(sent.sentAudioBytes),
                    "audioSeconds": .number(seconds),
                ]))
    }
}
