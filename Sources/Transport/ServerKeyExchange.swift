/// The signed part of a TLS 1.2 server's key exchange, for a client that could not verify it.
struct ServerKeyExchange {
    /// Its SignatureScheme (RFC 8446 section 4.2.3).
    let signatureScheme: UInt16

    var isSignedWithPSS: Bool { (0x0804...0x0806).contains(signatureScheme) }

    /// - Parameter message: a handshake message with its header.
    /// - Returns: `nil` unless the message is a signed ServerKeyExchange.
    init?(_ message: [UInt8]) {
        guard message.count > Self.headerByteCount, message[0] == Self.messageType else { return nil }
        let body = message[Self.headerByteCount...]
        // Only in one of the two layouts does the signature's length match the end of the message.
        guard let scheme = Self.schemeOfECDHE(body) ?? Self.schemeOfDHE(body) else { return nil }
        signatureScheme = scheme
    }

    private static let messageType: UInt8 = 12
    private static let headerByteCount = 4

    /// A named curve, a point, a signature (RFC 8422 section 5.4).
    private static func schemeOfECDHE(_ body: ArraySlice<UInt8>) -> UInt16? {
        var reader = VectorReader(rest: body)
        guard reader.number(byteCount: 1) == 3, reader.number(byteCount: 2) != nil,
            reader.skipVector(lengthByteCount: 1)
        else { return nil }
        return reader.lastSignature()
    }

    /// Modulus, generator, public value, a signature (RFC 5246 section 7.4.3).
    private static func schemeOfDHE(_ body: ArraySlice<UInt8>) -> UInt16? {
        var reader = VectorReader(rest: body)
        for _ in 0..<3 where !reader.skipVector(lengthByteCount: 2) { return nil }
        return reader.lastSignature()
    }
}

private struct VectorReader {
    var rest: ArraySlice<UInt8>

    mutating func number(byteCount: Int) -> Int? {
        guard rest.count >= byteCount else { return nil }
        defer { rest = rest.dropFirst(byteCount) }
        return rest.prefix(byteCount).reduce(0) { $0 << 8 | Int($1) }
    }

    /// - Returns: false if the vector is incomplete.
    mutating func skipVector(lengthByteCount: Int) -> Bool {
        guard let length = number(byteCount: lengthByteCount), length <= rest.count else { return false }
        rest = rest.dropFirst(length)
        return true
    }

    /// - Returns: its scheme; `nil` unless the signature ends exactly where the bytes end.
    mutating func lastSignature() -> UInt16? {
        guard let scheme = number(byteCount: 2), let length = number(byteCount: 2), length == rest.count else {
            return nil
        }
        return UInt16(scheme)
    }
}
