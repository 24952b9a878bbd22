import ApplianceLogic
import Bitstream
import Glibc
import LinuxIO
import Media
import RTMP
import Transport

/// Publishes an encoded FLV file as it is. One thread; holds one tag and one block of the file at a time.
final class FilePublisher {
    /// Bytes of the file that are read at once.
    private static let blockSize = 65_536
    /// How late between two tags the server's words and signals may be noticed: to sleep costs half of what
    /// polling costs, and tags come every few milliseconds.
    private static let pollInterval = Duration.milliseconds(100)
    private static let stopLimit = Duration.milliseconds(400)

    private let path: String
    private let options: PublishOptions
    private let console: Console
    private let signals: SignalFD
    private let file: OwnedFileDescriptor
    /// Not so with a file on a disk, which is always ready.
    private let mayHaveToWait: Bool
    private let url: RTMPURL
    /// The connection and the signals, in this order.
    private var pollEntries: [PollEntry]
    @exclusivity(unchecked) private var nextPollTime = MediaTimestamp.zero
    /// Whether a signal has asked for the end.
    @exclusivity(unchecked) private var isEnding = false

    /// What changes with every tag. Not a part of the object: there each access would be checked for
    /// overlaps while the program runs.
    private struct Progress {
        var reader = FLVReader()
        var tally = MediaTally()
        var watch: PlatformWatch
    }

    init(path: String, options: PublishOptions, console: Console) throws {
        self.path = path
        self.options = options
        self.console = console
        url = try options.destination.connectionURL()
        // To mute what is encoded already is not possible; the signal shall not end the program either.
        signals = try SignalFD([SIGINT, SIGTERM, SIGUSR1])
        pollEntries = [PollEntry(-1), PollEntry(signals.fileDescriptor)]
        do {
            // A FIFO opens at once this way, also before it has a writer; `awaitFile` waits for that.
            file = try OwnedFileDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK)
        } catch {
            throw CommandFailure(.media, "\(path): cannot be read: \(error.reason)")
        }
        var status = stat()
        mayHaveToWait = fstat(file.rawValue, &status) != 0 || status.st_mode & S_IFMT != S_IFREG
    }

    func run() throws -> ExitStatus {
        // Before the server is bothered: is it an FLV file at all, and has it a tag?
        var progress = Progress(watch: PlatformWatch(options.destination.platform))
        guard let first = try nextTag(&progress.reader) else {
            if isEnding {
                emitEnd(progress.tally)
                return .success
            }
            throw CommandFailure(.media, "\(path): the file holds no tags")
        }
        console.log("publishing to \(options.destination.label)")
        guard let stream = try connect() else {
            emitEnd(progress.tally)
            return .success
        }
        console.emit(Event(.connected(server: stream.peer), destination: options.destination.label))
        let configuration = PublishConfiguration(
            url: url, encoderName: "Tallycam/\(version)", randomBytes: try randomBytes(count: 1528),
            metadata: nil, md5: { MD5.digest(of: $0) })
        let connection = PublishConnection(stream: stream, configuration: configuration)
        defer { connection.close() }
        do {
            try publish(first, &progress, on: connection)
        } catch let error as TransportError {
            throw CommandFailure(.connection, code: error.code ?? 0, "\(error)")
        }
        emitEnd(progress.tally)
        return .success
    }

    /// As fast as it goes nothing is late: to be woken for each 16 KB would only cost.
    private var settings: TCPSettings {
        var settings = TCPSettings()
        if options.pace == .fast { settings.unsentLowWaterByteCount = settings.sendBufferByteCount }
        return settings
    }

    /// - Returns: `nil` when a signal came first.
    private func connect() throws -> (any ByteStream)? {
        do {
            let security: TransportSecurity =
                url.scheme == .rtmps ? .tls(try TLSContext(authorityFile: options.destination.authorityFile)) : .none
            return try Connector.connect(
                to: Endpoint(host: url.host, port: url.port), security: security, settings: settings,
                cancellation: signals.fileDescriptor)
        } catch .cancelled {
            noticeSignals()
            return nil
        } catch {
            throw CommandFailure(.connection, code: error.code ?? 0, "\(error)")
        }
    }

    private func publish(_ first: FLVTag, _ progress: inout Progress, on connection: PublishConnection) throws {
        var occurrences = try connection.open()
        while !connection.isPublishing {
            if try handle(occurrences, on: connection) || isEnding { return }
            occurrences = try wait(for: connection, until: connection.nextDeadline)
        }
        console.emit(Event(.publishing, destination: options.destination.label))
        let clock = PlaybackClock(begin: MonotonicClock.now(), firstTimestamp: first.timestamp)
        var tag: FLVTag? = first
        while let current = tag {
            let due = options.pace == .realtime ? clock.due(current.timestamp) : nil
            if let duration = options.media.duration, clock.offset(current.timestamp) >= duration { break }
            if try !waitUntilSendable(connection, due: due) { break }
            do throws(CommandFailure) {
                if let warning = try progress.watch.tagRead(current) { console.log("warning: \(warning)") }
            } catch {
                try sayGoodbye(on: connection)
                throw CommandFailure(error.status, code: error.code, "\(path): \(error.message)")
            }
            if try handle(connection.send(current), on: connection) { return }
            progress.tally.add(current)
            do {
                tag = try nextTag(&progress.reader)
            } catch {
                // A recorder that was killed leaves half a tag; what was sent before it shall arrive.
                try sayGoodbye(on: connection)
                throw error
            }
        }
        try sayGoodbye(on: connection)
    }

    /// Waits until the tag is due and the one before is written.
    /// - Returns: false when the stream is to end.
    private func waitUntilSendable(_ connection: PublishConnection, due: MediaTimestamp?) throws -> Bool {
        while !isEnding, !connection.isIdle || due.map({ MonotonicClock.now() < $0 }) ?? false {
            if let due, due < nextPollTime, connection.isIdle {
                MonotonicClock.sleep(until: due)
                break
            }
            // With everything written only the server's words and the clock matter.
            let deadline = connection.isIdle ? due : connection.nextDeadline
            if try handle(wait(for: connection, until: deadline), on: connection) { return false }
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
            if signal != SIGUSR1 { isEnding = true }
        }
    }

    private func sayGoodbye(on connection: PublishConnection) throws {
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
            case .publishingStarted, .acknowledged, .reconnectRequested: break
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

    /// Waits for bytes of the file: a pipe's writer may take its time.
    /// - Returns: false when the stream is to end instead.
    private func awaitFile() throws -> Bool {
        while mayHaveToWait, !isEnding {
            var entries = [PollEntry(file.rawValue), PollEntry(signals.fileDescriptor)]
            try poll(&entries, until: nil)
            if !entries[1].ready.isEmpty { noticeSignals() }
            if !entries[0].ready.isEmpty { break }
        }
        return !isEnding
    }

    /// - Returns: `nil` at the end of the file, and when the stream is to end.
    private func nextTag(_ reader: inout FLVReader) throws -> FLVTag? {
        do {
            while true {
                if let tag = try reader.nextTag() { return tag }
                guard try awaitFile() else { return nil }
                if try reader.append(upTo: Self.blockSize, filledBy: { try file.read(into: $0) }) == 0 {
                    try reader.inputEnded()
                    return nil
                }
            }
        } catch let error as BitstreamError {
            throw CommandFailure(.media, "\(path): \(error)")
        } catch let error as SystemCallError {
            throw CommandFailure(.media, "\(path): \(error)")
        }
    }

    private func emitEnd(_ tally: MediaTally) {
        console.emit(
            Event(
                "ended",
                text: "ended: \(tally.video.count) pictures and "
                    + "\(fixed(tally.audioDuration.inSeconds, decimals: 1)) s of audio sent",
                [
                    "videoFrames": .integer(tally.video.count), "videoBytes": .integer(tally.video.byteCount),
                    "videoSkipped": .integer(0), "videoDropped": .integer(0),
                    "audioUnits": .integer(tally.audio.count), "audioBytes": .integer(tally.audio.byteCount),
                    "audioSeconds": .number(tally.audioDuration.inSeconds),
                ]))
    }
}

/// When a tag is due, by the file's timestamps.
private struct PlaybackClock {
    let begin: MediaTimestamp
    let firstTimestamp: UInt32

    /// Timestamps wrap at 2^32 ms; ones before the first count as the first.
    func offset(_ timestamp: UInt32) -> Duration {
        .milliseconds(max(0, Int64(Int32(bitPattern: timestamp &- firstTimestamp))))
    }

    func due(_ timestamp: UInt32) -> MediaTimestamp { begin + offset(timestamp) }
}
