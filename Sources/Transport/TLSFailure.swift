/// Why a TLS connection was refused. Each case has its own remedy.
public enum TLSFailure: Error, Hashable, Sendable {
    /// - `until`: when the certificate expired, `now`: the board's time; both UTC.
    case certificateExpired(until: String, now: String)
    /// - `from`: when the certificate becomes valid, `now`: the board's time; both UTC.
    case certificateNotYetValid(from: String, now: String)
    /// The certificate is for other hosts, listed in `names`.
    case wrongHost(expected: String, names: [String])
    case selfSigned(subject: String)
    case unknownAuthority(issuer: String)
    case certificateRevoked
    /// A weak key, a forbidden use, or similar.
    case certificateUnacceptable(reason: String)
    /// The server signs with RSA-PSS under TLS 1.2, which the library offers and then rejects (Mbed TLS 3.6.6).
    case signatureRejected
    /// A server that was offered only TLS 1.2 reports that it supports TLS 1.3 (RFC 8446 section 4.1.3).
    case downgraded
    /// The peer does not speak TLS, or shares no version or cipher suite with us.
    case handshake(reason: String)
    /// A record was altered or truncated in transit.
    case protocolViolation(reason: String)
}

extension TLSFailure: CustomStringConvertible {
    static let trustAdvice = "--ca FILE, or caFile in stream.json"

    public var description: String {
        switch self {
        case .certificateExpired(let until, let now):
            "the server's certificate expired at \(until); the board's clock says \(now), set it if that is wrong"
        case .certificateNotYetValid(let from, let now):
            "the server's certificate is valid only from \(from), but the board's clock says \(now): "
                + "the clock is probably wrong; set it"
        case .wrongHost(let expected, let names):
            "the server's certificate is not for \(expected)"
                + (names.isEmpty ? "" : " but for " + names.joined(separator: ", "))
        case .selfSigned(let subject):
            "the server's certificate (\(subject)) is self-signed; to trust it, name its PEM file: "
                + Self.trustAdvice
        case .unknownAuthority(let issuer):
            "the server's certificate comes from an authority that is not trusted (\(issuer)); to trust it, name its "
                + "PEM file: \(Self.trustAdvice)"
        case .certificateRevoked: "the server's certificate was revoked"
        case .certificateUnacceptable(let reason): "the server's certificate cannot be accepted: \(reason)"
        case .signatureRejected: "the server signs with RSA-PSS under TLS 1.2, which this program cannot verify"
        case .downgraded:
            "the server supports TLS 1.3, but was offered TLS 1.2 because it seemed to support nothing else; "
                + "an attacker may have intervened, or the server was changed. The next attempt offers TLS 1.3"
        case .handshake(let reason): "the handshake failed: \(reason)"
        case .protocolViolation(let reason): "the connection is damaged: \(reason)"
        }
    }
}
