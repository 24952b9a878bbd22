import Bitstream
import Glibc
import LinuxIO
import Media
import RTMP
import Transport

/// A publisher's RTMP connection: the byte stream, the session on it, and a half-written message. Used from the network
/// thread.
package final class PublishConnection {
    /// An event for the owner of the connection.
    package enum Event {
        case publishingStarted
        case acknowledged(byteCount: UInt64)
        /// The server wants another connection before it answers (a password's challenge): `reopen` on it.
        case reopeningWanted
        /// The server asks the stream to move.
        case reconnectRequested(RTMPURL)
        /// It asks so, but the new address cannot be used.
        case reconnectRefused(ReconnectRefusal)
        /// The goodbye was sent, and the server has closed or run out of time: close.
        case stopped
        case failed(PublishError)
    }

    let url: RTMPURL
    private var stream: any ByteStream
    // One thread uses this, and nothing here calls back into the object. So properties used with every message need no
    // run-time check for overlapping accesses.
    @exclusivity(unchecked) private var session: PublishSession
    /// A partly written media message, and how much of it is written.
    @exclusivity(unchecked) private var message: ChunkedMediaMessage?
    @exclusivity(unchecked) private var messageOffset = 0
    /// Commands and control messages, sent between media messages.
    @exclusivity(unchecked) private var control: [UInt8] = []
    private var controlOffset = 0
    @exclusivity(unchecked) private var events: [Event] = []
    @exclusivity(unchecked) private var writtenByteCount = 0
    private var isStopping = false
    /// Nothing more will be sent.
    private var hasFailed = false
    /// The goodbye's deadline; `nil` before it.
    private var goodbyeDeadline: MediaTimestamp?
    /// Whether everything is written and only the server's end of the connection is missing.
    private var isLingering = false
    private var receiveBuffer = [UInt8](repeating: 0, count: 16_384)
    /// Limits reading, so that a server that never stops sending does not block the thread.
    private static let readsPerTurn = 32
    /// The last turn ended before everything was read. There may be bytes that no descriptor reports.
    private var readsOn = false

    package init(stream: any ByteStream, configuration: PublishConfiguration) {
        url = configuration.url
        self.stream = stream
        session = PublishSession(configuration: configuration)
    }

    package var fileDescriptor: Int32 { stream.fileDescriptor }
    package var peer: String { stream.peer }
    /// In the past if there may be more to read.
    package var nextDeadline: MediaTimestamp? {
        readsOn && !isLingering ? .zero : goodbyeDeadline ?? session.nextDeadline
    }
    package var isPublishing: Bool { session.isPublishing }
    /// Includes the part of a half-written message that the kernel has not taken yet.
    var unsentByteCount: Int { stream.unsentByteCount + unwrittenByteCount }
    /// The same, plus bytes sent but not acknowledged.
    var unacknowledgedByteCount: Int { stream.unacknowledgedByteCount + unwrittenByteCount }
    private var unwrittenByteCount: Int {
        (message?.byteCount ?? messageOffset) - messageOffset + control.count - controlOffset
    }
    /// All bytes that were handed over for sending.
    var handedOverByteCount: Int { writtenByteCount + unwrittenByteCount }
    /// Bytes that the server's machine has received, approximately: bytes added by encryption are not counted.
    var deliveredByteCount: Int { writtenByteCount - stream.unacknowledgedByteCount }
    /// Whether the server's machine does not acknowledge bytes that were sent repeatedly.
    var isUnanswered: Bool { stream.isUnanswered }
    /// Whether the next media message can be accepted.
    package var isIdle: Bool { message == nil && control.isEmpty }
    package var pollEvents: PollEvents { stream.pollEvents(hasBytesToWrite: !isIdle) }

    package func open() throws -> [Event] {
        perform(session.connectionOpened(now: MonotonicClock.now()))
        return try flush()
    }

    /// Continues the session on a new stream; the old one is closed.
    package func reopen(on stream: any ByteStream) throws -> [Event] {
        self.stream.close()
        self.stream = stream
        message = nil
        control.removeAll()
        controlOffset = 0
        hasFailed = false
        readsOn = false
        return try open()
    }

    /// Reads available bytes, writes as much as fits, and checks the clock.
    package func service(ready: PollEvents) throws -> [Event] {
        if let goodbyeDeadline, MonotonicClock.now() >= goodbyeDeadline { return [.stopped] }
        if isLingering { return hasServerClosed() ? [.stopped] : [] }
        // Room to write is not a reason to read, unless TLS needs room in order to read.
        if readsOn || !ready.isEmpty && (ready != .writable || isIdle) { try read() }
        if let deadline = session.nextDeadline, MonotonicClock.now() >= deadline {
            perform(session.timePassed(now: MonotonicClock.now()))
        }
        // A server that refuses may close before the answer is sent. Its message is the reason, not the broken connection.
        return hasFailed ? takeEvents() : try flush()
    }

    /// The media's time zero; otherwise, the first packet's time.
    func mediaStarted(at time: MediaTimestamp) { session.mediaStarted(at: time) }

    /// Sends a packet. To be called only while `isIdle`.
    func send(_ packet: EncodedPacket) throws -> [Event] { try send(session.chunk(packet)) }

    /// Sends an FLV tag with its own timestamp. To be called only while `isIdle`.
    package func send(_ tag: FLVTag) throws -> [Event] { try send(session.chunk(tag)) }

    /// Whether metadata of another frame size has to be sent before this packet.
    func needsMetadata(before packet: EncodedPacket) -> Bool { session.updateMetadata(before: packet) }

    /// Sends the metadata, if there is any. To be called only while `isIdle`.
    func sendMetadata(at time: MediaTimestamp) throws -> [Event] {
        guard let metadata = session.chunkMetadata(at: time) else { return [] }
        return try send(metadata)
    }

    private func send(_ chunked: ChunkedMediaMessage) throws -> [Event] {
        // Usually all of it fits at once, and nothing must be kept.
        let written = try write(chunked, from: 0)
        if written < chunked.byteCount {
            message = chunked
            messageOffset = written
        }
        return takeEvents()
    }

    /// Says goodbye; `.stopped` follows within `timeout`.
    ///
    /// Closing a socket with unread bytes from the server resets the connection, and the server loses what it has not read yet.
    /// So close this direction first and wait for the server to close the other.
    package func stop(within timeout: Duration) throws -> [Event] {
        goodbyeDeadline = MonotonicClock.now() + timeout
        perform(session.stopRequested())
        return try flush()
    }

    /// Reads and ignores the server's last messages. A connection that breaks now is also over.
    private func hasServerClosed() -> Bool {
        for _ in 0..<Self.readsPerTurn {
            switch Result(catching: { try stream.read(into: &receiveBuffer) }) {
            case .success(.bytes): continue
            case .success(.wouldBlock): return false
            case .success(.closed), .failure: return true
            }
        }
        return false
    }

    package func close() { stream.close() }

    /// Discards unsent bytes and tells the server that the connection is dead.
    func abort() { stream.abort() }

    private func read() throws {
        readsOn = false
        for _ in 0..<Self.readsPerTurn {
            switch try readPortion() {
            case .wouldBlock: return
            case .closed:
                perform(session.connectionClosed())
                return
            case .bytes(let count):
                let actions = receiveBuffer.withUnsafeBytes { bytes in
                    session.bytesReceived(
                        UnsafeRawBufferPointer(rebasing: bytes[..<min(count, bytes.count)]), now: MonotonicClock.now())
                }
                perform(actions)
                if count < receiveBuffer.count { return }
            }
        }
        readsOn = true
    }

    /// A server that refuses before media flows may cut the connection instead of closing it. The step in progress then tells
    /// more than the error.
    private func readPortion() throws -> ReadResult {
        do throws(TransportError) {
            return try stream.read(into: &receiveBuffer)
        } catch {
            guard case .closedByPeer(_, let cause) = error, cause.number == ECONNRESET, !session.isPublishing else {
                throw error
            }
            return .closed
        }
    }

    private func perform(_ actions: [PublishSession.Action]) {
        for action in actions {
            switch action {
            case .send(let bytes): control += bytes
            case .publishingStarted: events.append(.publishingStarted)
            case .acknowledged(let byteCount): events.append(.acknowledged(byteCount: byteCount))
            case .reopenConnection: events.append(.reopeningWanted)
            case .reconnectRequested(let url): events.append(.reconnectRequested(url))
            case .reconnectRefused(let refusal): events.append(.reconnectRefused(refusal))
            case .failed(let error):
                hasFailed = true
                events.append(.failed(error))
            case .stopped: isStopping = true
            }
        }
    }

    /// Writes until everything is written or nothing more fits: first the started message, then control messages.
    private func flush() throws -> [Event] {
        try flushMessage()
        if message == nil { try flushControl() }
        if isStopping && isIdle {
            isStopping = false
            isLingering = true
            stream.finishSending()
        }
        return takeEvents()
    }

    private func takeEvents() -> [Event] {
        guard !events.isEmpty else { return [] }
        defer { events = [] }
        return events
    }

    private func flushMessage() throws {
        guard let chunked = message else { return }
        messageOffset = try write(chunked, from: messageOffset)
        if messageOffset == chunked.byteCount { message = nil }
    }

    /// Writes as much as fits.
    /// - Returns: how much of the message is now written.
    private func write(_ chunked: ChunkedMediaMessage, from start: Int) throws -> Int {
        let stream = stream
        var offset = start
        while offset < chunked.byteCount {
            let written = try chunked.withSlices(from: offset) { try stream.write($0) }
            if written == 0 { break }
            offset += written
        }
        writtenByteCount += offset - start
        return offset
    }

    private func flushControl() throws {
        guard !control.isEmpty else { return }
        while controlOffset < control.count {
            let written = try control.withUnsafeBytes { bytes in
                try withUnsafePointer(to: UnsafeRawBufferPointer(rebasing: bytes[controlOffset...])) {
                    try stream.write(UnsafeBufferPointer(start: $0, count: 1))
                }
            }
            if written == 0 { return }
            controlOffset += written
            writtenByteCount += written
        }
        control.removeAll(keepingCapacity: true)
        controlOffset = 0
    }
}
