import Bitstream
import LinuxIO
import Media
import RTMP
import Transport

/// A publisher's connection to `tallycam receive`. Used from the main thread.
final class ReceivedConnection {
    enum Event {
        case publishStarted(application: String, streamName: String)
        case media(FLVTag)
        case ended
        /// The connection closes itself after the refusal is written.
        case rejected(ReceiveSession.Rejection)
    }

    /// Limit for `outgoing` before anything more is read and answered.
    private static let outgoingLimit = 64 * 1024
    /// How long a refused peer may take to read the refusal.
    private static let farewell = Duration.seconds(1)
    /// How long a peer may stay connected without publishing.
    private static let publishTimeout = Duration.seconds(10)

    let stream: any ByteStream
    var recording: (any StreamRecording)?
    /// Keeps a descriptor free until the recording needs it.
    var recordingReserve: EventFD?
    var tally = MediaTally()
    /// Number of the stream at this receiver, starting at 1 like recordings.
    var streamNumber = 0
    private(set) var isOver = false
    private(set) var failure: String?
    private var session: ReceiveSession
    /// Answers that the peer has not accepted yet. While there are too many, nothing more is read from it.
    private var outgoing: [UInt8] = []
    private var closesWhenWritten = false
    /// When a refused peer that does not close the connection is disconnected.
    private var farewellEnd: MediaTimestamp?
    /// When a peer that does not publish is disconnected; `nil` while it publishes, or if it gets no proper answers.
    private var publishDeadline: MediaTimestamp?
    private var lastByteTime = MonotonicClock.now()
    /// The peer was asked to reconnect elsewhere. The new connection may come while this one still sends.
    private var isAskedToMove = false
    /// The stream being published.
    private(set) var streamName: ReceiveSession.StreamName?
    private var peerReadsNoMore = false
    private var faults: ConnectionFaults
    /// The same stream, if it misbehaves on purpose.
    private let faultyStream: FaultyStream?
    private var receiveBuffer = [UInt8](repeating: 0, count: 65_536)

    init(stream: any ByteStream, configuration: ReceiveConfiguration, faults: ConnectionFaults) {
        var configuration = configuration
        faults.apply(to: &configuration)
        self.faults = faults
        faultyStream = faults.isEmpty ? nil : FaultyStream(over: stream, faults: faults)
        self.stream = faultyStream ?? stream
        session = ReceiveSession(configuration: configuration)
        publishDeadline = newPublishDeadline
    }

    private var newPublishDeadline: MediaTimestamp? {
        faultyStream == nil ? MonotonicClock.now() + Self.publishTimeout : nil
    }

    var pollEntry: PollEntry {
        var events = stream.pollEvents(hasBytesToWrite: !outgoing.isEmpty)
        if !mayRead { events.remove(.readable) }
        return PollEntry(stream.fileDescriptor, events)
    }

    private var mayRead: Bool { outgoing.count < Self.outgoingLimit }

    /// When to call `service` even if nothing became ready.
    var nextTime: MediaTimestamp? {
        [faultyStream == nil ? nil : faults.nextTime, faultyStream?.nextTime, farewellEnd, publishDeadline]
            .compactMap { $0 }.min()
    }

    /// Whether another publisher of the same stream may replace this one.
    /// - Parameter silence: how long it must have sent nothing.
    func givesWay(after silence: Duration, now: MediaTimestamp) -> Bool {
        isAskedToMove || now - lastByteTime >= silence
    }

    /// Reads and answers. A failure of the connection ends it, but is not an error of the receiver.
    /// - Parameter takenStreams: streams whose publishers cannot be replaced.
    func service(takenStreams: Set<ReceiveSession.StreamName> = []) -> [Event] {
        guard !isOver else { return [] }
        session.takenStreams = takenStreams
        var events: [Event] = []
        do {
            try read(into: &events)
            if faultyStream != nil { misbehave(&events) }
        } catch {
            if !closesWhenWritten { failure = "\(error)" }
            finish(&events)
        }
        if !isOver { answer() }
        disconnectIfIdle(&events)
        return events
    }

    func close() -> [Event] {
        var events: [Event] = []
        finish(&events)
        return events
    }

    private func disconnectIfIdle(_ events: inout [Event]) {
        guard !isOver, let publishDeadline, MonotonicClock.now() >= publishDeadline else { return }
        if !closesWhenWritten { failure = "disconnected, as it published nothing within 10 s" }
        finish(&events)
    }

    private func read(into events: inout [Event]) throws(TransportError) {
        guard mayRead else { return }
        switch try stream.read(into: &receiveBuffer) {
        case .wouldBlock: break
        case .closed: finish(&events)
        // Keep reading: unread bytes would make the kernel discard the refusal.
        case .bytes where closesWhenWritten: break
        case .bytes(let count):
            lastByteTime = MonotonicClock.now()
            let actions = receiveBuffer.withUnsafeBytes {
                session.bytesReceived(UnsafeRawBufferPointer(rebasing: $0[..<min(count, $0.count)]))
            }
            perform(actions, &events)
        }
    }

    private func perform(_ actions: [ReceiveSession.Action], _ events: inout [Event]) {
        for action in actions {
            switch action {
            case .send(let bytes): outgoing += bytes
            case .publishStarted(let application, let streamName):
                faults.publishingStarted(now: MonotonicClock.now())
                publishDeadline = nil
                self.streamName = ReceiveSession.StreamName(application: application, name: streamName)
                events.append(.publishStarted(application: application, streamName: streamName))
            case .metadata: break
            case .media(let tag): events.append(.media(tag))
            case .ended:
                streamName = nil
                publishDeadline = newPublishDeadline
                events.append(.ended)
            case .rejected(let rejection): events.append(.rejected(rejection))
            case .refused: closesWhenWritten = true
            case .failed(let error):
                failure = "\(error)"
                finish(&events)
            }
        }
    }

    private func answer() {
        while !outgoing.isEmpty, !peerReadsNoMore {
            do {
                let written = try stream.write(outgoing)
                if written == 0 { return }
                outgoing.removeFirst(written)
            } catch {
                // A publisher that has left may have sent data before: read to the end of it.
                peerReadsNoMore = true
            }
        }
        if peerReadsNoMore { outgoing.removeAll() }
        if closesWhenWritten { sayFarewell(now: MonotonicClock.now()) }
    }

    private func sayFarewell(now: MediaTimestamp) {
        if farewellEnd == nil {
            farewellEnd = now + Self.farewell
            stream.finishSending()
        }
        guard peerReadsNoMore || farewellEnd.map({ now >= $0 }) ?? false else { return }
        isOver = true
        stream.close()
    }

    private func misbehave(_ events: inout [Event]) {
        let now = MonotonicClock.now()
        for fault in faults.takeDue(now: now) where !isOver {
            switch fault {
            case .zeroWindow(let duration): faultyStream?.stopReading(until: now + duration)
            case .close: finish(&events)
            case .reset:
                stream.abort()
                finish(&events)
            case .garbage: outgoing += [UInt8](repeating: 0xFF, count: 4096)
            case .streamError:
                perform(
                    session.streamErrorRequested(code: "NetStream.Failed", description: "The disk is full."),
                    &events)
            case .reconnectRequest(let tcURL):
                isAskedToMove = true
                perform(session.reconnectRequested(tcURL: tcURL), &events)
            case .pingFlood where outgoing.count < 65_536:
                for timestamp in 0..<200 {
                    perform(session.pingRequested(timestamp: UInt32(timestamp)), &events)
                }
            case .pingFlood: break
            }
        }
    }

    private func finish(_ events: inout [Event]) {
        guard !isOver else { return }
        isOver = true
        streamName = nil
        for action in session.connectionClosed() where action == .ended { events.append(.ended) }
        stream.close()
    }
}
