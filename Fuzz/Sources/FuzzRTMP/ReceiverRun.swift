import Bitstream
import Media
import RTMP

/// A receiver's state when the input starts.
enum ReceiverState: CaseIterable {
    case handshaking
    case open
    case publishing

    /// Made once, like the publisher's.
    static let sessions: [ReceiveSession] = {
        var session = ReceiveSession(
            configuration: ReceiveConfiguration(
                randomBytes: [UInt8](repeating: 5, count: 1528), announcedWindow: 1000, acknowledgementWindow: 500))
        var sessions = [session]
        let handshake = [3] + [UInt8](repeating: 7, count: 2 * 1536)
        _ = handshake.withUnsafeBytes { session.bytesReceived($0) }
        sessions.append(session)
        var publish: [UInt8] = []
        let command = Command("publish", transactionID: 5, arguments: [.string("door"), .string("live")])
        ChunkWriter().append(command.message(streamID: 1), chunkStreamID: 3, to: &publish)
        let actions = publish.withUnsafeBytes { session.bytesReceived($0) }
        precondition(actions.contains(.publishStarted(application: "", streamName: "door")))
        return sessions + [session]
    }()
}

/// A receiver that runs through a script, with checks on the way.
struct ReceiverRun {
    private var session: ReceiveSession
    private var hasEnded = false
    private var isPublishing: Bool
    /// The session's reactions to the bytes, without what it sent: acknowledgements and answers to pings depend on the
    /// portions.
    private(set) var events: [ReceiveSession.Action] = []
    /// All metadata in encoded form: as values, NaN would not equal itself.
    private(set) var metadata: [UInt8] = []

    init(_ state: ReceiverState, _ script: Script) {
        let index = ReceiverState.allCases.firstIndex(of: state) ?? 0
        session = ReceiverState.sessions[index]
        isPublishing = state == .publishing
        var run = self
        script.run { bytes in
            run.happened(run.session.bytesReceived(bytes))
        } interruption: { event in
            if event == .connectionCloses {
                run.happened(run.session.connectionClosed())
                run.hasEnded = true
            }
        }
        self = run
    }

    private mutating func happened(_ actions: [ReceiveSession.Action]) {
        precondition(!hasEnded || actions.isEmpty, "something happens after the end")
        for action in actions {
            precondition(!hasEnded, "something follows the end")
            switch action {
            case .send: continue
            case .publishStarted:
                precondition(!isPublishing, "a second stream on one connection")
                isPublishing = true
            case .metadata(let properties):
                precondition(isPublishing)
                metadata.appendAMF0(.object(properties))
                continue
            case .media(let tag):
                precondition(isPublishing, "media of no stream")
                Relay.check(tag)
            case .ended:
                precondition(isPublishing, "the end of no stream")
                isPublishing = false
            case .rejected: break
            case .refused: hasEnded = true
            case .failed(let error):
                precondition(!"\(error)".isEmpty)
                hasEnded = true
            }
            events.append(action)
        }
    }
}

/// Checks that received media can be sent on: the chunks of a tag yield the same tag again.
enum Relay {
    static func check(_ tag: FLVTag) {
        var publisher = PublisherState.sessions[PublisherState.sessions.count - 1]
        // Like a file's tags: a slice of the read bytes.
        let message = publisher.chunk(
            FLVTag(kind: tag.kind, timestamp: tag.timestamp, buffer: [0] + tag.body, body: 1..<tag.body.count + 1))
        var wire: [UInt8] = []
        while wire.count < message.byteCount {
            let before = wire.count
            message.withSlices(from: before) { slices in
                for slice in slices { wire += slice }
            }
            precondition(wire.count > before, "bytes of a message are missing")
        }
        var reader = reader
        var offset = 0
        let received = wire.withUnsafeBytes { try? reader.nextMessage(in: $0, from: &offset) }
        guard let received else { preconditionFailure("the message cannot be read back") }
        precondition(offset == wire.count && received.timestamp == tag.timestamp)
        precondition(received.type.rawValue == tag.kind.rawValue)
        precondition(received.payload.suffix(tag.body.count) == tag.body, "the message changed on its way")
    }

    /// Knows the publisher's chunk size.
    private static let reader: ChunkReader = {
        var reader = ChunkReader()
        var bytes: [UInt8] = []
        ChunkWriter().append(ControlMessage.setChunkSize(65_536).message, chunkStreamID: 2, to: &bytes)
        var offset = 0
        _ = bytes.withUnsafeBytes { try? reader.nextMessage(in: $0, from: &offset) }
        precondition(reader.chunkSize == 65_536)
        return reader
    }()
}
