/// The simple handshake (RTMP 1.0 section 5.2): version, a packet of 1536 bytes each
/// way, and the echo of the other side's packet. No digest: publishing needs none.
enum Handshake {
    static let version: UInt8 = 3
    static let packetByteCount = 1536
    static let randomByteCount = packetByteCount - 8

    /// C1 or S1: time zero, version zero (which asks for the simple handshake), random bytes.
    static func packet(randomBytes: [UInt8]) -> [UInt8] {
        var packet = [UInt8](repeating: 0, count: 8)
        packet += randomBytes.prefix(randomByteCount)
        packet += [UInt8](repeating: 0, count: packetByteCount - packet.count)
        return packet
    }

    /// Moves bytes from the input into `buffer` until that holds `byteCount`.
    static func fill(
        _ buffer: inout [UInt8], upTo byteCount: Int, from input: UnsafeRawBufferPointer, _ offset: inout Int
    ) {
        let count = Swift.max(0, Swift.min(byteCount - buffer.count, input.count - offset))
        buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: input[offset..<offset + count]))
        offset += count
    }
}

/// The other side does not speak plain RTMP: its first byte is no 3.
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
    /// Nothing has come from the server.
    var isUnanswered: Bool { received.isEmpty }

    /// - Parameter randomBytes: 1528 bytes; missing ones become zero.
    public init(randomBytes: [UInt8]) {
        firstBytes = [Handshake.version] + Handshake.packet(randomBytes: randomBytes)
    }

    /// Takes S0, S1 and S2 off `input` from `offset` on; later bytes stay there.
    /// - Returns: C2 when S1 is whole, else nothing.
    public mutating func bytesReceived(
        _ input: UnsafeRawBufferPointer, from offset: inout Int
    ) throws(UnknownHandshakeVersion) -> [UInt8] {
        let answerEnd = 1 + Handshake.packetByteCount
        Handshake.fill(&received, upTo: answerEnd + Handshake.packetByteCount, from: input, &offset)
        if let version = received.first, version != Handshake.version {
            throw UnknownHandshakeVersion(version: version)
        }
        // S2 should echo C1; servers are known that put their own bytes there, so it is not compared.
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

    /// Takes C0, C1 and C2 off `input` from `offset` on; later bytes stay there.
    /// - Returns: S0, S1 and S2 when C1 is whole, else nothing.
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
