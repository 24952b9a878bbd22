import Media
import Testing

@testable import RTMP

/// Random and mutated bytes into everything that reads. The sequence is fixed, so that a fault comes back.
@Suite("Garbage")
struct GarbageTests {
    static let rounds = 5000

    /// What a publisher and a receiver said to each other, to be damaged.
    static func conversation() throws -> (toReceiver: [UInt8], toPublisher: [UInt8]) {
        var pair = try SessionPair()
        var toReceiver: [UInt8] = []
        var toPublisher: [UInt8] = []
        var actions = pair.publisher.connectionOpened(now: .zero)
        while !actions.sentBytes.isEmpty {
            toReceiver += actions.sentBytes
            let answers = pair.receiver.bytesReceived(actions.sentBytes)
            toPublisher += answers.sentBytes
            actions = answers.sentBytes.isEmpty ? [] : pair.publisher.bytesReceived(answers.sentBytes)
        }
        for time in [Int64(0), 33, 0xFF_FFFF, 0x1_0000_0000] {
            let packet = EncodedPacket(
                kind: .video(isKeyFrame: true), decodeTime: MediaTimestamp(milliseconds: time),
                payload: [UInt8](repeating: 5, count: 300))
            toReceiver += pair.publisher.chunk(packet).wireBytes()
        }
        toReceiver += pair.publisher.stopRequested().sentBytes
        return (toReceiver, toPublisher)
    }

    /// Some bytes changed, some cut out, some doubled. The handshake is mostly spared, or nothing would come behind it.
    static func mutated(_ original: [UInt8], from begin: Int, using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...6, using: &generator) where bytes.count > begin {
            let position = Int.random(in: begin..<bytes.count, using: &generator)
            let end = min(bytes.count, position + Int.random(in: 1...20, using: &generator))
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes.removeSubrange(position..<end)
            case 1: bytes.insert(contentsOf: Array(bytes[position..<end]), at: position)
            case 2: bytes[position] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
            case 3: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            default: bytes[position] = UInt8.random(in: 0...255, using: &generator)
            }
        }
        return bytes
    }

    @Test("AMF0 decoder")
    func amf0() {
        var generator = SeededGenerator(state: 11)
        let vectors = AMF0Tests.vectors.map { bytes($0.1) }
        for _ in 0..<Self.rounds {
            let input =
                Bool.random(using: &generator)
                ? generator.bytes(Int.random(in: 0..<60, using: &generator))
                : Self.mutated(vectors.randomElement(using: &generator) ?? [], from: 0, using: &generator)
            var decoder = AMF0Decoder(input)
            while !decoder.isAtEnd, let value = try? decoder.decodeValue() {
                var encoded: [UInt8] = []
                encoded.appendAMF0(value)
                #expect(!encoded.isEmpty)
            }
            #expect(decoder.position <= input.count)
        }
    }

    @Test("Chunk reader")
    func chunks() throws {
        var generator = SeededGenerator(state: 12)
        let original = Array(try Self.conversation().toReceiver.dropFirst(3073))
        for _ in 0..<Self.rounds {
            let input =
                Bool.random(using: &generator)
                ? generator.bytes(Int.random(in: 0..<200, using: &generator))
                : Self.mutated(original, from: 0, using: &generator)
            let portion = Int.random(in: 1...300, using: &generator)
            var whole = ChunkReader()
            var inPortions = ChunkReader()
            let expected = Result { try whole.messages(in: input) }
            let result = Result { try inPortions.messages(in: input, portion: portion) }
            #expect((try? expected.get()) == (try? result.get()))
        }
    }

    @Test("Publish session")
    func publishSession() throws {
        var generator = SeededGenerator(state: 13)
        let original = try Self.conversation().toPublisher
        let pair = try SessionPair { publish, _ in
            publish.acceptsReconnectRequest = true
            publish.md5 = { _ in [UInt8](repeating: 1, count: 16) }
        }
        for _ in 0..<Self.rounds {
            var session = pair.publisher
            _ = session.connectionOpened(now: .zero)
            let begin = Int.random(in: 0..<50, using: &generator) == 0 ? 0 : 3073
            let input = Self.mutated(original, from: begin, using: &generator)
            var ends = 0
            for part in input.portions(of: Int.random(in: 1...4000, using: &generator)) {
                for action in session.bytesReceived(part) {
                    if case .failed = action { ends += 1 }
                }
            }
            for action in session.stopRequested() + session.connectionClosed() {
                switch action {
                case .failed, .stopped: ends += 1
                default: break
                }
            }
            #expect(ends == 1)
        }
    }

    @Test("Receive session")
    func receiveSession() throws {
        var generator = SeededGenerator(state: 14)
        let original = try Self.conversation().toReceiver
        for _ in 0..<Self.rounds {
            var session = ReceiveSession(configuration: ReceiveConfiguration(randomBytes: []))
            let begin = Int.random(in: 0..<50, using: &generator) == 0 ? 0 : 3073
            let input = Self.mutated(original, from: begin, using: &generator)
            var balance = 0
            var actions: [ReceiveSession.Action] = []
            for part in input.portions(of: Int.random(in: 1...4000, using: &generator)) {
                actions += session.bytesReceived(part)
            }
            for action in actions + session.connectionClosed() {
                switch action {
                case .publishStarted: balance += 1
                case .ended, .failed: balance = 0
                default: break
                }
                #expect(balance <= 1)
            }
            #expect(balance == 0)
        }
    }
}
