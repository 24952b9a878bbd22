import Bitstream
import Glibc
import LinuxIO
import Media
import Publishing
import RTMP
import StreamLogic
import Transport

/// Publishes an encoded file as it is. One thread; holds one tag and one block of the file at a time.
public final class FilePublisher {
    /// How late the server's messages and signals may be noticed between two tags. Sleeping costs half as much as polling, and
    /// tags come every few milliseconds.
    private static let pollInterval = Duration.milliseconds(200)
    /// A tag that has to wait may be this late, so that the next ones can go with it: waking up costs more than sending, and
    /// encoders and networks vary more.
    private static let latenessNanoseconds: Int64 = 10_000_000
    private static let stopTimeout = Duration.milliseconds(400)

    private let path: String
    let settings: PublishSettings
    let reporter: EventSink
    private let signals: SignalFD
    private let input: any TagInput
    private let destination: PublishDestination
    private let url: RTMPURL
    private let network: PublisherNetwork
    private var waits: PollSet<Waited>
    @exclusivity(unchecked) private var nextPollTime = MediaTimestamp.zero
    /// Whether a signal has asked for the end.
    @exclusivity(unchecked) private var isEnding = false
    var state = StreamState.unknown

    private enum Waited {
        case connection, signals, input
    }

    /// State that changes with every tag. It is outside the object, because Swift checks each access to an object's properties
    /// for overlaps at run time.
    private struct Progress {
        var tally = MediaTally()
        var watch: PlatformWatch
        var status: FileStatusReporter
    }

    public init(
        _ file: PublishedFile, settings: PublishSettings, network: PublisherNetwork = .ofThisMachine,
        reporter: EventSink
    ) throws {
        path = file.path
        self.network = network
        self.settings = settings
        self.reporter = reporter
        guard let destination = settings.destinations.leading else {
            throw StreamFailure(.settings, "no server to publish to")
        }
        self.destination = destination
        url = try destination.connectionURL()
        signals = try SignalFD([SIGINT, SIGTERM, SIGUSR1])
        waits = [.connection: -1, .signals: signals.fileDescriptor, .input: -1]
        input = try file.open()
    }

    public func run() throws {
        var progress = Progress(
            watch: PlatformWatch(destination.platform),
            status: FileStatusReporter(interval: settings.statusInterval))
        do {
            try publish(&progress)
        } catch {
            enter(.error)
            guard let error = error as? TransportError else { throw error }
            throw StreamFailure(.connection, code: error.code.flatMap(EventCode.init), "\(error)")
        }
        enter(.disconnected)
        reporter.emit(.fileEnded(progress.tally))
    }

    private func publish(_ progress: inout Progress) throws {
        // Before connecting, check that the file has at least one tag.
        guard let first = try nextTag(&progress, on: nil) else {
            guard isEnding else { throw StreamFailure(.media, "\(path): the file holds no tags") }
            return
        }
        for note in input.notes { reporter.log("warning: \(note)") }
        reporter.log("publishing to \(destination.label)")
        enter(.connecting)
        guard let stream = try connect() else { return }
        reporter.emit(.connected(server: stream.peer))
        let configuration = PublishConfiguration(
            url: url, encoderName: "Tallycam/\(Program.version)", randomBytes: try randomBytes(count: 1528),
            metadata: nil, timeouts: settings.timeouts.session, md5: { MD5.digest(of: $0) })
        let connection = PublishConnection(stream: stream, configuration: configuration)
        defer { connection.close() }
        do {
            try publish(first, &progress, on: connection)
        } catch let failure as StreamFailure where failure.kind == .media {
            // The earlier tags are good and must arrive.
            try sayGoodbye(on: connection)
            throw failure
        }
    }

    /// At full speed nothing is late, so waking up for each 16 KB would only cost time.
    private var tcpSettings: TCPSettings {
        var tcp = TCPSettings()
        if settings.pace == .fast { tcp.unsentLowWaterByteCount = tcp.sendBufferByteCount }
        return tcp
    }

    /// - Returns: `nil` if a signal came first.
    private func connect() throws -> (any ByteStream)? {
        while !isEnding {
            do {
                let stream = try network.connect(
                    PublisherNetwork.Request(
                        url: url, authorityFile: destination.authorityFile,
                        timeouts: settings.timeouts.connection(), settings: tcpSettings, card: settings.card,
                        cancellation: signals.fileDescriptor))
                if let reason = stream.fallbackReason { reporter.emit(.tlsFallback(reason: reason)) }
                return stream
            } catch {
                guard error == .canceled else { throw error }
                takeSignals()
            }
        }
        return nil
    }

    private func publish(_ first: FLVTag, _ progress: inout Progress, on connection: PublishConnection) throws {
        var events = try connection.open()
        while !connection.isPublishing {
            if try handle(events, on: connection) || isEnding { return }
            events = try wait(for: connection, until: connection.nextDeadline)
        }
        reporter.emit(.publishing(destination: destination.label))
        enter(.live)
        progress.status.start(now: MonotonicClock.now())
        let isPaced = settings.pace == .realtime
        var clock = PlaybackClock()
        var tag: FLVTag? = first
        while let current = tag {
            clock.tagRead(current, now: MonotonicClock.now())
            let due = isPaced ? clock.due : nil
            if let duration = settings.media.duration, clock.offset >= duration { break }
            if try !waitUntilSendable(connection, due: due, &progress) { break }
            do throws(StreamFailure) {
                if let warning = try progress.watch.tagRead(current) { reporter.log("warning: \(warning)") }
            } catch {
                throw StreamFailure(error.kind, code: error.code, "\(path): \(error.text)")
            }
            if try handle(connection.send(current), on: connection) { return }
            progress.tally.add(current)
            tag = try nextTag(&progress, on: connection)
        }
        try sayGoodbye(on: connection)
    }

    /// Waits until the tag is due and the previous one is written.
    /// - Returns: false if the stream should end.
    private func waitUntilSendable(
        _ connection: PublishConnection, due: MediaTimestamp?, _ progress: inout Progress
    ) throws -> Bool {
        while !isEnding, !connection.isIdle || due.map({ MonotonicClock.now() < $0 }) ?? false {
            if let due, due < nextPollTime, connection.isIdle {
                MonotonicClock.sleep(until: MediaTimestamp(nanoseconds: due.nanoseconds &+ Self.latenessNanoseconds))
                break
            }
            // When everything is written, only the server's messages and the clock matter.
            let deadlines = [connection.isIdle ? due : connection.nextDeadline, progress.status.nextTime]
            if try handle(wait(for: connection, until: deadlines.compactMap { $0 }.min()), on: connection) {
                return false
            }
            tellStatus(&progress)
        }
        return !isEnding
    }

    private func wait(
        for connection: PublishConnection, until deadline: MediaTimestamp?
    ) throws -> [PublishConnection.Event] {
        waits.update(.connection, connection.fileDescriptor, for: connection.pollEvents)
        try waits.wait(until: deadline)
        nextPollTime = MonotonicClock.now() + Self.pollInterval
        if waits.isReady(.signals) { takeSignals() }
        let ready = waits.ready(.connection)
        // If only the next tag is due, the connection needs no work.
        if ready.isEmpty, connection.nextDeadline == nil { return [] }
        return try connection.service(ready: ready)
    }

    private func takeSignals() {
        while let signal = signals.next() {
            if signal == SIGUSR1 {
                reporter.log("a file is sent as it is: it cannot be muted")
            } else {
                isEnding = true
            }
        }
    }

    private func tellStatus(_ progress: inout Progress) {
        guard let status = progress.status.due(progress.tally, state: state, now: MonotonicClock.now()) else { return }
        reporter.emit(.fileStatus(status))
    }

    private func sayGoodbye(on connection: PublishConnection) throws {
        enter(.disconnecting)
        // A person who interrupts does not want to wait. A file that was read to its end should arrive completely.
        var timeout = isEnding ? Self.stopTimeout : .seconds(5)
        var deadline = MonotonicClock.now() + timeout
        while !connection.isIdle, MonotonicClock.now() < deadline {
            let wasEnding = isEnding
            _ = try handle(wait(for: connection, until: deadline), on: connection)
            if isEnding, !wasEnding {
                timeout = Self.stopTimeout
                deadline = MonotonicClock.now() + timeout
            }
        }
        var isStopped = try handle(connection.stop(within: timeout), on: connection)
        while !isStopped {
            let wasEnding = isEnding
            isStopped = try handle(wait(for: connection, until: connection.nextDeadline), on: connection)
            if isEnding, !wasEnding { return }
        }
    }

    /// - Returns: whether the connection is over.
    private func handle(_ events: [PublishConnection.Event], on connection: PublishConnection) throws -> Bool {
        for event in events {
            switch event {
            case .publishingStarted, .acknowledged, .reconnectRequested, .reconnectRefused: break
            case .reopeningWanted:
                guard let stream = try connect() else { return true }
                return try handle(connection.reopen(on: stream), on: connection)
            case .stopped: return true
            case .failed(let error):
                throw StreamFailure(.connection, code: EventCode(rawValue: error.code), "\(connection.peer): \(error)")
            }
        }
        return false
    }

    /// - Parameter connection: served while waiting for a pipe's writer.
    /// - Returns: `nil` at the file's end, or if the stream should end.
    private func nextTag(_ progress: inout Progress, on connection: PublishConnection?) throws -> FLVTag? {
        while true {
            switch try input.next() {
            case .tag(let tag): return tag
            case .end: return nil
            case .late: break
            }
            if try !waitForInput(on: connection, &progress) { return nil }
        }
    }

    /// - Returns: false when the stream is to end.
    private func waitForInput(on connection: PublishConnection?, _ progress: inout Progress) throws -> Bool {
        waits.update(.input, input.fileDescriptor)
        defer { waits.update(.input, -1) }
        while !isEnding {
            if let connection {
                let deadlines = [connection.nextDeadline, progress.status.nextTime]
                if try handle(wait(for: connection, until: deadlines.compactMap { $0 }.min()), on: connection) {
                    return false
                }
                tellStatus(&progress)
            } else {
                try waits.wait()
                takeSignals()
            }
            if waits.isReady(.input) { return !isEnding }
        }
        return false
    }
}
