import Bitstream

/// The receiver's side of one RTMP connection, without the connection itself: accepts one publisher's stream. Bytes in,
/// actions out.
public struct ReceiveSession: Sendable {
    public enum Action: Equatable, Sendable {
        case send([UInt8])
        case publishStarted(application: String, streamName: String)
        /// The properties of `onMetaData`; they are also reported as a script tag in `.media`.
        case metadata([AMF0Property])
        /// Unchanged audio, video and data, with absolute timestamps.
        case media(FLVTag)
        /// The publisher ended its stream, or the connection ended during it. The connection may stay open.
        case ended
        /// Why this connection is refused; `.refused` follows.
        case rejected(Rejection)
        /// The refusal is in the preceding `.send`: write it, then close.
        case refused
        /// Nothing more can be read: close the connection.
        case failed(ReceiveError)
    }

    /// Requests that this side always refuses.
    public enum Rejection: Equatable, Sendable {
        /// A player requested a stream, but this server does not play streams.
        case player(application: String)
        /// The stream already has a publisher: it is in `takenStreams`.
        case nameInUse(application: String)
    }

    /// The name that identifies a publisher's stream.
    public struct StreamName: Hashable, Sendable {
        let application: String
        let name: String

        /// A query contains a password or signature, which may differ each time, so it is ignored.
        public init(application: String, name: String) {
            self.application = String(application.prefix { $0 != "?" })
            self.name = String(name.prefix { $0 != "?" })
        }
    }

    /// Streams that already have a publisher on another connection: a second one is refused.
    public var takenStreams: Set<StreamName> = []

    enum State {
        case handshaking
        /// Commands are exchanged, but there is no publisher.
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
    /// Bytes received on this connection.
    public private(set) var receivedByteCount: UInt64 = 0

    public init(configuration: ReceiveConfiguration) {
        self.configuration = configuration
        handshake = ServerHandshake(randomBytes: configuration.randomBytes)
        reader = ChunkReader(limits: configuration.limits)
        received.window = configuration.acknowledgementWindow
    }

    /// Bytes arrived from the publisher, in any portions. They are not retained.
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

    public mutating func connectionClosed() -> [Action] {
        defer { state = .ended }
        if case .publishing = state { return [.ended] }
        return []
    }

    /// Pings the publisher; its answer is ignored.
    public mutating func pingRequested(timestamp: UInt32) -> [Action] {
        guard isOpen else { return [] }
        send(.userControl(.pingRequest(timestamp: timestamp)))
        return takeActions()
    }

    /// Reports a stream error to the publisher. This side keeps the stream open.
    public mutating func streamErrorRequested(code: String, description: String) -> [Action] {
        guard case .publishing(let streamID) = state else { return [] }
        sendStatus(level: "error", code: code, description: description, streamID: streamID)
        return takeActions()
    }

    /// Asks the publisher to switch to another connection (Enhanced RTMP v2, "Reconnect Request").
    /// - Parameter tcURL: the target, absolute or relative; `nil` for the same address.
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

    /// Whether messages can be sent to the publisher.
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

    /// Bytes to send come first.
    mutating func takeActions() -> [Action] {
        let result = outgoing.isEmpty ? actions : [.send(outgoing)] + actions
        outgoing = []
        actions = []
        return result
    }
}
