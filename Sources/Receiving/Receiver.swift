import Bitstream
import Glibc
import LinuxIO
import Media
import RTMP
import StreamLogic
import Transport

/// Takes publishers until a signal comes. One thread.
public final class Receiver {
    private let reporter: StreamReporter
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

    public init(
        endpoint: Endpoint, recordPath: String?, reportsArrivals: Bool, faults: ReceiverFaults,
        reporter: StreamReporter
    ) throws {
        self.reporter = reporter
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
        let address = "\(listener.localAddress)"
        reporter.emit(Event("listening", text: "listening on \(address)", ["address": .text(address)]))
        if let delay = faults.acceptDelay { acceptTime = MonotonicClock.now() + delay }
        while signals.next() == nil {
            let accepts = MonotonicClock.now() >= acceptTime
            var entries = [PollEntry(signals.fileDescriptor), PollEntry(accepts ? listener.fileDescriptor : -1)]
            entries += connections.map(\.pollEntry)
            let times = connections.compactMap(\.nextTime) + (accepts ? [] : [acceptTime])
            try poll(&entries, until: times.min())
            let now = MonotonicClock.now()
            for (connection, entry) in zip(connections, entries.dropFirst(2))
            where !entry.ready.isEmpty || connection.nextTime.map({ $0 <= now }) ?? false {
                try handle(connection.service(), on: connection)
            }
            connections.removeAll { $0.isOver }
            if entries[1].ready.contains(.readable) { try accept() }
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
            reporter.emit(
                Event("accepted", text: "connection from \(stream.peer)", ["peer": .text(stream.peer)]))
        }
    }

    private func handle(_ occurrences: [ReceivedConnection.Occurrence], on connection: ReceivedConnection) throws {
        for occurrence in occurrences {
            switch occurrence {
            case .publishStarted(let application, _): try publishStarted(application, on: connection)
            case .media(let tag):
                if connection.tally.add(tag), reportsArrivals { arrived(tag, on: connection) }
                try connection.recording?.append(tag)
            case .ended: publishEnded(on: connection)
            }
        }
        if connection.isOver, let failure = connection.failure {
            reporter.log("\(connection.stream.peer): \(failure)")
        }
    }

    private func publishStarted(_ application: String, on connection: ReceivedConnection) throws {
        connection.tally = MediaTally()
        streamCount += 1
        connection.streamNumber = streamCount
        // The stream name is the publisher's secret.
        let label = application.prefix { $0 != "?" } + "/***"
        connection.streamLabel = String(label)
        var fields = "to \(label)"
        if let recordPath {
            let path = Self.numbered(recordPath, streamCount)
            connection.recording = try FLVRecording(path: path)
            fields += ", recording to \(path)"
        }
        reporter.emit(
            Event(
                "publisherStarted", text: "\(connection.stream.peer) publishes \(fields)",
                ["peer": .text(connection.stream.peer), "application": .text(String(label))]))
    }

    private func arrived(_ tag: FLVTag, on connection: ReceivedConnection) {
        reporter.emit(
            Event(
                "arrived", text: nil,
                [
                    "kind": .text(tag.kind == .video ? "picture" : "audio"),
                    "stream": .integer(connection.streamNumber), "timestamp": .integer(Int(tag.timestamp)),
                    "bytes": .integer(tag.body.count),
                    "clock": .number((MonotonicClock.now() - MediaTimestamp.zero).inSeconds),
                ]))
    }

    private func publishEnded(on connection: ReceivedConnection) {
        let tally = connection.tally
        let video = tally.kilobitsPerSecond(tally.video)
        let audio = tally.kilobitsPerSecond(tally.audio)
        connection.recording = nil
        connection.streamLabel = nil
        reporter.emit(
            Event(
                "publisherEnded",
                text: "\(connection.stream.peer) ended: \(tally.video.count) pictures "
                    + "(\(tally.keyFrameCount) key frames, \(fixed(video, decimals: 0)) kbit/s), "
                    + "\(fixed(tally.audioDuration.inSeconds, decimals: 1)) s of audio",
                [
                    "peer": .text(connection.stream.peer), "videoFrames": .integer(tally.video.count),
                    "keyFrames": .integer(tally.keyFrameCount), "videoSeconds": .number(tally.video.span.inSeconds),
                    "videoBytes": .integer(tally.video.byteCount), "videoKbps": .number(video),
                    "largestVideoGap": .number(Double(tally.video.largestGap) / 1000),
                    "audioUnits": .integer(tally.audio.count),
                    "audioSeconds": .number(tally.audioDuration.inSeconds),
                    "audioBytes": .integer(tally.audio.byteCount), "audioKbps": .number(audio),
                    "largestAudioGap": .number(Double(tally.audio.largestGap) / 1000),
                    "disordered": .integer(tally.video.disorderCount + tally.audio.disorderCount),
                ]))
    }

    /// `FILE.flv`, then `FILE-2.flv` and so on.
    private static func numbered(_ path: String, _ number: Int) -> String {
        guard number > 1 else { return path }
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "\(path)-\(number)" }
        return path.prefix(path.count - name[dot...].count) + "-\(number)" + name[dot...]
    }
}
