/// An alert with which a server ended the connection (RFC 8446 section 6).
struct TLSAlert: CustomStringConvertible {
    /// AlertDescription.
    let number: Int32

    var description: String {
        let (name, advice) = meaning
        return "it ended the connection with the alert \"\(name)\"" + (advice.map { ": \($0)" } ?? "")
    }

    private var meaning: (name: String, advice: String?) {
        switch number {
        case 40:
            (
                "handshake failure",
                "no cipher or signature in common (a server with only an Ed25519 key needs an RSA or ECDSA key, too), "
                    + "or it requires a client certificate, which the board does not have"
            )
        case 42, 43, 46: ("bad certificate", Self.certificateAdvice)
        case 44: ("certificate revoked", Self.certificateAdvice)
        case 45: ("certificate expired", Self.certificateAdvice)
        case 48: ("unknown authority", Self.certificateAdvice)
        case 49: ("access denied", nil)
        case 50, 51: ("decoding failed", nil)
        case 70: ("protocol version", "it accepts neither TLS 1.2 nor TLS 1.3")
        case 71: ("insufficient security", "no cipher in common that it considers strong enough")
        case 80: ("internal error", "the fault is on the server")
        case 109: ("missing extension", nil)
        case 112: ("unrecognized name", "it has no host of this name; check the host")
        case 116: ("certificate required", "it requires a client certificate, which the board does not have")
        default: ("\(number)", nil)
        }
    }

    private static let certificateAdvice =
        "it requires a client certificate that it accepts, which the board does not have"
}
