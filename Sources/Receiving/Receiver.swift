import Bitstream
import Glibc
import LinuxIO
import Media
import RTMP
import StreamLogic
import Transport

/// Accepts publishers until a signal arrives. Used from one thread.
public final class Receiver {
    private let report: (ReceiverEvent) -> Void
    private let log: (String) -> Void
    private let signals: SignalFD
    private let listener: TCPListener
    /// Where published streams are recorded: as MP4 if the name ends with `.mp4`, otherwise as FLV.
    public struct Recording: Sendable {
        public var path: String
        /// Whether a non-empty file may be replaced.
        public var overwrites: Bool

        public init(path: String, overwrites: Bool = false) {
            self.path = path
            self.overwrites = overwrites
        }
    }

    private let recording: Recording?
    private let reportsArrivals: Bool
    private let faults: ReceiverFaults
    private let silence: Duration
    private var admission = Admission()
    private var connectionCount = 0
    private var streamCount = 0
    /// Number of the latest recording, as in its file name.
    private var recordingNumber = 0
    private var connections: [ReceivedConnection] = []

    private enum Waited: Hashable {
        case signals, listener
        case connection(ObjectIdentifier)
    }

    /// - Parameters:
    ///   - recording: `nil` for none.
    ///   - silence: after this long without data, a publisher can be replaced by another one of the same stream. Usually it is
    ///     the same camera, which has lost its old connection and reconnected.
    ///   - report: called on the thread that calls `run`, like `log`.
    ///   - log: receives messages for people that are not events.
    /// - Throws: `StreamFailure` if the port or the file is unavailable.
    public init(
        endpoint: Endpoint, recording: Recording?, reportsArrivals: Bool, faults: ReceiverFaults,
        silence: Duration = .seconds(1),
        report: @escaping (ReceiverEvent) -> Void, log: @escaping (String) -> Void
    ) throws {
        self.report = report
        self.log = log
        self.recording = recording
        self.reportsArrivals = reportsArrivals
        self.faults = faults
        self.silence = silence
        signals = try SignalFD([SIGINT, SIGTERM])
        do {
            listener = try TCPListener(endpoint)
        } catch {
            throw StreamFailure(.system, code: error.code.flatMap(EventCode.init), "\(error)")
        }
        // Find out now, not when the first publisher comes, whether the recording can be written.
        if let recording { try FLVRecording.check(path: recording.path, overwrites: recording.overwrites) }
    }

    public func run() throws {
        report(.listening(address: "\(listener.localAddress)"))
        if let delay = faults.acceptDelay { admission.pause(until: MonotonicClock.now() + delay) }
        let result = Result { while signals.next() == nil { try step() } }
        // Also after a failure, every recording gets its duration and size.
        let ends = connections.map { connection in Result { try handle(connection.close(), on: connection) } }
        for result in [result] + ends { try result.get() }
    }

    /// Waits for the next thing to do and does it.
    private func step() throws {
        var now = MonotonicClock.now()
        let isOpen = admission.isOpen(connectionCount: connections.count, now: now)
        var waits: PollSet<Waited> = [
            .signals: signals.fileDescriptor, .listener: isOpen ? listener.fileDescriptor : -1,
        ]
        waits.wake(at: admission.nextTime(connectionCount: connections.count, now: now))
        for connection in connections {
            waits.add(.connection(ObjectIdentifier(connection)), [connection.pollEntry])
            waits.wake(at: connection.nextTime)
        }
        try waits.wait()
        now = MonotonicClock.now()
        for connection in connections
        where waits.isReady(.connection(ObjectIdentifier(connection)))
            || connection.nextTime.map({ $0 <= now }) ?? false
        {
            let taken = takenStreams(beside: connection, now: now)
            try handle(connection.service(takenStreams: taken), on: connection)
        }
        let count = connections.count
        connections.removeAll { $0.isOver }
        if connections.count < count { admission.connectionEnded() }
        if waits.ready(.listener).contains(.readable) { accept(now: now) }
    }

    private func accept(now: MediaTimestamp) {
        for _ in 0..<Admission.mostPerTurn {
            do {
                guard try acceptNext() else { return admission.lastWaitingAccepted() }
            } catch {
                guard admission.stopped(by: .failure, now: now) else { return }
                return log("\(error); new connections wait until another one ends, or for a second")
            }
            guard connections.count < Admission.mostConnections else {
                guard admission.stopped(by: .tooManyConnections, now: now) else { return }
                return log("\(connections.count) connections are open; new ones wait until one of them ends")
            }
        }
    }

    /// - Returns: false if no connection is waiting.
    private func acceptNext() throws -> Bool {
        // Afterwards there might be none left for the recording.
        let reserve = try recording.map { _ in try EventFD() }
        guard let stream = try listener.accept() else { return false }
        let configuration = ReceiveConfiguration(randomBytes: try randomBytes(count: 1528))
        connectionCount += 1
        let connection = ReceivedConnection(
            stream: stream, configuration: configuration, faults: faults.hitting(connection: connectionCount))
        connection.recordingReserve = reserve
        connections.append(connection)
        report(.accepted(peer: "\(stream.peer)"))
        return true
    }

    private func takenStreams(
        beside connection: ReceivedConnection, now: MediaTimestamp
    ) -> Set<ReceiveSession.StreamName> {
        // A connection that already publishes does not ask again.
        guard connection.streamName == nil else { return [] }
        let others = connections.filter { $0 !== connection && !$0.givesWay(after: silence, now: now) }
        return Set(others.compactMap(\.streamName))
    }

    private func handle(_ events: [ReceivedConnection.Event], on connection: ReceivedConnection) throws {
        for event in events {
            switch event {
            case .publishStarted(let application, let name):
                try endPredecessor(
                    of: ReceiveSession.StreamName(application: application, name: name), for: connection)
                try publishStarted(application, on: connection)
            case .media(let tag):
                if connection.tally.add(tag), reportsArrivals { arrived(tag, on: connection) }
                try connection.recording?.append(tag)
            case .ended: try publishEnded(on: connection)
            case .rejected(let rejection):
                report(.refused(peer: "\(connection.stream.peer)", ReceiverEvent.Refusal(rejection)))
            }
        }
        if connection.isOver, let failure = connection.failure {
            log("\(connection.stream.peer): \(failure)")
        }
    }

    /// Ends the old connection of a camera that has reconnected before the loss was noticed.
    private func endPredecessor(
        of name: ReceiveSession.StreamName, for connection: ReceivedConnection
    ) throws {
        for other in connections where other !== connection && !other.isOver && other.streamName == name {
            try handle(other.close(), on: other)
            log("\(other.stream.peer): gives way to \(connection.stream.peer), which publishes the same stream")
        }
    }

    private func publishStarted(_ application: String, on connection: ReceivedConnection) throws {
        connection.tally = MediaTally()
        streamCount += 1
        connection.streamNumber = streamCount
        connection.recordingReserve = nil
        connection.recording = try nextRecording()
        report(
            .publisherStarted(
                peer: "\(connection.stream.peer)", application: streamLabel(application), stream: streamCount,
                recording: connection.recording?.path))
    }

    private func nextRecording() throws -> (any StreamRecording)? {
        guard let recording else { return nil }
        let path = nextPath(recording)
        guard recording.path.hasSuffix(".mp4") else {
            return try FLVRecording(path: path, overwrites: recording.overwrites)
        }
        return try MP4Recording(path: path, overwrites: recording.overwrites) { [self] in nextPath(recording) }
    }

    /// `FILE.flv`, then `FILE-2.flv` and so on. Numbers of existing non-empty files are skipped.
    private func nextPath(_ recording: Recording) -> String {
        var path: String
        repeat {
            recordingNumber += 1
            path = Self.numbered(recording.path, recordingNumber)
        } while !recording.overwrites && FLVRecording.holdsSomething(path)
        return path
    }

    private func arrived(_ tag: FLVTag, on connection: ReceivedConnection) {
        report(
            .arrived(
                ReceiverEvent.Arrival(
                    track: tag.kind == .video ? .video : .audio, stream: connection.streamNumber,
                    timestamp: tag.timestamp, byteCount: tag.body.count, time: MonotonicClock.now())))
    }

    private func publishEnded(on connection: ReceivedConnection) throws {
        let recording = connection.recording
        connection.recording = nil
        try recording?.finish()
        report(
            .publisherEnded(
                peer: "\(connection.stream.peer)", stream: connection.streamNumber, recording: recording?.path,
                connection.tally))
    }

    private static func numbered(_ path: String, _ number: Int) -> String {
        guard number > 1 else { return path }
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(path)-\(number)" }
        return path.prefix(path.count - name[dot...].count) + "-\(number)" + name[dot...]
    }
}
