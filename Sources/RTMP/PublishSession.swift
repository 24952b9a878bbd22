import Bitstream
import Media

/// The publisher's side of one RTMP connection, without the connection itself: events in, actions out.
///
/// 1. `connectionOpened(now:)` when TCP (and TLS) is connected,
/// 2. `bytesReceived(_:now:)` for all received bytes, `timePassed(now:)` at `nextDeadline`,
/// 3. after `.publishingStarted`: `chunkMetadata(at:)`, then `chunk(_:)` for each packet; write the results completely,
/// 4. `stopRequested()` at the end, unless `.failed` ends the session.
///
/// A server that requires a password needs a new connection for each step of authentication, requested by
/// `.reopenConnection`.
///
/// Send the bytes of `.send` in order, between whole media messages, never inside one. Each connection starts with
/// fresh state: `connectionOpened` may be called again for the next one.
public struct PublishSession: Sendable {
    public enum Action: Equatable, Sendable {
        case send([UInt8])
        /// The server accepts media from now on, metadata first.
        case publishingStarted
        /// The server has received this many bytes of the connection. Never decreases.
        case acknowledged(byteCount: UInt64)
        /// Close the connection, open another one to the same host, and call `connectionOpened(now:)` again.
        case reopenConnection
        /// The server will soon end this connection: open a second session to the URL, continue here up to a keyframe,
        /// and continue there after it. Only reported if the configuration allows it.
        case reconnectRequested(RTMPURL)
        /// The server asks for another connection whose address is unusable: this connection continues. Reported once
        /// per connection.
        case reconnectRefused(ReconnectRefusal)
        /// The session has failed: close the connection.
        case failed(PublishError)
        /// The final messages are in the preceding `.send`: write them, then close.
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
    /// The remaining ping answers for the bytes being processed.
    var remainingPingAnswers = 0
    /// The window last sent to the server.
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

    /// The latest time to call `timePassed(now:)`; `nil` if no answer is awaited.
    public var nextDeadline: MediaTimestamp? { deadline }

    public var isPublishing: Bool {
        if case .publishing = state { true } else { false }
    }
}

// Events.
extension PublishSession {
    /// The connection is up. All state of an earlier one is reset.
    public mutating func connectionOpened(now: MediaTimestamp) -> [Action] {
        if case .awaitingReopening = state {
            // Keep only the answer to the server's challenge.
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

    /// Bytes arrived from the server, in any portions. They are not retained.
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

    /// To be called at `nextDeadline`; ends the session if an answer is overdue.
    public mutating func timePassed(now: MediaTimestamp) -> [Action] {
        guard let deadline, now >= deadline, let step else { return [] }
        fail(.timedOut(waitingFor: step))
        return takeActions()
    }

    /// Ends the stream. Always results in `.stopped`, unless the session has already ended.
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

    /// The server or the network ended the connection.
    public mutating func connectionClosed() -> [Action] {
        guard let step else { return [] }
        let isSilent = step == .handshake && handshake.isUnanswered && configuration.url.scheme == .rtmp
        fail(isSilent ? .closedUnencrypted : .connectionLost(during: step))
        return takeActions()
    }
}

// Media, the hot path. Only between `.publishingStarted` and the end.
extension PublishSession {
    /// Sets the time of timestamp zero. By default it is the decode time of the first packet.
    public mutating func mediaStarted(at time: MediaTimestamp) { chunker.mediaStarted(at: time) }

    /// Splits a packet into chunks, with FLV's media header before its payload. Nothing is copied.
    public mutating func chunk(_ packet: EncodedPacket) -> ChunkedMediaMessage {
        let message = chunker.chunk(packet)
        sentByteCount &+= UInt64(message.byteCount)
        return message
    }

    /// Splits an FLV tag into chunks, with its own timestamp. `onMetaData` is sent as `@setDataFrame`.
    public mutating func chunk(_ tag: FLVTag) -> ChunkedMediaMessage {
        let message = chunker.chunk(tag)
        sentByteCount &+= UInt64(message.byteCount)
        return message
    }

    /// The configuration's metadata, to be sent before the first packet of a connection and with its time: a stream
    /// that continues after a loss does not restart at zero.
    /// - Returns: `nil` if the media contains its own.
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
    /// Updates the metadata with the frame size in a header that is about to be sent.
    /// - Returns: whether the metadata must be sent again before the header.
    public mutating func updateMetadata(before packet: EncodedPacket) -> Bool {
        guard packet.kind == .videoHeader, let announced = configuration.metadata?.video?.size,
            let record = try? AVCDecoderConfigurationRecord(parsing: packet.payload),
            let unit = record.sequenceParameterSets.first, let size = try? SequenceParameterSet(nalUnit: unit).size,
            size != announced
        else { return false }
        configuration.metadata?.video?.size = size
        return true
    }

    /// More than any server needs; a flood of pings must not cause a flood of answers.
    static let pingAnswersPerPortion = 8
    /// The smallest window sent to the server, in bytes.
    static let smallestWindow: UInt32 = 4096

    /// The present step; `nil` outside a connection.
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

    /// Bytes to send come first.
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
