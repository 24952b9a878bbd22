import LinuxIO
import Media
import RTMP
import StreamQuality
import Transport

/// What the network thread tells the main thread.
enum NetworkReport: Sendable {
    /// TCP stands; the peer's address.
    case connected(peer: String)
    /// From `begin` on, media is part of the stream.
    case publishingStarted(begin: MediaTimestamp)
    /// The send buffer has something to say.
    case buffer([SendBufferEvent])
    /// The stream was ended as the protocol asks.
    case stopped
    case failed(CommandFailure)
}

/// Connects, publishes, and sends what the queue holds: the work of the network thread.
final class NetworkThread {
    /// How long the goodbye and what is still buffered may take after a stop.
    static let stopLimit = Duration.milliseconds(900)

    private let configuration: PublishConfiguration
    private let queue: MediaQueue
    private let counters: SharedCounters
    private let reports: Mailbox<NetworkReport>
    private let stop: EventFD

    init(
        configuration: PublishConfiguration, queue: MediaQueue, counters: SharedCounters,
        reports: Mailbox<NetworkReport>, stop: EventFD
    ) {
        self.configuration = configuration
        self.queue = queue
        self.counters = counters
        self.reports = reports
        self.stop = stop
    }

    func run() {
        do {
            try publish()
            reports.send(.stopped)
        } catch TransportError.cancelled {
            reports.send(.stopped)
        } catch let error as TransportError {
            reports.send(.failed(CommandFailure(.connection, code: error.code ?? 0, "\(error)")))
        } catch let failure as CommandFailure {
            reports.send(.failed(failure))
        } catch {
            reports.send(.failed(CommandFailure(.system, "\(error)")))
        }
    }

    private func publish() throws {
        let endpoint = Endpoint(host: configuration.url.host, port: configuration.url.port)
        let stream = try Connector.connect(to: endpoint, cancellation: stop)
        defer { stream.close() }
        reports.send(.connected(peer: stream.peer))
        let connection = PublishConnection(stream: stream, configuration: configuration)
        if try handle(connection.open(), on: connection) { return }
        try serve(connection)
    }

    /// The loop of a connection, until it is over.
    private func serve(_ connection: PublishConnection) throws {
        var stopDeadline: MediaTimestamp?
        var saidGoodbye = false
        while true {
            if connection.isPublishing { try sendQueued(connection) }
            let isDone = stopDeadline != nil && !connection.isPublishing || queueIsDone(connection)
            if isDone && !saidGoodbye {
                saidGoodbye = true
                stopDeadline = stopDeadline ?? MonotonicClock.now() + Self.stopLimit
                if try handle(connection.stop(), on: connection) { return }
            }
            var entries = [
                PollEntry(connection.fileDescriptor, connection.pollEvents),
                PollEntry(connection.isIdle ? queue.wakeup.fileDescriptor : -1),
                PollEntry(stopDeadline == nil ? stop.fileDescriptor : -1),
            ]
            try poll(&entries, until: earliest(connection.nextDeadline, stopDeadline))
            if entries[1].ready.contains(.readable) { queue.wakeup.drain() }
            if entries[2].ready.contains(.readable) {
                // The tracks end too; what they leave is sent if the network takes it in time.
                stopDeadline = MonotonicClock.now() + Self.stopLimit
            }
            if try handle(connection.service(ready: entries[0].ready), on: connection) { return }
            if let stopDeadline, MonotonicClock.now() >= stopDeadline { return }
        }
    }

    private func queueIsDone(_ connection: PublishConnection) -> Bool {
        connection.isPublishing && connection.isIdle && queue.isFinished
    }

    private func sendQueued(_ connection: PublishConnection) throws {
        while connection.isIdle, let packet = queue.take() {
            counters.update { $0.packetSent(packet) }
            _ = try connection.send(packet)
        }
        let events = queue.kernelQueueMeasured(unsentBytes: connection.unsentByteCount)
        if !events.isEmpty { reports.send(.buffer(events)) }
    }

    /// - Returns: whether the connection is over.
    private func handle(_ occurrences: [PublishConnection.Occurrence], on connection: PublishConnection) throws -> Bool {
        for occurrence in occurrences {
            switch occurrence {
            case .publishingStarted:
                // The tracks begin at this moment; so does RTMP's time.
                let begin = MonotonicClock.now()
                connection.mediaBegan(at: begin)
                queue.mediaBegan(at: begin)
                reports.send(.publishingStarted(begin: begin))
            case .acknowledged: break
            case .stopped: return true
            case .failed(let error):
                throw CommandFailure(.connection, code: error.code, "\(connection.peer): \(error)")
            }
        }
        return false
    }

    private func earliest(_ first: MediaTimestamp?, _ second: MediaTimestamp?) -> MediaTimestamp? {
        guard let first, let second else { return first ?? second }
        return min(first, second)
    }
}
