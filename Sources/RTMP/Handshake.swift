/// The simple handshake (RTMP 1.0 section 5.2): version, a packet of 1536 bytes in each direction, and the echo of the
/// peer's packet. Publishing does not need the variant with digests.
enum Handshake {
    static let version: UInt8 = 3
    static let packetByteCount = 1536
    static let randomByteCount = packetByteCount - 8

    /// C1 or S1: time zero, version zero (which requests the simple handshake), random bytes.
    static func packet(randomBytes: [UInt8]) -> [UInt8] {
        var packet = [UInt8](repeating: 0, count: 8)
        packet += randomBytes.prefix(randomByteCount)
        packet += [UInt8](repeating: 0, count: packetByteCount - packet.count)
        return packet
    }

    /// Moves bytes from the input to `buffer` until it contains `byteCount`.
    static func fill(
        _ buffer: inout [UInt8], upTo byteCount: Int, from input: UnsafeRawBufferPointer, _ offset: inout Int
    ) {
        let count = Swift.max(0, Swift.min(byteCount - buffer.count, input.count - offset))
        buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[offset..<offset + count]))
        offset += count
    }
}

/// The peer does not speak plain RTMP: its first byte is not 3.
public struct UnknownHandshakeVersion: Error, Equatable, Sendable {
    public let version: UInt8
}

/// The publisher's side.
public struct ClientHandshake: Sendable {
    /// C0 and C1, to be sent at once.
    public let firstBytes: [UInt8]
    private var received: [UInt8] = []
    private var hasAnswered = false
    public private(set) var isComplete = false
    /// The server has sent nothing.
    var isUnanswered: Bool { received.isEmpty }

    /// - Parameter randomBytes: 1528 bytes; missing ones become zero.
    public init(randomBytes: [UInt8]) {
        firstBytes = [Handshake.version] + Handshake.packet(randomBytes: randomBytes)
    }

    /// Consumes S0, S1 and S2 from `input`, starting at `offset`; later bytes are left.
    /// - Returns: C2 once S1 is complete, otherwise nothing.
    public mutating func bytesReceived(
        _ input: UnsafeRawBufferPointer, from offset: inout Int
    ) throws(UnknownHandshakeVersion) -> [UInt8] {
        let answerEnd = 1 + Handshake.packetByteCount
        Handshake.fill(&received, upTo: answerEnd + Handshake.packetByteCount, from: input, &offset)
        if let version = received.first, version != Handshake.version {
            throw UnknownHandshakeVersion(version: version)
        }
        // S2 should echo C1, but some servers send their own bytes, so it is not compared.
        isComplete = received.count == answerEnd + Handshake.packetByteCount
        guard !hasAnswered, received.count >= answerEnd else { return [] }
        hasAnswered = true
        return Array(received[1..<answerEnd])
    }
}

/// The receiver's side.
public struct ServerHandshake: Sendable {
    private let packet: [UInt8]
    private var received: [UInt8] = []
    private var hasAnswered = false
    public private(set) var isComplete = false

    /// - Parameter randomBytes: 1528 bytes; missing ones become zero.
    public init(randomBytes: [UInt8]) { packet = Handshake.packet(randomBytes: randomBytes) }

    /// Consumes C0, C1 and C2 from `input`, starting at `offset`; later bytes are left.
    /// - Returns: S0, S1 and S2 once C1 is complete, otherwise nothing.
    public mutating func bytesReceived(
        _ input: UnsafeRawBufferPointer, from offset: inout Int
    ) throws(UnknownHandshakeVersion) -> [UInt8] {
        let openingEnd = 1 + Handshake.packetByteCount
        Handshake.fill(&received, upTo: openingEnd + Handshake.packetByteCount, from: input, &offset)
        if let version = received.first, version != Handshake.version {
            throw UnknownHandshakeVersion(version: version)
        }
        isComplete = received.count == openingEnd + Handshake.packetByteCount
        guard !hasAnswered, received.count >= openingEnd else { return [] }
        hasAnswered = true
        return [Handshake.version] + packet + received[1..<openingEnd]
    }
}
