import Encoding
import LinuxIO
import Media
import MediaPipeline
import RTMP
import StreamLogic
import Transport

/// One server that receives the stream. Carries out the decisions of its `StreamSession`, with its own connections and send buffer.
/// Used from the thread `stream`.
final class PublishTarget {
    /// Shared by all targets of a stream.
    struct Surroundings {
        let settings: PublishSettings
        let network: PublisherNetwork
        let hub: PacketHub
        let reports: Mailbox<TargetReport>
        let reporter: EventSink
    }

    /// A target's report to its stream.
    enum News {
        /// Media flows on another connection from now on.
        case mediaFlows
        case mediaStopped
        /// It is reported next.
        case stateChanges
        case statusIsDue
        /// It ends on request, and the stream goes on.
        case switchedOff
        /// The server receives nothing more.
        case over
    }

    let id: TargetID
    let destination: PublishDestination
    let buffer: SinkBuffer
    /// Its events carry the target.
    let reporter: EventSink
    /// The stream that it carries.
    weak var owner: (any TargetOwner)?
    var session: StreamSession
    private(set) var timer: MediaTimestamp?
    var statusReporter: StatusReporter
    private(set) var isOver = false
    /// When the stream tries again after its failure.
    var retryTime: MediaTimestamp?
    /// Whether a person wants the stream to go on without it.
    private(set) var isOff: Bool
    private(set) var failure: StreamFailure?
    /// Whether an event has told the failure.
    private(set) var isFailureReported = false

    let surroundings: Surroundings
    var connections: [ConnectionID: RunningConnection] = [:]
    /// Connections through which nothing gets; the session decides when to abort them.
    var parked: [ConnectionID: RunningConnection] = [:]
    /// The connection that media is sent on.
    var mediaConnection: ConnectionID?
    /// The address that the server asked the stream to move to.
    var requestedURL: RTMPURL?
    /// The current action stays first until it is done.
    private var pendingActions: [StreamSession.Action] = []
    var deliveredAtLinkLoss = 0
    var ownLink = OwnLink()
    var drops = DropSummary()

    /// - Parameter isOff: it exists only to be listed.
    init(
        _ id: TargetID, to destination: PublishDestination, isLeading: Bool, isOff: Bool = false,
        in surroundings: Surroundings
    ) throws {
        self.id = id
        self.destination = destination
        self.isOff = isOff
        isOver = isOff
        self.surroundings = surroundings
        let (settings, now) = (surroundings.settings, MonotonicClock.now())
        reporter = surroundings.reporter.of(id)
        statusReporter = StatusReporter(now: now)
        buffer = try SinkBuffer(
            of: surroundings.hub, .target(settings.quality.bufferLimits), hasVideo: !settings.media.video.isNone,
            knowsDelivered: settings.archive != nil
        ) { [reports = surroundings.reports] in reports.send(TargetReport(target: id, content: .buffer($0))) }
        var ofSession = StreamSessionSettings(destination: destination.label)
        ofSession.statusInterval = settings.statusInterval
        ofSession.reconnect.limit = settings.reconnectLimit
        ofSession.attemptTimeout = settings.timeouts.attempt
        // Targets of one stream must not reconnect at the same moments.
        session = StreamSession(
            settings: ofSession, seed: UInt64(bitPattern: now.nanoseconds) &+ UInt64(truncatingIfNeeded: id.number))
        if !isOff { surroundings.hub.add(buffer, isLeading: isLeading) }
    }

    /// The settings' targets; the first one leads.
    static func all(in surroundings: Surroundings) throws -> [PublishTarget] {
        try surroundings.settings.destinations.all.enumerated().map { index, destination in
            try PublishTarget(
                TargetID(index, name: destination.name), to: destination, isLeading: index == 0,
                isOff: destination.isOff, in: surroundings)
        }
    }

    /// The same target, to be started again. This one must be over.
    func renewed() throws -> PublishTarget {
        let target = try PublishTarget(id, to: destination, isLeading: false, in: surroundings)
        target.owner = owner
        return target
    }

    // MARK: Requests of the stream

    func start() { perform(session.startRequested(now: MonotonicClock.now())) }
    func sourcesOpened() { perform(session.sourcesOpened(now: MonotonicClock.now())) }
    func stop() { perform(session.stopRequested(now: MonotonicClock.now())) }

    /// The stream goes on without it.
    func switchOff() {
        isOff = true
        retryTime = nil
        // Another one leads before this one tells its end.
        owner?.happened(.switchedOff, to: self)
        // The session tells how it ends; one that has failed is over already.
        if isOver { reporter.emit(.stateChanged(.disconnected)) } else { stop() }
    }

    /// Ends the stream on this server in order and restarts it in the hub's new epoch.
    func restart() {
        mediaConnection = nil
        perform(session.restartRequested(isContinuation: true, now: MonotonicClock.now()))
    }

    /// The stream does not start: its connection is closed before the handshake.
    func giveUp() {
        end()
        reporter.emit(.stateChanged(.error))
    }

    /// Aborts the remaining connections and waits for them.
    func end() {
        let ending = [RunningConnection](connections.values) + [RunningConnection](parked.values)
        for connection in ending { connection.commands.send(.abort) }
        for connection in ending { connection.thread.join() }
    }

    /// Whether a server has got media since `start`.
    private(set) var hasCarriedMedia = false

    /// A server gets media now.
    var carriesMedia: Bool { session.state == .live && mediaConnection != nil }

    var deadline: MediaTimestamp? { [timer, drops.deadline].compactMap { $0 }.min() }

    func timePassed(now: MediaTimestamp) {
        if let timer, now >= timer {
            self.timer = nil
            perform(session.timerFired(now: now))
        }
        reportDrops(now: now)
    }

    /// - Parameter now: `nil` at the end, when nothing more comes.
    func reportDrops(now: MediaTimestamp?) {
        for line in drops.takeLines(since: surroundings.hub.publishStart, now: now) { reporter.note(line) }
    }

    // MARK: Actions of the session

    /// Performs the actions in order. If one of them causes further actions, they follow after the rest.
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
            case .requestKeyframe: surroundings.hub.keyframeNeeded(by: buffer)
            case .setTimer(let time): timer = time
            case .reportStatus: owner?.happened(.statusIsDue, to: self)
            case .emit(let event): emit(event)
            case .completeStart(.failed(let cause)): fail(EventCode(rawValue: cause.code), cause.text)
            case .completeStart: break
            case .completeStop: finish()
            }
            pendingActions.removeFirst()
        }
    }

    /// Tells a failure that does not end the stream.
    func reportFailure() {
        guard let failure, !isFailureReported else { return }
        isFailureReported = true
        reporter.emit(.failed(failure.code, message: failure.text))
    }

    private func finish() {
        guard !isOver else { return }
        isOver = true
        owner?.happened(.over, to: self)
    }

    private func fail(_ code: EventCode?, _ reason: String) {
        failure = failure ?? StreamFailure(.connection, code: code, target: id, reason)
    }

    func emit(_ event: StreamEvent) {
        if case .stateChanged = event { owner?.happened(.stateChanges, to: self) }
        guard case .failed(let code, let reason) = event else { return reporter.emit(event) }
        fail(code, reason)
        finish()
    }

    private func open(_ id: ConnectionID, _ target: StreamSession.Target) {
        do {
            var requested: RTMPURL?
            if case .requested = target { requested = requestedURL }
            let plan = ConnectionPlan(
                destination: destination, requestedURL: requested, timeouts: surroundings.settings.timeouts,
                card: surroundings.settings.card)
            connections[id] = try RunningConnection(
                id: id, plan: plan, network: surroundings.network, queue: buffer
            ) { [reports = surroundings.reports, target = self.id] in
                reports.send(TargetReport(target: target, content: .connection($0)))
            }
        } catch {
            // A thread could not be started; it may be possible next time.
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
        // A server that still considers it alive would refuse the stream's name to the next connection.
        carrier.thread.join()
    }

    /// The connection, if media is sent on it.
    private func takeCarrier(_ id: ConnectionID) -> RunningConnection? {
        id == mediaConnection ? connections.removeValue(forKey: id) : nil
    }

    func mediaEnded(on id: ConnectionID) {
        if id == mediaConnection { owner?.happened(.mediaStopped, to: self) }
    }

    private func startMedia(on id: ConnectionID) {
        let hub = surroundings.hub
        let isHandover = mediaConnection.map { connections[$0] != nil } ?? false
        mediaConnection = id
        let timeZero = hub.publishingStarted(at: MonotonicClock.now())
        // After a loss, the buffer restarts. A server that only asked to move misses nothing.
        if !isHandover { hub.restart(buffer) }
        let headers = isHandover ? buffer.sent.brought(upToDate: hub.headers) : []
        connections[id]?.commands.send(.startMedia(timeZero: timeZero, headers: headers))
        hasCarriedMedia = true
        owner?.happened(.mediaFlows, to: self)
    }
}

/// The stream that a target carries.
protocol TargetOwner: AnyObject {
    /// For a connection that is opened now.
    var metadata: StreamMetadata { get }
    func happened(_ news: PublishTarget.News, to target: PublishTarget)
}
