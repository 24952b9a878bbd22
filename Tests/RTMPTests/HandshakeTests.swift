import Testing

@testable import RTMP

@Suite("Handshake")
struct HandshakeTests {
    static let clientRandom = [UInt8](repeating: 0xC1, count: 1528)
    static let serverRandom = [UInt8](repeating: 0x51, count: 1528)
    static let versionAndZeros: [UInt8] = [3, 0, 0, 0, 0, 0, 0, 0, 0]

    /// Passes `input` in portions; returns the answers and the number of bytes consumed.
    static func run(
        _ input: [UInt8], portion: Int,
        _ take: (UnsafeRawBufferPointer, inout Int) throws -> [UInt8]
    ) rethrows -> (answer: [UInt8], taken: Int) {
        var answer: [UInt8] = []
        var taken = 0
        for part in input.portions(of: portion) {
            var offset = 0
            try part.withUnsafeBytes { answer += try take($0, &offset) }
            taken += offset
        }
        return (answer, taken)
    }

    @Test("The client sends version 3, zeros and its random bytes, and echoes S1", arguments: [1, 5, 1536, 4000])
    func client(portion: Int) throws {
        var handshake = ClientHandshake(randomBytes: Self.clientRandom)
        #expect(handshake.firstBytes == Self.versionAndZeros + Self.clientRandom)
        let first: [UInt8] = [0, 0, 1, 2, 9, 9, 9, 9] + Self.serverRandom
        let echo = [UInt8](repeating: 7, count: 1536)
        let input: [UInt8] = [3] + first + echo + [0xAA, 0xBB]
        let (answer, taken) = try Self.run(input, portion: portion) { try handshake.bytesReceived($0, from: &$1) }
        #expect(answer == first)
        #expect(taken == input.count - 2)
        #expect(handshake.isComplete)
    }

    @Test("The server answers C1 with S0, S1 and the echo, and waits for C2", arguments: [1, 5, 1536, 4000])
    func server(portion: Int) throws {
        var handshake = ServerHandshake(randomBytes: Self.serverRandom)
        let first: [UInt8] = [0, 0, 1, 2, 0, 0, 0, 0] + Self.clientRandom
        let input: [UInt8] = [3] + first
        let (answer, _) = try Self.run(input, portion: portion) { try handshake.bytesReceived($0, from: &$1) }
        #expect(answer == Self.versionAndZeros + Self.serverRandom + first)
        #expect(!handshake.isComplete)
        let second = [UInt8](repeating: 1, count: 1536) + [0xAA]
        let (more, taken) = try Self.run(second, portion: portion) { try handshake.bytesReceived($0, from: &$1) }
        #expect(more.isEmpty)
        #expect(taken == 1536)
        #expect(handshake.isComplete)
    }

    @Test("Another version ends the handshake at the first byte", arguments: [UInt8(0), 6, 0x48, 255])
    func version(version: UInt8) {
        var client = ClientHandshake(randomBytes: Self.clientRandom)
        var server = ServerHandshake(randomBytes: Self.serverRandom)
        #expect(throws: UnknownHandshakeVersion(version: version)) {
            _ = try Self.run([version], portion: 1) { try client.bytesReceived($0, from: &$1) }
        }
        #expect(throws: UnknownHandshakeVersion(version: version)) {
            _ = try Self.run([version], portion: 1) { try server.bytesReceived($0, from: &$1) }
        }
    }

    @Test("Missing random bytes are filled in")
    func shortRandom() {
        #expect(ClientHandshake(randomBytes: [1]).firstBytes.count == 1537)
        #expect(ClientHandshake(randomBytes: Array(repeating: 1, count: 5000)).firstBytes.count == 1537)
    }
}
