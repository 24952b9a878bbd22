import Bitstream
import LinuxIO
import Media
import RTMP
import Transport

/// One publisher's connection to `tallycam receive`. Used from the main thread.
final class ReceivedConnection {
    enum Event {
        case publishStarted(application: String, streamName: String)
        case media(FLVTag)
        case ended
        /// The connection ends by itself when the refusal is written.
        case rejected(ReceiveSession.Rejection)
    }

    /// Of `outgoing`, before the answers to one more read.
    private static let outgoingLimit = 64 * 1024
    /// How long a refused peer may take to read the refusal.
    private static let farewell = Duration.seconds(1)

    let stream: any ByteStream
    var recording: FLVRecording?
    var tally = MediaTally()
    /// Streams of the receiver count from 1; as recordings do.
    var streamNumber = 0
    private(set) var isOver = false
    private(set) var failure: String?
    private var session: ReceiveSession
    /// Answers that the peer has not taken. While it takes none, nothing more is read from it.
    private var outgoing: [UInt8] = []
    private var closesWhenWritten = false
    /// When a refused peer that does not close the connection loses it.
    private var farewellEnd: MediaTimestamp?
    private var lastByteTime = MonotonicClock.now()
    /// It was asked to go on over another connection, which may come while this one still sends.
    private var isAskedToMove = false
    /// What is published now.
    private(set) var streamName: ReceiveSession.StreamName?
    private var peerReadsNoMore = false
    private var faults: ConnectionFaults
    /// The stream, where it misbehaves by itself.
    private let faultyStream: FaultyStream?
    private var receiveBuffer = [UInt8](repeating: 0, count: 65_536)

    init(stream: any ByteStream, configuration: ReceiveConfiguration, faults: ConnectionFaults) {
        var configuration = configuration
        faults.apply(to: &configuration)
        self.faults = faults
        faultyStream = faults.isEmpty ? nil : FaultyStream(over: stream, faults: faults)
        self.stream = faultyStream ?? stream
        session = ReceiveSession(configuration: configuration)
    }

    var pollEntry: PollEntry {
        var events = stream.pollEvents(hasBytesToWrite: !outgoing.isEmpty)
        if !mayRead { events.remove(.readable) }
        return PollEntry(stream.fileDescriptor, events)
    }

    private var mayRead: Bool { outgoing.count < Self.outgoingLimit }

    /// When `service` is to be called even if nothing became ready.
    var nextTime: MediaTimestamp? {
        [faultyStream == nil ? nil : faults.nextTime, faultyStream?.nextTime, farewellEnd].compactMap { $0 }.min()
    }

    /// Whether another publisher of its stream may take its place.
    /// - Parameter silence: how long it has sent nothing then.
    func givesWay(after silence: Duration, now: MediaTimestamp) -> Bool {
        isAskedToMove || now - lastByteTime >= silence
    }

    /// Reads and answers. A failure of the connection ends it and is no error of the receiver.
    /// - Parameter takenStreams: those that have a publisher which does not give way.
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
        return events
    }

    /// The receiver ends.
    func close() -> [Event] {
        var events: [Event] = []
        finish(&events)
        return events
    }

    private func read(into events: inout [Event]) throws(TransportError) {
        guard mayRead else { return }
        switch try stream.read(into: &receiveBuffer) {
        case .wouldBlock: break
        case .closed: finish(&events)
        // Unread bytes would make the kernel cut the refusal off.
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
                self.streamName = ReceiveSession.StreamName(application: application, name: streamName)
                events.append(.publishStarted(application: application, streamName: streamName))
            case .metadata: break
            case .media(let tag): events.append(.media(tag))
            case .ended:
                streamName = nil
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
                // A publisher that is gone has left what it sent before: reading goes on to the end of that.
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
