import Bitstream
import LinuxIO
import Media
import RTMP
import Transport

/// One publisher's connection to `tallycam receive`. Used from the main thread.
final class ReceivedConnection {
    enum Occurrence {
        case publishStarted(application: String, streamName: String)
        case media(FLVTag)
        case ended
    }

    let stream: TCPConnection
    var recording: FLVRecording?
    var tally = MediaTally()
    /// What is published now, as events name it.
    var streamLabel: String?
    private(set) var isOver = false
    private(set) var failure: String?
    private var session: ReceiveSession
    private var outgoing: [UInt8] = []
    private var closesWhenWritten = false
    private var receiveBuffer = [UInt8](repeating: 0, count: 65_536)

    init(stream: TCPConnection, configuration: ReceiveConfiguration) {
        self.stream = stream
        session = ReceiveSession(configuration: configuration)
    }

    var pollEntry: PollEntry {
        PollEntry(stream.fileDescriptor, stream.pollEvents(hasBytesToWrite: !outgoing.isEmpty))
    }

    /// Reads and answers. A failure of the connection ends it and is no error of the receiver.
    func service() -> [Occurrence] {
        var occurrences: [Occurrence] = []
        do {
            try read(into: &occurrences)
            try flush()
        } catch {
            failure = "\(error)"
            finish(&occurrences)
        }
        return occurrences
    }

    /// The receiver ends.
    func close() -> [Occurrence] {
        var occurrences: [Occurrence] = []
        finish(&occurrences)
        return occurrences
    }

    private func read(into occurrences: inout [Occurrence]) throws(TransportError) {
        guard !closesWhenWritten else { return }
        switch try stream.read(into: &receiveBuffer) {
        case .wouldBlock: break
        case .closed: finish(&occurrences)
        case .bytes(let count):
            let actions = receiveBuffer.withUnsafeBytes {
                session.bytesReceived(UnsafeRawBufferPointer(rebasing: $0[..<min(count, $0.count)]))
            }
            perform(actions, &occurrences)
        }
    }

    private func perform(_ actions: [ReceiveSession.Action], _ occurrences: inout [Occurrence]) {
        for action in actions {
            switch action {
            case .send(let bytes): outgoing += bytes
            case .publishStarted(let application, let streamName):
                occurrences.append(.publishStarted(application: application, streamName: streamName))
            case .metadata: break
            case .media(let tag): occurrences.append(.media(tag))
            case .ended: occurrences.append(.ended)
            case .refused: closesWhenWritten = true
            case .failed(let error):
                failure = "\(error)"
                finish(&occurrences)
            }
        }
    }

    private func flush() throws(TransportError) {
        while !outgoing.isEmpty {
            let written = try stream.write(outgoing)
            if written == 0 { return }
            outgoing.removeFirst(written)
        }
        if closesWhenWritten {
            isOver = true
            stream.close()
        }
    }

    private func finish(_ occurrences: inout [Occurrence]) {
        guard !isOver else { return }
        isOver = true
        for action in session.connectionClosed() where action == .ended { occurrences.append(.ended) }
        stream.close()
    }
}
