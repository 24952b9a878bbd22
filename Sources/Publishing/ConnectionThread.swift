import Encoding
import LinuxIO
import Media
import MediaPipeline
import RTMP
import StreamLogic
import Transport

/// Connects, publishes and sends the queue: the work of one connection's thread.
final class ConnectionThread {
    /// How long sending waiting media may take at the stream's end.
    private static let drainTimeout = Duration.milliseconds(400)
    /// How long the goodbye may take after that.
    private static let goodbyeTimeout = Duration.milliseconds(200)

    /// How long to keep a dead connection, to abort it when the server can be reached again. Servers notice a missing
    /// publisher sooner.
    private static let stalledTimeout = Duration.seconds(180)
    private static let measurementInterval = Duration.milliseconds(20)
    /// After a few losses, TCP retransmits only every few seconds. That is too slow for a route whose return is not
    /// reported.
    private static let repetition = Duration.milliseconds(300)

    private let id: ConnectionID
    private let plan: ConnectionPlan
    private let network: PublisherNetwork
    private let queue: SinkBuffer
    private let commands: Mailbox<ConnectionCommand>
    private let send: @Sendable (ConnectionEvent) -> Void

    /// What `serve` waits for.
    private enum Waited {
        case stream, queue, commands
    }

    private var sendsMedia = false
    /// To be sent before anything from the queue.
    private var headers: ArraySlice<EncodedPacket> = []
    /// Whether the metadata is still to be sent, before everything else.
    private var owesMetadata = true
    private var holdsAtKeyframe = false
    private var hasReportedDrained = false
    private var drainDeadline: MediaTimestamp?
    private var saidGoodbye = false
    private var watch = TransferWatch()
    private var isSilent = false

    init(
        id: ConnectionID, plan: ConnectionPlan, network: PublisherNetwork, queue: SinkBuffer,
        commands: Mailbox<ConnectionCommand>, report: @escaping @Sendable (ConnectionEvent) -> Void
    ) {
        self.id = id
        self.plan = plan
        self.network = network
        self.queue = queue
        self.commands = commands
        send = report
    }

    func run() {
        do {
            try publish()
            report(.closed)
        } catch TransportError.canceled {
            report(.closed)
        } catch let error as TransportError {
            report(.failed(ConnectionFailure(error)))
        } catch let failure as ConnectionFailure {
            report(.failed(failure))
        } catch {
            // The clock may be set later, and the disk may get room again, so do not give up for good.
            report(.failed(ConnectionFailure(code: EventCode.socketFailed.rawValue, text: "\(error)")))
        }
    }

    private func report(_ content: ConnectionEvent.Content) {
        send(ConnectionEvent(id: id, content: content))
    }

    /// Servers close a connection that stays silent: MediaMTX after 10 s.
    private static let longestSilence = Duration.seconds(3)

    private func publish() throws {
        var configuration = try plan.configuration(cancellation: commands.wakeup.fileDescriptor)
        var stream = try connect(to: configuration.url)
        let start = MonotonicClock.now()
        report(.connected(server: stream.peer, from: stream.localAddress))
        guard let metadata = try awaitHandshakeOrder() else { return stream.close() }
        configuration.metadata = metadata
        // Opening the camera may have taken long.
        if MonotonicClock.now() - start > Self.longestSilence {
            stream.close()
            stream = try connect(to: configuration.url)
        }
        let connection = PublishConnection(stream: stream, configuration: configuration)
        defer { connection.close() }
        if try handle(connection.open(), on: connection) { return }
        var waits = PollSet<Waited>()
        while try serve(connection, &waits) {}
    }

    private func connect(to url: RTMPURL) throws -> any ByteStream {
        // The watch detects a dead peer. If the kernel ended the connection, the server would not learn of it.
        var settings = TCPSettings()
        settings.userTimeout = Self.stalledTimeout
        // Bytes in the kernel can no longer be dropped for newer frames.
        settings.unsentByteLimit = settings.unsentLowWaterByteCount
        let stream = try network.connect(
            PublisherNetwork.Request(
                url: url, authorityFile: plan.destination.authorityFile,
                timeouts: plan.timeouts.connection(repetition: Self.repetition), settings: settings, card: plan.card,
                // Before media flows the only command is to end it.
                cancellation: commands.wakeup.fileDescriptor))
        if let reason = stream.fallbackReason { report(.tlsFallback(reason: reason)) }
        return stream
    }

    /// - Returns: `nil` if the connection should end instead.
    private func awaitHandshakeOrder() throws -> StreamMetadata? {
        var ordered: StreamMetadata?
        while ordered == nil {
            var entries = [PollEntry(commands.wakeup.fileDescriptor)]
            try poll(&entries, until: nil)
            for command in commands.takeAll() {
                switch command {
                case .startHandshake(let metadata): ordered = metadata
                case .close, .parkUntilAbort, .abort: return nil
                case .startMedia, .holdAtKeyframe: break
                }
            }
        }
        return ordered
    }

    /// One turn of the loop.
    /// - Returns: false when the connection is over.
    private func serve(_ connection: PublishConnection, _ waits: inout PollSet<Waited>) throws -> Bool {
        if sendsMedia { try sendQueued(connection) }
        if sendsMedia,
            watch.measured(
                delivered: connection.deliveredByteCount, pending: connection.unacknowledgedByteCount,
                now: MonotonicClock.now())
        {
            report(.peerDead(ConnectionFailure(TransportError.timedOut(peer: connection.peer, .transfer))))
            return try waitForAbort(connection)
        }
        if sendsMedia { checkSilence(of: connection) }
        if try sayGoodbyeIfDue(connection) { return false }
        waits.removeAll()
        waits.add(.stream, connection.fileDescriptor, for: connection.pollEvents)
        waits.add(.queue, sendsMedia && connection.isIdle ? queue.wakeup.fileDescriptor : -1)
        waits.add(.commands, commands.wakeup.fileDescriptor)
        waits.wake(at: connection.nextDeadline)
        waits.wake(at: drainDeadline)
        if sendsMedia { waits.wake(at: watch.deadline) }
        waits.wake(at: nextMeasurement(connection))
        try waits.wait()
        if waits.ready(.queue).contains(.readable) { queue.wakeup.drain() }
        if waits.ready(.commands).contains(.readable) {
            if try !perform(commands.takeAll()[...], on: connection) { return false }
        }
        return try !handle(connection.service(ready: waits.ready(.stream)), on: connection)
    }

    private func checkSilence(of connection: PublishConnection) {
        // Keep it until something arrives: between two retransmissions the state is unknown.
        let isSilentNow = watch.hasPaused(now: MonotonicClock.now()) && (isSilent || connection.isUnanswered)
        guard isSilentNow != isSilent else { return }
        isSilent = isSilentNow
        report(isSilent ? .peerUnresponsive : .resumed)
    }

    /// While bytes are in flight, check the kernel's queue even if nothing else happens.
    private func nextMeasurement(_ connection: PublishConnection) -> MediaTimestamp? {
        guard sendsMedia, connection.unacknowledgedByteCount > 0 else { return nil }
        return MonotonicClock.now() + Self.measurementInterval
    }

    /// - Returns: false when the connection is over.
    private func perform(_ commands: ArraySlice<ConnectionCommand>, on connection: PublishConnection) throws -> Bool {
        guard let command = commands.first else { return true }
        let others = commands.dropFirst()
        switch command {
        case .startHandshake: break
        case .startMedia(let timeZero, let headers):
            connection.mediaStarted(at: timeZero)
            self.headers = headers[...]
            holdsAtKeyframe = false
            sendsMedia = true
        case .holdAtKeyframe: holdsAtKeyframe = true
        case .close: drainDeadline = MonotonicClock.now() + Self.drainTimeout
        case .parkUntilAbort: return try waitForAbort(connection, before: others)
        case .abort:
            tellDelivered(by: connection)
            connection.abort()
            return false
        }
        return try perform(others, on: connection)
    }

    /// - Parameter others: commands already taken from the queue.
    /// - Returns: false, because the connection is over.
    private func waitForAbort(
        _ connection: PublishConnection, before others: ArraySlice<ConnectionCommand> = []
    ) throws -> Bool {
        var taken = others
        while true {
            for case .abort in taken {
                tellDelivered(by: connection)
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
            if holdsAtKeyframe, headers.isEmpty, queue.isStartingNext {
                sendsMedia = false
                report(.keyframeReached)
                break
            }
            guard let packet = headers.popFirst() ?? queue.take() else { break }
            if connection.needsMetadata(before: packet) { owesMetadata = true }
            if owesMetadata {
                owesMetadata = false
                headers = [packet] + headers
                _ = try handle(connection.sendMetadata(at: packet.decodeTime), on: connection)
                continue
            }
            _ = try handle(connection.send(packet), on: connection)
            queue.handedOver(packet, endByteCount: connection.handedOverByteCount, on: id)
        }
        measureQueue(connection)
        if connection.isIdle, queue.isFinished, !hasReportedDrained {
            hasReportedDrained = true
            report(.drained)
        }
    }

    private func measureQueue(_ connection: PublishConnection) {
        let unacknowledged = connection.unacknowledgedByteCount
        queue.kernelQueueMeasured(unsentBytes: connection.unsentByteCount, unacknowledgedBytes: unacknowledged)
        queue.delivered(byteCount: connection.handedOverByteCount - unacknowledged, on: id)
    }

    /// What has arrived since the last look is not missing. To be called before the connection is closed.
    private func tellDelivered(by connection: PublishConnection) {
        queue.delivered(byteCount: connection.handedOverByteCount - connection.unacknowledgedByteCount, on: id)
    }

    /// - Returns: whether the connection is over.
    private func sayGoodbyeIfDue(_ connection: PublishConnection) throws -> Bool {
        guard let drainDeadline, !saidGoodbye else { return false }
        let isDrained = connection.isIdle && (!sendsMedia || queue.isDrained)
        guard isDrained || MonotonicClock.now() >= drainDeadline else { return false }
        saidGoodbye = true
        self.drainDeadline = nil
        sendsMedia = false
        return try handle(connection.stop(within: Self.goodbyeTimeout), on: connection)
    }

    /// - Returns: whether the connection is over.
    private func handle(_ events: [PublishConnection.Event], on connection: PublishConnection) throws -> Bool {
        for event in events {
            switch event {
            case .publishingStarted: report(.publishing)
            case .acknowledged: break
            case .reopeningWanted:
                return try handle(connection.reopen(on: connect(to: connection.url)), on: connection)
            case .reconnectRequested(let url): report(.reconnectRequested(url))
            case .reconnectRefused(let refusal): report(.reconnectRefused(refusal))
            case .stopped:
                tellDelivered(by: connection)
                return true
            case .failed(let error): throw ConnectionFailure(error, peer: connection.peer)
            }
        }
        return false
    }
}

extension ConnectionFailure {
    init(_ error: TransportError) {
        // Missing certificates will not appear by themselves.
        let isPermanent = if case .tlsUnavailable = error { true } else { false }
        self.init(code: error.code ?? EventCode.socketFailed.rawValue, text: "\(error)", isPermanent: isPermanent)
    }

    init(_ error: PublishError, peer: String) {
        self.init(code: error.code, text: "\(peer): \(error)", isPermanent: !error.mayPassByItself)
    }
}
