import Bitstream

/// The receiver's side of one RTMP connection, without the connection: takes one publisher's
/// stream. Bytes in, actions out.
public struct ReceiveSession: Sendable {
    public enum Action: Equatable, Sendable {
        case send([UInt8])
        case publishStarted(application: String, streamName: String)
        /// The properties of `onMetaData`; the same comes as a script tag in `.media`.
        case metadata([AMF0Property])
        /// Audio, video and data as they came, with absolute timestamps.
        case media(FLVTag)
        /// The publisher ended its stream, or the connection ended while it ran. The connection may stay open.
        case ended
        /// Why this connection is refused; `.refused` follows.
        case rejected(Rejection)
        /// The refusal is in the `.send` before: write that, then close.
        case refused
        /// Nothing more can be read: close the connection.
        case failed(ReceiveError)
    }

    /// What this side does not do, whatever its configuration.
    public enum Rejection: Equatable, Sendable {
        /// A player asked for a stream: none is served.
        case player(application: String)
        /// The stream has another publisher: it is one of `takenStreams`.
        case nameInUse(application: String)
    }

    /// What a publisher calls its stream, which distinguishes streams.
    public struct StreamName: Hashable, Sendable {
        let application: String
        let name: String

        /// What follows a question mark is a password or a signature, which may differ each time.
        public init(application: String, name: String) {
            self.application = String(application.prefix { $0 != "?" })
            self.name = String(name.prefix { $0 != "?" })
        }
    }

    /// Streams that have a publisher already, on other connections: a second one is refused.
    public var takenStreams: Set<StreamName> = []

    enum State {
        case handshaking
        /// Commands are exchanged; nobody publishes.
        case open
        case publishing(streamID: UInt32)
        case ended
    }

    public let configuration: ReceiveConfiguration
    var state = State.handshaking
    private var handshake: ServerHandshake
    var reader: ChunkReader
    var writer = ChunkWriter()
    var received = ReceivedByteCounter()
    var application = ""
    var lastStreamID: UInt32 = 0
    var outgoing: [UInt8] = []
    var actions: [Action] = []
    var remainingPingAnswers = 0
    /// Bytes that came over this connection.
    public private(set) var receivedByteCount: UInt64 = 0

    public init(configuration: ReceiveConfiguration) {
        self.configuration = configuration
        handshake = ServerHandshake(randomBytes: configuration.randomBytes)
        reader = ChunkReader(limits: configuration.limits)
        received.window = configuration.acknowledgementWindow
    }

    /// Bytes came from the publisher, in any portions. The bytes are not kept.
    public mutating func bytesReceived(_ bytes: UnsafeRawBufferPointer) -> [Action] {
        guard !hasEnded else { return [] }
        remainingPingAnswers = PublishSession.pingAnswersPerPortion
        receivedByteCount &+= UInt64(bytes.count)
        let sequenceNumber = received.bytesReceived(bytes.count)
        var offset = 0
        do throws(ReceiveError) {
            if case .handshaking = state {
                try continueHandshake(bytes, &offset)
            } else if let sequenceNumber {
                send(.acknowledgement(sequenceNumber))
            }
            while !hasEnded, let message = try nextMessage(bytes, &offset) { try messageReceived(message) }
        } catch {
            actions.append(.failed(error))
            state = .ended
        }
        return takeActions()
    }

    /// The connection ended.
    public mutating func connectionClosed() -> [Action] {
        defer { state = .ended }
        if case .publishing = state { return [.ended] }
        return []
    }

    /// Asks the publisher for a sign of life; its answer needs no attention.
    public mutating func pingRequested(timestamp: UInt32) -> [Action] {
        guard isOpen else { return [] }
        send(.userControl(.pingRequest(timestamp: timestamp)))
        return takeActions()
    }

    /// The publisher shall hear of a fault of its stream. The stream goes on as far as it is up to this side.
    public mutating func streamErrorRequested(code: String, description: String) -> [Action] {
        guard case .publishing(let streamID) = state else { return [] }
        sendStatus(level: "error", code: code, description: description, streamID: streamID)
        return takeActions()
    }

    /// The publisher shall go on over another connection (Enhanced RTMP v2, "Reconnect Request").
    /// - Parameter tcURL: where to, absolute or relative; `nil`: to the same place.
    public mutating func reconnectRequested(tcURL: String?) -> [Action] {
        guard isOpen else { return [] }
        var properties = [
            AMF0Property("level", .string("status")),
            AMF0Property("code", .string("NetConnection.Connect.ReconnectRequest")),
            AMF0Property("description", .string("The server is about to go away.")),
        ]
        if let tcURL { properties.append(AMF0Property("tcUrl", .string(tcURL))) }
        send(Command("onStatus", transactionID: 0, arguments: [.object(properties)]))
        return takeActions()
    }

    /// Whether messages can go to the publisher.
    private var isOpen: Bool {
        switch state {
        case .open, .publishing: true
        case .handshaking, .ended: false
        }
    }

    private mutating func continueHandshake(
        _ bytes: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(ReceiveError) {
        do {
            outgoing += try handshake.bytesReceived(bytes, from: &offset)
        } catch {
            throw .handshakeFailed(version: error.version)
        }
        if handshake.isComplete { state = .open }
    }

    private mutating func nextMessage(
        _ bytes: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(ReceiveError) -> Message? {
        do {
            return try reader.nextMessage(in: bytes, from: &offset)
        } catch {
            throw .invalidChunks(error)
        }
    }
}

// Sending.
extension ReceiveSession {
    var hasEnded: Bool {
        if case .ended = state { true } else { false }
    }

    mutating func send(_ control: ControlMessage) { writer.append(control, to: &outgoing) }
    mutating func send(_ command: Command, streamID: UInt32 = 0) {
        writer.append(command, streamID: streamID, to: &outgoing)
    }

    mutating func sendStatus(level: String, code: String, description: String, streamID: UInt32) {
        let information = AMF0Value.object([
            AMF0Property("level", .string(level)), AMF0Property("code", .string(code)),
            AMF0Property("description", .string(description)),
        ])
        send(Command("onStatus", transactionID: 0, arguments: [information]), streamID: streamID)
    }

    /// What has to be sent comes first.
    mutating func takeActions() -> [Action] {
        let result = outgoing.isEmpty ? actions : [.send(outgoing)] + actions
        outgoing = []
        actions = []
        return result
    }
}
