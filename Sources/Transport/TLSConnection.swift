import CMbedTLS
import Glibc
import LinuxIO

/// TLS over a TCP connection, non-blocking. Used from one thread.
///
/// Keep reading until a `read` no longer fills its buffer: the rest of a received record is held in this object and makes no
/// descriptor readable.
public final class TLSConnection: ByteStream {
    public let peer: String
    private let endpoint: Endpoint
    let tcp: TCPConnection
    private let role: Role
    private let offer: TLSOffer
    private let verdict = CertificateVerdict()
    private let session: UnsafeMutablePointer<mbedtls_ssl_context>
    /// The socket's error after a TLS call failed with "the socket failed".
    var socketFailure: TransportError?
    /// The first byte from the server; `nil` until it arrives.
    var firstByte: UInt8?
    /// Plaintext of the record being sent. If the socket did not take all of it, mbedtls_ssl_write needs exactly the same bytes
    /// again.
    private var record: [UInt8] = []
    private var recordIsPending = false
    private var waitsForWritable = false
    private var isOpen = true
    private var isFinishing = false
    private var hasSentEnd = false
    private let isNumericHost: Bool

    /// What the session refers to, so that this must outlive it.
    private enum Role {
        case client(TLSContext)
        case server(TLSServerIdentity)
    }

    /// Taken from the server's mark (RFC 8446 section 4.1.3). Only known if TLS 1.2 alone was offered.
    var serverSpeaksTLS13 = false
    public var fallbackReason: String?

    /// Starts a connection; call `advanceHandshake` next.
    init(
        over tcp: TCPConnection, to endpoint: Endpoint, context: TLSContext, offer: TLSOffer = .latest
    ) throws(TransportError) {
        self.tcp = tcp
        self.offer = offer
        self.endpoint = endpoint
        role = .client(context)
        peer = tcp.peer
        isNumericHost = SocketAddress(numericHost: endpoint.host, port: endpoint.port) != nil
        session = .allocate(capacity: 1)
        mbedtls_ssl_init(session)
        record.reserveCapacity(Self.maximumRecordSize)
        var result = mbedtls_ssl_setup(session, context.configuration(for: offer))
        // Server Name Indication is only for names (RFC 6066 section 3). A numeric address is checked after the handshake.
        if result == 0 { result = mbedtls_ssl_set_hostname(session, isNumericHost ? nil : endpoint.host) }
        guard result == 0 else { throw .tlsUnavailable(reason: describeTLSError(result)) }
        let owner = Unmanaged.passUnretained(self).toOpaque()
        mbedtls_ssl_set_bio(session, owner, sendThroughSocket, receiveThroughSocket, nil)
        mbedtls_ssl_set_verify(session, noteCertificate, Unmanaged.passUnretained(verdict).toOpaque())
        // The library offers no other access to the server's random number.
        if offer == .tls12 { mbedtls_ssl_set_export_keys_cb(session, noteServerRandom, owner) }
    }

    /// Serves a client. The handshake runs while this connection is read.
    public init(serving tcp: TCPConnection, as identity: TLSServerIdentity) throws(TransportError) {
        self.tcp = tcp
        role = .server(identity)
        (offer, isNumericHost) = (.latest, false)
        (peer, endpoint) = (tcp.peer, Endpoint(host: tcp.peer, port: 0))
        session = .allocate(capacity: 1)
        mbedtls_ssl_init(session)
        let result = mbedtls_ssl_setup(session, identity.configuration)
        guard result == 0 else { throw .tlsUnavailable(reason: describeTLSError(result)) }
        mbedtls_ssl_set_bio(
            session, Unmanaged.passUnretained(self).toOpaque(), sendThroughSocket, receiveThroughSocket, nil)
    }

    deinit {
        mbedtls_ssl_free(session)
        session.deallocate()
    }

    /// The most bytes that one record carries (RFC 8446 section 5.1).
    private static let maximumRecordSize = 16_384

    /// `TLSv1.2` or `TLSv1.3`, after the handshake.
    public var tlsVersion: String? { mbedtls_ssl_get_version(session).map { String(cString: $0) } }
    public var fileDescriptor: Int32 { isOpen ? tcp.fileDescriptor : -1 }
    public var unsentByteCount: Int { tcp.unsentByteCount + (isOpen && recordIsPending ? record.count : 0) }
    public var unacknowledgedByteCount: Int {
        tcp.unacknowledgedByteCount + (isOpen && recordIsPending ? record.count : 0)
    }

    public var localAddress: SocketAddress? { tcp.localAddress }
    public var isUnanswered: Bool { tcp.isUnanswered }

    public func pollEvents(hasBytesToWrite: Bool) -> PollEvents {
        tcp.pollEvents(hasBytesToWrite: hasBytesToWrite || recordIsPending || waitsForWritable)
    }

    /// Continues the handshake as far as possible without blocking.
    /// - Returns: whether the handshake is complete.
    func advanceHandshake() throws(TransportError) -> Bool {
        let result = mbedtls_ssl_handshake(session)
        switch result {
        case 0:
            guard !serverSpeaksTLS13 else { throw .tlsFailed(endpoint, .downgraded) }
            try checkNumericHost()
            waitsForWritable = false
            return true
        case MBEDTLS_ERR_SSL_WANT_READ: waitsForWritable = false
        case MBEDTLS_ERR_SSL_WANT_WRITE: waitsForWritable = true
        default:
            if let socketFailure { throw handshakeLoss(socketFailure) }
            throw .tlsFailed(endpoint, handshakeFailure(result))
        }
        return false
    }

    public func write(_ slices: UnsafeBufferPointer<UnsafeRawBufferPointer>) throws(TransportError) -> Int {
        guard isOpen else { throw .canceled }
        guard try sendPendingRecord() else { return 0 }
        fillRecord(from: slices)
        guard !record.isEmpty else { return 0 }
        // The record counts as taken even if the socket has no room for all of it.
        let taken = record.count
        recordIsPending = true
        _ = try sendPendingRecord()
        return taken
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> ReadResult {
        guard isOpen else { throw .canceled }
        guard let bytes = buffer.baseAddress, !buffer.isEmpty else { return .wouldBlock }
        waitsForWritable = false
        if try sendPendingRecord() { sendEnd() }
        while true {
            let result = mbedtls_ssl_read(session, bytes.assumingMemoryBound(to: UInt8.self), buffer.count)
            switch result {
            case 1...: return .bytes(Int(result))
            case MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET: continue
            case MBEDTLS_ERR_SSL_WANT_READ: return .wouldBlock
            case MBEDTLS_ERR_SSL_WANT_WRITE:
                waitsForWritable = true
                return .wouldBlock
            case 0, MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY, MBEDTLS_ERR_SSL_CONN_EOF: return .closed
            default: throw transferFailure(result)
            }
        }
    }

    public func finishSending() {
        guard isOpen else { return }
        isFinishing = true
        if let isSent = try? sendPendingRecord(), isSent { sendEnd() }
    }

    /// Ends TLS and TCP, once, after everything else has reached the socket.
    private func sendEnd() {
        guard isFinishing, !hasSentEnd else { return }
        hasSentEnd = true
        mbedtls_ssl_close_notify(session)
        tcp.finishSending()
    }

    public func close() {
        guard isOpen else { return }
        _ = try? sendPendingRecord()
        // Without this, the server could take the end for an attack. It is lost if the socket has no room, which is allowed.
        if !hasSentEnd { mbedtls_ssl_close_notify(session) }
        isOpen = false
        tcp.close()
    }

    public func abort() {
        isOpen = false
        tcp.abort()
    }
}

extension TLSConnection {
    /// - Returns: whether all pending data has been sent.
    private func sendPendingRecord() throws(TransportError) -> Bool {
        guard recordIsPending else { return true }
        let result = mbedtls_ssl_write(session, record, record.count)
        switch result {
        case MBEDTLS_ERR_SSL_WANT_READ, MBEDTLS_ERR_SSL_WANT_WRITE: return false
        case 0...:
            // The server may have asked for smaller records, so the rest goes into the next one.
            record.removeFirst(Int(result))
            recordIsPending = !record.isEmpty
            return try sendPendingRecord()
        default: throw transferFailure(result)
        }
    }

    private func fillRecord(from slices: UnsafeBufferPointer<UnsafeRawBufferPointer>) {
        record.removeAll(keepingCapacity: true)
        for slice in slices {
            record.append(contentsOf: slice.prefix(Self.maximumRecordSize - record.count))
        }
    }

    private func transferFailure(_ result: Int32) -> TransportError {
        if result == MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE { return .tlsFailed(endpoint, .handshake(reason: alertText)) }
        guard let socketFailure else {
            return .tlsFailed(endpoint, .protocolViolation(reason: describeTLSError(result)))
        }
        return waitingAlert ?? socketFailure
    }

    private var alertText: String { "\(TLSAlert(number: cmbedtls_received_alert(session)))" }

    /// The server's alert before it cut the connection. In TLS 1.3, a server refuses after the handshake, when the client is
    /// already sending.
    private var waitingAlert: TransportError? {
        var buffer = [UInt8](repeating: 0, count: 1024)
        for _ in 0..<16 {
            switch mbedtls_ssl_read(session, &buffer, buffer.count) {
            case 1..., MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET: continue
            case MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE: return .tlsFailed(endpoint, .handshake(reason: alertText))
            default: return nil
            }
        }
        return nil
    }

    private func handshakeFailure(_ result: Int32) -> TLSFailure {
        // Includes checks that only the library makes, such as the purposes a certificate is for.
        let flags = mbedtls_ssl_get_verify_result(session)
        if flags != .max { verdict.add(flags: flags) }
        if let failure = verdict.failure(expectedHost: endpoint.host) { return failure }
        switch result {
        case MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE: return .handshake(reason: alertText)
        // For a chain that is too long, the library reports only this. Its other causes cannot occur here.
        case MBEDTLS_ERR_X509_FATAL_ERROR:
            return .certificateUnacceptable(
                reason: "its chain has more than \(MBEDTLS_X509_MAX_INTERMEDIATE_CA) intermediate certificates")
        case MBEDTLS_ERR_SSL_ILLEGAL_PARAMETER where rejectedPSS: return .signatureRejected
        case MBEDTLS_ERR_SSL_CONN_EOF where firstByte == nil: return .handshake(reason: Self.silence)
        case MBEDTLS_ERR_SSL_CONN_EOF: return .handshake(reason: "the server closed the connection")
        // An RTMP server's first byte is its version.
        case MBEDTLS_ERR_SSL_INVALID_RECORD where firstByte == 3:
            return .handshake(reason: "the server speaks RTMP without TLS on this port; start the URL with rtmp://")
        case MBEDTLS_ERR_SSL_INVALID_RECORD, MBEDTLS_ERR_SSL_BAD_PROTOCOL_VERSION, MBEDTLS_ERR_SSL_UNEXPECTED_MESSAGE:
            return .handshake(reason: "the server does not speak TLS 1.2 or 1.3 (\(describeTLSError(result)))")
        default: return .handshake(reason: describeTLSError(result))
        }
    }

    private static let silence =
        "the server closed the connection without an answer; if it expects RTMP without TLS on this port, "
        + "start the URL with rtmp://"

    /// A server that does not understand the client often cuts the connection.
    private func handshakeLoss(_ error: TransportError) -> TransportError {
        guard firstByte == nil, case .closedByPeer(_, let cause) = error, cause.number == ECONNRESET else {
            return error
        }
        return .tlsFailed(endpoint, .handshake(reason: Self.silence))
    }

    /// Whether the library rejected a TLS 1.2 RSA-PSS signature although it had offered that scheme. The certificates were
    /// verified before that.
    private var rejectedPSS: Bool {
        guard offer == .latest, mbedtls_ssl_get_version_number(session) == MBEDTLS_SSL_VERSION_TLS1_2 else {
            return false
        }
        var count = 0
        let bytes = cmbedtls_received_handshake_message(session, &count)
        return ServerKeyExchange(Array(UnsafeBufferPointer(start: bytes, count: count)))?.isSignedWithPSS == true
    }

    /// Checks the chain again, with the numeric address as the expected name.
    private func checkNumericHost() throws(TransportError) {
        guard isNumericHost, case .client(let context) = role else { return }
        let host = String(endpoint.host.prefix { $0 != "%" })
        var flags: UInt32 = 0
        guard let chain = mbedtls_ssl_get_peer_cert(session) else {
            throw .tlsFailed(endpoint, .certificateUnacceptable(reason: "the server sent none"))
        }
        let result = mbedtls_x509_crt_verify(
            UnsafeMutablePointer(mutating: chain), context.authorities, nil, host, &flags, nil, nil)
        guard result != 0 || flags != 0 else { return }
        verdict.add(flags: flags)
        throw .tlsFailed(endpoint, handshakeFailure(result))
    }
}
