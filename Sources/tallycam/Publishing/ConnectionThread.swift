import ApplianceLogic
import LinuxIO
import Media
import RTMP
import StreamQuality
import Transport

/// What a connection's thread is told.
enum ConnectionCommand: Sendable {
    /// Shake hands and publish, after `connected` was reported.
    case shakeHands
    /// Send the queue's media from now on, behind these sequence headers; `timeZero` is RTMP's.
    case beginMedia(timeZero: MediaTimestamp, headers: [EncodedPacket])
    /// Send up to the next key frame, and report when it is reached.
    case holdAtKeyFrame
    /// Send what waits if the network takes it soon, then say goodbye.
    case close
    /// Nothing gets through: send nothing more, and wait for `abort`.
    case fallSilent
    /// End at once; the server is told if it can be.
    case abort
}

/// What a connection's thread tells the main thread.
struct ConnectionReport: Sendable {
    enum Content: Sendable {
        /// The thread waits for `shakeHands`: connections that hold the stream's name are ended first.
        case connected(server: String, from: SocketAddress?)
        case publishing
        case failed(ConnectionFailure)
        /// Nothing gets through any more. The thread waits for `abort`: a server that is told of the end when it
        /// can be reached again gives the stream's name free at once, instead of when it misses the publisher.
        case stalled(ConnectionFailure)
        /// What was sent, and sent again, stays unanswered.
        case fellSilent
        /// Something has arrived after all.
        case resumed
        case closed
        /// Everything was sent, and the tracks have ended.
        case drained
        case keyFrameReached
        case reconnectRequested(RTMPURL)
        case reconnectRefused(ReconnectRefusal)
        case buffer([SendBufferEvent])
    }

    let id: ConnectionID
    let content: Content
}

/// Connects, publishes, and sends what the queue holds: the work of one connection's thread.
final class ConnectionThread {
    /// How long what waits may take to be sent when the stream ends.
    private static let drainLimit = Duration.milliseconds(400)
    /// How long the goodbye may take after that.
    private static let goodbyeLimit = Duration.milliseconds(200)

    /// For how long a dead connection is kept, to be aborted when the server can be reached again. Servers
    /// miss a publisher sooner than that.
    private static let stalledLimit = Duration.seconds(180)
    private static let measurementInterval = Duration.milliseconds(20)
    /// TCP's own repetitions come after seconds when a few were lost: too late for the return of a way that nobody
    /// tells of.
    private static let repetition = Duration.milliseconds(300)

    private let id: ConnectionID
    private let configuration: PublishConfiguration
    private let authorityFile: String?
    private let limits: StepLimits
    private let queue: MediaQueue
    private let counters: SharedCounters
    private let commands: Mailbox<ConnectionCommand>
    private let reports: Mailbox<ConnectionReport>

    private var sendsMedia = false
    /// To be sent before anything from the queue.
    private var headers: ArraySlice<EncodedPacket> = []
    /// Whether the metadata is still to be sent, before everything else.
    private var owesMetadata = true
    private var holdsAtKeyFrame = false
    private var hasReportedDrained = false
    private var drainDeadline: MediaTimestamp?
    private var saidGoodbye = false
    private var watch = TransferWatch()
    private var isSilent = false

    init(
        id: ConnectionID, configuration: PublishConfiguration, authorityFile: String?, limits: StepLimits,
        queue: MediaQueue, counters: SharedCounters, commands: Mailbox<ConnectionCommand>,
        reports: Mailbox<ConnectionReport>
    ) {
        self.id = id
        self.configuration = configuration
        self.authorityFile = authorityFile
        self.limits = limits
        self.queue = queue
        self.counters = counters
        self.commands = commands
        self.reports = reports
    }

    func run() {
        do {
            try publish()
            report(.closed)
        } catch TransportError.cancelled {
            report(.closed)
        } catch let error as TransportError {
            report(.failed(ConnectionFailure(error)))
        } catch let failure as ConnectionFailure {
            report(.failed(failure))
        } catch {
            report(.failed(ConnectionFailure(code: EventCode.socketFailed.rawValue, text: "\(error)")))
        }
    }

    private func report(_ content: ConnectionReport.Content) {
        reports.send(ConnectionReport(id: id, content: content))
    }

    private func publish() throws {
        let stream = try connect()
        report(.connected(server: stream.peer, from: stream.localAddress))
        guard try waitForLeave() else { return stream.close() }
        let connection = PublishConnection(stream: stream, configuration: configuration)
        defer { connection.close() }
        if try handle(connection.open(), on: connection) { return }
        while try serve(connection) {}
    }

    private func connect() throws -> any ByteStream {
        let url = configuration.url
        let security: TransportSecurity =
            url.scheme == .rtmps ? .tls(try TLSContext.shared(authorityFile: authorityFile)) : .none
        // The watch notices a dead peer; the kernel's own end of the connection would leave the server unaware.
        var settings = TCPSettings()
        settings.userTimeout = Self.stalledLimit
        // What the kernel holds cannot be given up for newer pictures.
        settings.unsentByteLimit = settings.unsentLowWaterByteCount
        // Before media flows the only command is to end it.
        return try Connector.connect(
            to: Endpoint(host: url.host, port: url.port), security: security,
            limits: limits.connection(repetition: Self.repetition), settings: settings,
            cancellation: commands.wakeup.fileDescriptor)
    }

    /// - Returns: false when the connection is to end instead.
    private func waitForLeave() throws -> Bool {
        var mayGoOn = false
        while !mayGoOn {
            var entries = [PollEntry(commands.wakeup.fileDescriptor)]
            try poll(&entries, until: nil)
            for command in commands.takeAll() {
                switch command {
                case .shakeHands: mayGoOn = true
                case .close, .fallSilent, .abort: return false
                case .beginMedia, .holdAtKeyFrame: break
                }
            }
        }
        return true
    }

    /// One turn of the loop.
    /// - Returns: false when the connection is over.
    private func serve(_ connection: PublishConnection) throws -> Bool {
        if sendsMedia { try sendQueued(connection) }
        if sendsMedia,
            watch.measured(
                delivered: connection.deliveredByteCount, pending: connection.unacknowledgedByteCount,
                now: MonotonicClock.now())
        {
            report(.stalled(ConnectionFailure(TransportError.timedOut(peer: connection.peer, .transfer))))
            return try waitForAbort(connection)
        }
        if sendsMedia { noticeSilence(of: connection) }
        if try sayGoodbyeIfDue(connection) { return false }
        var entries = [
            PollEntry(connection.fileDescriptor, connection.pollEvents),
            PollEntry(sendsMedia && connection.isIdle ? queue.wakeup.fileDescriptor : -1),
            PollEntry(commands.wakeup.fileDescriptor),
        ]
        let deadlines = [
            connection.nextDeadline, drainDeadline, sendsMedia ? watch.deadline : nil, nextMeasurement(connection),
        ]
        try poll(&entries, until: deadlines.compactMap { $0 }.min())
        if entries[1].ready.contains(.readable) { queue.wakeup.drain() }
        if entries[2].ready.contains(.readable) {
            if try !perform(commands.takeAll()[...], on: connection) { return false }
        }
        return try !handle(connection.service(ready: entries[0].ready), on: connection)
    }

    private func noticeSilence(of connection: PublishConnection) {
        // Until something arrives: between two repetitions nobody knows.
        let isSilentNow = watch.hasPaused(now: MonotonicClock.now()) && (isSilent || connection.isUnanswered)
        guard isSilentNow != isSilent else { return }
        isSilent = isSilentNow
        report(isSilent ? .fellSilent : .resumed)
    }

    /// While something is on its way the kernel's queue is looked at even if nothing else happens.
    private func nextMeasurement(_ connection: PublishConnection) -> MediaTimestamp? {
        guard sendsMedia, connection.unacknowledgedByteCount > 0 else { return nil }
        return MonotonicClock.now() + Self.measurementInterval
    }

    /// - Returns: false when the connection is over.
    private func perform(_ commands: ArraySlice<ConnectionCommand>, on connection: PublishConnection) throws -> Bool {
        guard let command = commands.first else { return true }
        let others = commands.dropFirst()
        switch command {
        case .shakeHands: break
        case .beginMedia(let timeZero, let headers):
            connection.mediaBegan(at: timeZero)
            self.headers = headers[...]
            holdsAtKeyFrame = false
            sendsMedia = true
        case .holdAtKeyFrame: holdsAtKeyFrame = true
        case .close: drainDeadline = MonotonicClock.now() + Self.drainLimit
        case .fallSilent: return try waitForAbort(connection, before: others)
        case .abort:
            connection.abort()
            return false
        }
        return try perform(others, on: connection)
    }

    /// - Parameter others: commands that are taken already.
    /// - Returns: false, as the connection is over.
    private func waitForAbort(
        _ connection: PublishConnection, before others: ArraySlice<ConnectionCommand> = []
    ) throws -> Bool {
        var taken = others
        while true {
            for case .abort in taken {
                connection.abort()
                return false
            }
            defer { taken = commands.takeAll()[...] }
            var entries = [PollEntry(commands.wakeup.fileDescriptor)]
            try poll(&entries, until: nil)
        }
    }

    private func sendQueued(_ connection: PublishConnection) throws {
        while connection.isIdle {
            if holdsAtKeyFrame, headers.isEmpty, queue.isBeginningNext {
                sendsMedia = false
                report(.keyFrameReached)
                break
            }
            guard let packet = headers.popFirst() ?? takeFromQueue() else { break }
            if owesMetadata {
                owesMetadata = false
                headers = [packet] + headers
                _ = try handle(connection.sendMetadata(at: packet.decodeTime), on: connection)
                continue
            }
            _ = try handle(connection.send(packet), on: connection)
        }
        let events = queue.kernelQueueMeasured(
            unsentBytes: connection.unsentByteCount, unacknowledgedBytes: connection.unacknowledgedByteCount)
        if !events.isEmpty { report(.buffer(events)) }
        if connection.isIdle, queue.isFinished, !hasReportedDrained {
            hasReportedDrained = true
            report(.drained)
        }
    }

    private func takeFromQueue() -> EncodedPacket? {
        guard let packet = queue.take() else { return nil }
        counters.update { $0.packetSent(packet) }
        return packet
    }

    /// - Returns: whether the connection is over.
    private func sayGoodbyeIfDue(_ connection: PublishConnection) throws -> Bool {
        guard let drainDeadline, !saidGoodbye else { return false }
        let isDrained = connection.isIdle && (!sendsMedia || queue.isDrained)
        guard isDrained || MonotonicClock.now() >= drainDeadline else { return false }
        saidGoodbye = true
        self.drainDeadline = nil
        sendsMedia = false
        return try handle(connection.stop(within: Self.goodbyeLimit), on: connection)
    }

    /// - Returns: whether the connection is over.
    private func handle(_ occurrences: [PublishConnection.Occurrence], on connection: PublishConnection) throws -> Bool
    {
        for occurrence in occurrences {
            switch occurrence {
            case .publishingStarted: report(.publishing)
            case .acknowledged: break
            case .reopeningWanted: return try handle(connection.reopen(on: connect()), on: connection)
            case .reconnectRequested(let url): report(.reconnectRequested(url))
            case .reconnectRefused(let refusal): report(.reconnectRefused(refusal))
            case .stopped: return true
            case .failed(let error): throw ConnectionFailure(error, peer: connection.peer)
            }
        }
        return false
    }
}

extension ConnectionFailure {
    init(_ error: TransportError) {
        // Certificates to trust do not come by themselves.
        let isPermanent = if case .tlsUnavailable = error { true } else { false }
        self.init(code: error.code ?? EventCode.socketFailed.rawValue, text: "\(error)", isPermanent: isPermanent)
    }

    init(_ error: PublishError, peer: String) {
        self.init(code: error.code, text: "\(peer): \(error)", isPermanent: !error.mayPassByItself)
    }
}
