import ApplianceLogic
import Bitstream
import Glibc
import LinuxIO
import Media
import RTMP
import Transport

/// Publishes an encoded FLV file as it is. One thread; holds one tag and one block of the file at a time.
final class FilePublisher {
    /// How late between two tags the server's words and signals may be noticed: to sleep costs half of what
    /// polling costs, and tags come every few milliseconds.
    private static let pollInterval = Duration.milliseconds(100)
    private static let stopLimit = Duration.milliseconds(400)

    private let path: String
    let options: PublishOptions
    let console: Console
    private let signals: SignalFD
    private let input: FLVInput
    private let url: RTMPURL
    /// The connection, the signals, and what is waited for of the file, in this order.
    private var pollEntries: [PollEntry]
    @exclusivity(unchecked) private var nextPollTime = MediaTimestamp.zero
    /// Whether a signal has asked for the end.
    @exclusivity(unchecked) private var isEnding = false
    var state = StreamState.unknown

    /// What changes with every tag. Not a part of the object: there each access would be checked for
    /// overlaps while the program runs.
    private struct Progress {
        var reader = FLVReader()
        var tally = MediaTally()
        var watch: PlatformWatch
        var status: FileStatus
    }

    init(path: String, options: PublishOptions, console: Console) throws {
        self.path = path
        self.options = options
        self.console = console
        url = try options.destination.connectionURL()
        signals = try SignalFD([SIGINT, SIGTERM, SIGUSR1])
        pollEntries = [PollEntry(-1), PollEntry(signals.fileDescriptor), PollEntry(-1)]
        do {
            input = try FLVInput(path: path)
        } catch {
            throw CommandFailure(.media, "\(path): cannot be read: \(error.reason)")
        }
    }

    func run() throws -> ExitStatus {
        var progress = Progress(
            watch: PlatformWatch(options.destination.platform), status: FileStatus(interval: options.statusInterval))
        do {
            try publish(&progress)
        } catch {
            enter(.error)
            guard let error = error as? TransportError else { throw error }
            throw CommandFailure(.connection, code: error.code ?? 0, "\(error)")
        }
        enter(.disconnected)
        emitEnd(progress.tally)
        return .success
    }

    private func publish(_ progress: inout Progress) throws {
        // Before the server is bothered: is it an FLV file at all, and has it a tag?
        guard let first = try nextTag(&progress, on: nil) else {
            guard isEnding else { throw CommandFailure(.media, "\(path): the file holds no tags") }
            return
        }
        console.log("publishing to \(options.destination.label)")
        enter(.connecting)
        guard let stream = try connect() else { return }
        console.emit(Event(.connected(server: stream.peer), destination: options.destination.label))
        let configuration = PublishConfiguration(
            url: url, encoderName: "Tallycam/\(version)", randomBytes: try randomBytes(count: 1528),
            metadata: nil, timeLimits: options.limits.session, md5: { MD5.digest(of: $0) })
        let connection = PublishConnection(stream: stream, configuration: configuration)
        defer { connection.close() }
        do {
            try publish(first, &progress, on: connection)
        } catch let failure as CommandFailure where failure.status == .media {
            // What came before is good, and is to arrive.
            try sayGoodbye(on: connection)
            throw failure
        }
    }

    /// As fast as it goes nothing is late: to be woken for each 16 KB would only cost.
    private var settings: TCPSettings {
        var settings = TCPSettings()
        if options.pace == .fast { settings.unsentLowWaterByteCount = settings.sendBufferByteCount }
        return settings
    }

    /// - Returns: `nil` when a signal came first.
    private func connect() throws -> (any ByteStream)? {
        let security: TransportSecurity =
            url.scheme == .rtmps ? .tls(try TLSContext.shared(authorityFile: options.destination.authorityFile)) : .none
        while !isEnding {
            do {
                return try Connector.connect(
                    to: Endpoint(host: url.host, port: url.port), security: security,
                    limits: options.limits.connection(), settings: settings,
                    cancellation: signals.fileDescriptor)
            } catch {
                guard error == .cancelled else { throw error }
                noticeSignals()
            }
        }
        return nil
    }

    private func publish(_ first: FLVTag, _ progress: inout Progress, on connection: PublishConnection) throws {
        var occurrences = try connection.open()
        while !connection.isPublishing {
            if try handle(occurrences, on: connection) || isEnding { return }
            occurrences = try wait(for: connection, until: connection.nextDeadline)
        }
        console.emit(Event(.publishing, destination: options.destination.label))
        enter(.connected)
        progress.status.begin(now: MonotonicClock.now())
        var clock = PlaybackClock()
        var tag: FLVTag? = first
        while let current = tag {
            clock.tagRead(current, now: MonotonicClock.now())
            let due = options.pace == .realtime ? clock.due : nil
            if let duration = options.media.duration, clock.offset >= duration { break }
            if try !waitUntilSendable(connection, due: due, &progress) { break }
            do throws(CommandFailure) {
                if let warning = try progress.watch.tagRead(current) { console.log("warning: \(warning)") }
            } catch {
                throw CommandFailure(error.status, code: error.code, "\(path): \(error.message)")
            }
            if try handle(connection.send(current), on: connection) { return }
            progress.tally.add(current)
            tag = try nextTag(&progress, on: connection)
        }
        try sayGoodbye(on: connection)
    }

    /// Waits until the tag is due and the one before is written.
    /// - Returns: false when the stream is to end.
    private func waitUntilSendable(
        _ connection: PublishConnection, due: MediaTimestamp?, _ progress: inout Progress
    ) throws -> Bool {
        while !isEnding, !connection.isIdle || due.map({ MonotonicClock.now() < $0 }) ?? false {
            if let due, due < nextPollTime, connection.isIdle {
                MonotonicClock.sleep(until: due)
                break
            }
            // With everything written only the server's words and the clock matter.
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
    ) throws -> [PublishConnection.Occurrence] {
        pollEntries[0] = PollEntry(connection.fileDescriptor, connection.pollEvents)
        try poll(&pollEntries, until: deadline)
        nextPollTime = MonotonicClock.now() + Self.pollInterval
        if !pollEntries[1].ready.isEmpty { noticeSignals() }
        let ready = pollEntries[0].ready
        // When only the next tag is due there is nothing to do for the connection.
        if ready.isEmpty, connection.nextDeadline == nil { return [] }
        return try connection.service(ready: ready)
    }

    private func noticeSignals() {
        while let signal = signals.next() {
            if signal == SIGUSR1 {
                console.log("a file goes out as it is: it cannot be muted")
            } else {
                isEnding = true
            }
        }
    }

    private func tellStatus(_ progress: inout Progress) {
        guard let status = progress.status.due(progress.tally, state: state, now: MonotonicClock.now()) else { return }
        console.emit(status)
    }

    private func sayGoodbye(on connection: PublishConnection) throws {
        enter(.disconnecting)
        // A person who interrupts does not want to wait; a file that was read to its end wants to arrive.
        var limit = isEnding ? Self.stopLimit : .seconds(5)
        var deadline = MonotonicClock.now() + limit
        while !connection.isIdle, MonotonicClock.now() < deadline {
            let wasEnding = isEnding
            _ = try handle(wait(for: connection, until: deadline), on: connection)
            if isEnding, !wasEnding {
                limit = Self.stopLimit
                deadline = MonotonicClock.now() + limit
            }
        }
        var isStopped = try handle(connection.stop(within: limit), on: connection)
        while !isStopped {
            let wasEnding = isEnding
            isStopped = try handle(wait(for: connection, until: connection.nextDeadline), on: connection)
            if isEnding, !wasEnding { return }
        }
    }

    /// - Returns: whether the connection is over.
    private func handle(_ occurrences: [PublishConnection.Occurrence], on connection: PublishConnection) throws -> Bool
    {
        for occurrence in occurrences {
            switch occurrence {
            case .publishingStarted, .acknowledged, .reconnectRequested, .reconnectRefused: break
            case .reopeningWanted:
                guard let stream = try connect() else { return true }
                return try handle(connection.reopen(on: stream), on: connection)
            case .stopped: return true
            case .failed(let error):
                throw CommandFailure(.connection, code: error.code, "\(connection.peer): \(error)")
            }
        }
        return false
    }

    /// - Parameter connection: to be served while a pipe's writer is waited for.
    /// - Returns: `nil` at the file's end, and when the stream is to end.
    private func nextTag(_ progress: inout Progress, on connection: PublishConnection?) throws -> FLVTag? {
        while true {
            do throws(FLVInputError) {
                switch try input.next(&progress.reader) {
                case .tag(let tag): return tag
                case .end: return nil
                case .late: break
                }
            } catch {
                throw CommandFailure(.media, "\(path): \(error)")
            }
            if try !waitForInput(on: connection, &progress) { return nil }
        }
    }

    /// - Returns: false when the stream is to end.
    private func waitForInput(on connection: PublishConnection?, _ progress: inout Progress) throws -> Bool {
        pollEntries[2] = PollEntry(input.fileDescriptor)
        defer { pollEntries[2] = PollEntry(-1) }
        while !isEnding {
            if let connection {
                let deadlines = [connection.nextDeadline, progress.status.nextTime]
                if try handle(wait(for: connection, until: deadlines.compactMap { $0 }.min()), on: connection) {
                    return false
                }
                tellStatus(&progress)
            } else {
                try poll(&pollEntries, until: nil)
                noticeSignals()
            }
            if !pollEntries[2].ready.isEmpty { return !isEnding }
        }
        return false
    }
}
