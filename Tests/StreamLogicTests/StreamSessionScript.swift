import Media
import StreamLogic

/// Plays a session in virtual time and records its actions in short words.
struct StreamSessionScript {
    var session: StreamSession
    var now = MediaTimestamp.zero
    private(set) var timer: MediaTimestamp?
    /// Connections in the order in which they were opened.
    private(set) var connections: [ConnectionID] = []
    private(set) var targets: [StreamSession.Target] = []

    /// By default without jitter, so that times are exact.
    init(
        limit: ReconnectPolicy.Limit = .attempts(3),
        permanent: ReconnectPolicy.PermanentFailures = .endBeforeFirstPublishing,
        jitter: Double = 0, seed: UInt64 = 1, statusInterval: Duration = .seconds(30)
    ) {
        session = StreamSession(
            settings: StreamSessionSettings(
                reconnect: ReconnectPolicy(limit: limit, permanentFailures: permanent, jitter: jitter),
                statusInterval: statusInterval),
            seed: seed)
    }

    enum Step {
        case start, sourcesOpened, stop, restart, reencode
        case connected(Int), publishing(Int), failed(Int, ConnectionFailure), stalled(Int, ConnectionFailure)
        case closed(Int)
        case move(Int, String?), keyframe
        case linkDown, linkUp(stalled: Bool)
        case silent(Int), resumed(Int)
        case way, addressGone
        case timer
    }

    /// Plays one event now. Timer actions are applied rather than recorded.
    mutating func play(_ step: Step) -> [String] {
        let actions =
            switch step {
            case .start: session.startRequested(now: now)
            case .sourcesOpened: session.sourcesOpened(now: now)
            case .stop: session.stopRequested(now: now)
            case .restart: session.restartRequested(now: now)
            case .reencode: session.restartRequested(isContinuation: true, now: now)
            case .connected(let index): session.serverConnected(connections[index - 1], server: "host:1935", now: now)
            case .publishing(let index): session.publishingStarted(connections[index - 1], now: now)
            case .failed(let index, let failure): session.connectionFailed(connections[index - 1], failure, now: now)
            case .stalled(let index, let failure):
                session.connectionStalled(connections[index - 1], failure, now: now)
            case .closed(let index): session.connectionClosed(connections[index - 1], now: now)
            case .move(let index, let url):
                session.reconnectRequested(connections[index - 1], tcURL: url.map { Secret($0) }, now: now)
            case .keyframe: session.keyframeReached(now: now)
            case .linkDown: session.linkWentDown(now: now)
            case .linkUp(let stalled): session.linkCameUp(isTransferStalled: stalled, now: now)
            case .silent(let index): session.peerBecameUnresponsive(connections[index - 1], now: now)
            case .resumed(let index): session.transferResumed(connections[index - 1], now: now)
            case .way: session.routeAppeared(now: now)
            case .addressGone: session.addressDisappeared(now: now)
            case .timer: session.timerFired(now: now)
            }
        return actions.compactMap { note($0) }
    }

    /// Plays all steps at the same moment.
    mutating func play(_ steps: [Step]) -> [String] { steps.flatMap { play($0) } }

    /// Advances the time; the timer fires when it is due. Each action is recorded with its time in seconds.
    mutating func wait(_ duration: Duration) -> [String] {
        let end = now + duration
        var log: [String] = []
        while let due = timer, due <= end {
            now = max(now, due)
            timer = nil
            log += play(.timer).map { "\((now - .zero).inSeconds) \($0)" }
        }
        now = end
        return log
    }

    private mutating func note(_ action: StreamSession.Action) -> String? {
        switch action {
        case .openConnection(let id, let target):
            connections.append(id)
            targets.append(target)
            return "open \(connections.count)"
        case .startMedia(let id): return "media \(number(id))"
        case .closeConnection(let id): return "close \(number(id))"
        case .parkConnection(let id): return "park \(number(id))"
        case .abortConnection(let id): return "abort \(number(id))"
        case .requestKeyframe: return "keyframe"
        case .setTimer(let deadline):
            timer = deadline
            return nil
        case .reportStatus: return "status"
        case .emit(.stateChanged(let state)): return state.rawValue
        case .emit(let event): return "\(event.code?.rawValue ?? 0)"
        case .completeStart(let result):
            switch result {
            case .publishing: return "started"
            case .failed(let failure): return "start failed \(failure.code)"
            case .canceled: return "start canceled"
            case .alreadyRunning: return "already running"
            }
        case .completeStop: return "stopped"
        }
    }

    private func number(_ id: ConnectionID) -> String {
        connections.firstIndex(of: id).map { "\($0 + 1)" } ?? "never opened"
    }
}

let refused = ConnectionFailure(code: -1001, text: "refused")
let notFound = ConnectionFailure(code: -1000, text: "not found")
let badName = ConnectionFailure(code: -1008, text: "name in use")
let wrongPassword = ConnectionFailure(code: -1005, text: "wrong password", isPermanent: true)
let reset = ConnectionFailure(code: -1013, text: "reset by peer")
