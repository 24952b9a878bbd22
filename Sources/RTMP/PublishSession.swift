import Bitstream
import Media

/// The publisher's side of one RTMP connection, without the connection: events in, actions out.
///
/// 1. `connectionOpened(now:)` when TCP (and TLS) stands,
/// 2. `bytesReceived(_:now:)` for whatever arrives, `timePassed(now:)` at `nextDeadline`,
/// 3. after `.publishingStarted`: `chunkMetadata(at:)`, then `chunk(_:)` for each packet, the results written whole,
/// 4. `stopRequested()` at the end; or `.failed` ends it.
///
/// A server that asks for a password wants a new connection for each of its questions:
/// `.reopenConnection` says when.
///
/// Bytes of `.send` go out in the order they come, between whole media messages, never inside one.
/// Every connection is a fresh state: `connectionOpened` may be called again for the next one.
public struct PublishSession: Sendable {
    public enum Action: Equatable, Sendable {
        case send([UInt8])
        /// The server takes media from now on, metadata first.
        case publishingStarted
        /// The server has received so many bytes of this connection. Never goes back.
        case acknowledged(byteCount: UInt64)
        /// Close the connection, open another one to the same host, and call `connectionOpened(now:)` again.
        case reopenConnection
        /// The server will soon end this connection: open a second session to the URL, go on here up to
        /// a keyframe, continue there. Comes only where the configuration accepts it.
        case reconnectRequested(RTMPURL)
        /// The server asks for another connection, to where none can be made: this one goes on. Reported once in a
        /// connection, whatever else the server asks for in vain.
        case reconnectRefused(ReconnectRefusal)
        /// It is over: close the connection.
        case failed(PublishError)
        /// What was to be said at the end is in the `.send` before: write that, then close.
        case stopped
    }

    enum State {
        case idle
        case handshaking
        case connecting
        case creatingStream
        case requestingPublish
        case publishing
        case awaitingReopening
        case ended
    }

    public private(set) var configuration: PublishConfiguration
    var state = State.idle
    var handshake: ClientHandshake
    var authentication: Authentication
    var reader = ChunkReader()
    var writer = ChunkWriter()
    var received = ReceivedByteCounter()
    var acknowledgements = AcknowledgedByteCounter()
    /// All bytes handed out for sending on this connection.
    public internal(set) var sentByteCount: UInt64 = 0
    var chunker: MediaChunker
    var deadline: MediaTimestamp?
    var outgoing: [UInt8] = []
    var actions: [Action] = []
    /// Answers to pings that may still be given for the bytes at hand.
    var remainingPingAnswers = 0
    /// The window that the server was sent last.
    var announcedWindow: UInt32 = 0
    var hasRefusedReconnect = false

    public init(configuration: PublishConfiguration) {
        self.configuration = configuration
        handshake = ClientHandshake(randomBytes: configuration.randomBytes)
        authentication = Self.authentication(configuration)
        chunker = Self.chunker(configuration, streamID: 0)
    }

    static func authentication(_ configuration: PublishConfiguration) -> Authentication {
        Authentication(
            credentials: configuration.url.credentials, application: configuration.url.application,
            randomBytes: configuration.randomBytes[...], digest: configuration.md5)
    }

    static func chunker(_ configuration: PublishConfiguration, streamID: UInt32) -> MediaChunker {
        MediaChunker(
            streamID: streamID, chunkSize: configuration.chunkSize, firstTimestamp: configuration.firstTimestamp)
    }

    /// When `timePassed(now:)` must be called at the latest; `nil` when nothing is waited for.
    public var nextDeadline: MediaTimestamp? { deadline }

    /// Whether media may be sent.
    public var isPublishing: Bool {
        if case .publishing = state { true } else { false }
    }
}

// Events.
extension PublishSession {
    /// The connection stands; starts with nothing kept from an earlier one.
    public mutating func connectionOpened(now: MediaTimestamp) -> [Action] {
        if case .awaitingReopening = state {
            // The answer to the server's question is all that is kept.
        } else {
            authentication = Self.authentication(configuration)
        }
        handshake = ClientHandshake(randomBytes: configuration.randomBytes)
        reader = ChunkReader()
        writer = ChunkWriter()
        received = ReceivedByteCounter()
        acknowledgements = AcknowledgedByteCounter()
        sentByteCount = 0
        announcedWindow = 0
        hasRefusedReconnect = false
        chunker = Self.chunker(configuration, streamID: 0)
        state = .handshaking
        deadline = now + configuration.timeouts.handshake
        outgoing = handshake.firstBytes
        return takeActions()
    }

    /// Bytes came from the server, in any portions. The bytes are not kept.
    public mutating func bytesReceived(_ bytes: UnsafeRawBufferPointer, now: MediaTimestamp) -> [Action] {
        guard step != nil else { return [] }
        remainingPingAnswers = Self.pingAnswersPerPortion
        if let sequenceNumber = received.bytesReceived(bytes.count) {
            send(.acknowledgement(sequenceNumber))
        }
        var offset = 0
        do throws(PublishError) {
            if case .handshaking = state { try continueHandshake(bytes, &offset, now) }
            while step != nil, let message = try nextMessage(bytes, &offset) {
                try messageReceived(message, now)
            }
        } catch {
            fail(error)
        }
        return takeActions()
    }

    /// The clock reached `now`; ends the session when an answer is overdue.
    public mutating func timePassed(now: MediaTimestamp) -> [Action] {
        guard let deadline, now >= deadline, let step else { return [] }
        fail(.timedOut(waitingFor: step))
        return takeActions()
    }

    /// The stream shall end. Always answers with `.stopped`, unless the session has ended before.
    public mutating func stopRequested() -> [Action] {
        switch state {
        case .ended: return []
        case .requestingPublish, .publishing:
            send(
                Command("FCUnpublish", transactionID: 6, arguments: [.string(configuration.url.streamName.revealed)]))
            send(
                Command("deleteStream", transactionID: 7, arguments: [.number(Double(chunker.streamID))]))
        case .idle, .handshaking, .connecting, .creatingStream, .awaitingReopening: break
        }
        end()
        actions.append(.stopped)
        return takeActions()
    }

    /// The connection ended, by the server or by the network.
    public mutating func connectionClosed() -> [Action] {
        guard let step else { return [] }
        let isSilent = step == .handshake && handshake.isUnanswered && configuration.url.scheme == .rtmp
        fail(isSilent ? .closedUnencrypted : .connectionLost(during: step))
        return takeActions()
    }
}

// Media, the hot path. Only between `.publishingStarted` and the end.
extension PublishSession {
    /// Sets the time that becomes timestamp zero. Without it that is the decode time of the first packet.
    public mutating func mediaStarted(at time: MediaTimestamp) { chunker.mediaStarted(at: time) }

    /// Cuts a packet into chunks, with FLV's media header before its payload. No byte is copied.
    public mutating func chunk(_ packet: EncodedPacket) -> ChunkedMediaMessage {
        let message = chunker.chunk(packet)
        sentByteCount &+= UInt64(message.byteCount)
        return message
    }

    /// Cuts an FLV tag into chunks, with its own timestamp. `onMetaData` is sent as `@setDataFrame`.
    public mutating func chunk(_ tag: FLVTag) -> ChunkedMediaMessage {
        let message = chunker.chunk(tag)
        sentByteCount &+= UInt64(message.byteCount)
        return message
    }

    /// The configuration's metadata, to be sent before the first packet of a connection and at its time: a stream that
    /// goes on after a loss does not start at zero again.
    /// - Returns: `nil` when the media brings its own.
    public mutating func chunkMetadata(at time: MediaTimestamp) -> ChunkedMediaMessage? {
        guard let metadata = configuration.metadata else { return nil }
        let message = chunker.chunk(
            dataFrame: metadata.dataFrame(encoderName: configuration.encoderName), at: time)
        sentByteCount &+= UInt64(message.byteCount)
        return message
    }
}

// Sending and ending.
extension PublishSession {
    /// Takes the frames' size out of a header that is about to be sent.
    /// - Returns: whether the metadata has to be sent again before it.
    public mutating func updateMetadata(before packet: EncodedPacket) -> Bool {
        guard packet.kind == .videoHeader, let announced = configuration.metadata?.video?.size,
            let record = try? AVCDecoderConfigurationRecord(parsing: packet.payload),
            let unit = record.sequenceParameterSets.first, let size = try? SequenceParameterSet(nalUnit: unit).size,
            size != announced
        else { return false }
        configuration.metadata?.video?.size = size
        return true
    }

    /// No server asks so often; a flood of pings shall not become a flood of answers.
    static let pingAnswersPerPortion = 8
    /// In bytes, for the window that the server is sent.
    static let smallestWindow: UInt32 = 4096

    /// What is going on, or `nil` outside a connection.
    var step: PublishStep? {
        switch state {
        case .idle, .awaitingReopening, .ended: nil
        case .handshaking: .handshake
        case .connecting: .connect
        case .creatingStream: .createStream
        case .requestingPublish: .publish
        case .publishing: .media
        }
    }

    mutating func send(_ control: ControlMessage) { writer.append(control, to: &outgoing) }
    mutating func send(_ command: Command, streamID: UInt32 = 0) {
        writer.append(command, streamID: streamID, to: &outgoing)
    }

    mutating func fail(_ error: PublishError) {
        end()
        actions.append(.failed(error))
    }

    mutating func end() {
        state = .ended
        deadline = nil
    }

    /// What has to be sent comes first.
    mutating func takeActions() -> [Action] {
        let result = outgoing.isEmpty ? actions : [.send(outgoing)] + actions
        sentByteCount &+= UInt64(outgoing.count)
        outgoing = []
        actions = []
        return result
    }

    private mutating func nextMessage(
        _ bytes: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(PublishError) -> Message? {
        do {
            return try reader.nextMessage(in: bytes, from: &offset)
        } catch {
            throw .invalidChunks(error)
        }
    }
}
