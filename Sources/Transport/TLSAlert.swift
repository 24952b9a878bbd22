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
                    + "or it wants a certificate of the board, which has none"
            )
        case 42, 43, 46: ("bad certificate", Self.certificateAdvice)
        case 44: ("certificate revoked", Self.certificateAdvice)
        case 45: ("certificate expired", Self.certificateAdvice)
        case 48: ("unknown authority", Self.certificateAdvice)
        case 49: ("access denied", nil)
        case 50, 51: ("decoding failed", nil)
        case 70: ("protocol version", "it takes neither TLS 1.2 nor TLS 1.3")
        case 71: ("insufficient security", "no cipher in common that it finds strong enough")
        case 80: ("internal error", "the fault is the server's")
        case 109: ("missing extension", nil)
        case 112: ("unrecognized name", "it knows no host of this name; check the host")
        case 116: ("certificate required", "it wants a certificate of the board, which has none")
        default: ("\(number)", nil)
        }
    }

    private static let certificateAdvice = "it wants a certificate of the board that it accepts, and the board has none"
}
