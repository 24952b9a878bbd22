import Bitstream
import Glibc
import LinuxIO
import Media
import RTMP
import StreamLogic
import Transport

/// Takes publishers until a signal comes. One thread.
public final class Receiver {
    private let report: (ReceiverEvent) -> Void
    private let log: (String) -> Void
    private let signals: SignalFD
    private let listener: TCPListener
    private let recordPath: String?
    private let reportsArrivals: Bool
    private let faults: ReceiverFaults
    /// Before this no connection is taken.
    private var acceptTime = MediaTimestamp.zero
    private var connectionCount = 0
    private var streamCount = 0
    private var connections: [ReceivedConnection] = []

    /// What is waited for before the connections.
    private enum Waited: Int {
        case signals, listener
    }

    /// - Parameters:
    ///   - recordPath: where what is published is written; `nil` for nowhere.
    ///   - report: called on the thread that calls `run`, as `log` is.
    ///   - log: what people should know that is no event.
    /// - Throws: `StreamFailure`, where the port or the file cannot be had.
    public init(
        endpoint: Endpoint, recordPath: String?, reportsArrivals: Bool, faults: ReceiverFaults,
        report: @escaping (ReceiverEvent) -> Void, log: @escaping (String) -> Void
    ) throws {
        self.report = report
        self.log = log
        self.recordPath = recordPath
        self.reportsArrivals = reportsArrivals
        self.faults = faults
        signals = try SignalFD([SIGINT, SIGTERM])
        do {
            listener = try TCPListener(endpoint)
        } catch {
            throw StreamFailure(.connection, code: error.code.flatMap(EventCode.init), "\(error)")
        }
        // A recording that cannot be written is known now, not when the first publisher comes.
        if let recordPath { try FLVRecording.check(path: recordPath) }
    }

    public func run() throws {
        report(.listening(address: "\(listener.localAddress)"))
        if let delay = faults.acceptDelay { acceptTime = MonotonicClock.now() + delay }
        while signals.next() == nil {
            let accepts = MonotonicClock.now() >= acceptTime
            var entries = [PollEntry(signals.fileDescriptor), PollEntry(accepts ? listener.fileDescriptor : -1)]
            let firstConnection = entries.count
            entries += connections.map(\.pollEntry)
            let times = connections.compactMap(\.nextTime) + (accepts ? [] : [acceptTime])
            try poll(&entries, until: times.min())
            let now = MonotonicClock.now()
            for (connection, entry) in zip(connections, entries.dropFirst(firstConnection))
            where !entry.ready.isEmpty || connection.nextTime.map({ $0 <= now }) ?? false {
                try handle(connection.service(), on: connection)
            }
            connections.removeAll { $0.isOver }
            if entries[Waited.listener].ready.contains(.readable) { try accept() }
        }
        for connection in connections { try handle(connection.close(), on: connection) }
    }

    private func accept() throws {
        while let stream = try listener.accept() {
            let configuration = ReceiveConfiguration(randomBytes: try randomBytes(count: 1528))
            connectionCount += 1
            connections.append(
                ReceivedConnection(
                    stream: stream, configuration: configuration, faults: faults.hitting(connection: connectionCount)))
            report(.accepted(peer: "\(stream.peer)"))
        }
    }

    private func handle(_ events: [ReceivedConnection.Event], on connection: ReceivedConnection) throws {
        for event in events {
            switch event {
            case .publishStarted(let application, _): try publishStarted(application, on: connection)
            case .media(let tag):
                if connection.tally.add(tag), reportsArrivals { arrived(tag, on: connection) }
                try connection.recording?.append(tag)
            case .ended: publishEnded(on: connection)
            }
        }
        if connection.isOver, let failure = connection.failure {
            log("\(connection.stream.peer): \(failure)")
        }
    }

    private func publishStarted(_ application: String, on connection: ReceivedConnection) throws {
        connection.tally = MediaTally()
        streamCount += 1
        connection.streamNumber = streamCount
        // The stream name is the publisher's secret.
        let label = application.prefix { $0 != "?" } + "/***"
        connection.streamLabel = String(label)
        let path = recordPath.map { Self.numbered($0, streamCount) }
        connection.recording = try path.map { try FLVRecording(path: $0) }
        report(.publisherStarted(peer: "\(connection.stream.peer)", application: String(label), recording: path))
    }

    private func arrived(_ tag: FLVTag, on connection: ReceivedConnection) {
        report(
            .arrived(
                ReceiverEvent.Arrival(
                    track: tag.kind == .video ? .video : .audio, stream: connection.streamNumber,
                    timestamp: tag.timestamp, byteCount: tag.body.count, time: MonotonicClock.now())))
    }

    private func publishEnded(on connection: ReceivedConnection) {
        connection.recording = nil
        connection.streamLabel = nil
        report(.publisherEnded(peer: "\(connection.stream.peer)", connection.tally))
    }

    /// `FILE.flv`, then `FILE-2.flv` and so on.
    private static func numbered(_ path: String, _ number: Int) -> String {
        guard number > 1 else { return path }
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(path)-\(number)" }
        return path.prefix(path.count - name[dot...].count) + "-\(number)" + name[dot...]
    }
}
