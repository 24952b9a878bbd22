import Media
import SeededNumbers
import Testing

@testable import RTMP

/// Random and mutated bytes for every parser. The sequence is fixed, so that failures are reproducible.
@Suite("Garbage")
struct GarbageTests {
    static let rounds = 5000

    /// A publisher and a receiver after their handshakes, and the bytes they exchange from there on.
    struct Conversation {
        let publisher: PublishSession
        let receiver: ReceiveSession
        private(set) var toReceiver: [UInt8] = []
        private(set) var toPublisher: [UInt8] = []

        init() throws {
            var pair = try SessionPair { publish, _ in
                publish.acceptsReconnectRequest = true
                publish.md5 = { _ in [UInt8](repeating: 1, count: 16) }
            }
            let answer = pair.receiver.bytesReceived(pair.publisher.connectionOpened(now: .zero).sentBytes).sentBytes
            var handshaken = pair.publisher
            let opening = pair.publisher.bytesReceived(answer).sentBytes
            _ = handshaken.bytesReceived(Array(answer))
            _ = pair.receiver.bytesReceived(Array(opening[..<1536]))
            publisher = handshaken
            receiver = pair.receiver
            var words = Array(opening[1536...])
            while !words.isEmpty {
                toReceiver += words
                let answers = pair.receiver.bytesReceived(words).sentBytes
                toPublisher += answers
                words = answers.isEmpty ? [] : pair.publisher.bytesReceived(answers).sentBytes
            }
            for time in [Int64(0), 33, 0xFF_FFFF, 0x1_0000_0000] {
                let packet = EncodedPacket(
                    kind: .video(isKeyframe: true), decodeTime: MediaTimestamp(milliseconds: time),
                    payload: [UInt8](repeating: 5, count: 300))
                toReceiver += pair.publisher.chunk(packet).wireBytes()
            }
            toReceiver += pair.publisher.stopRequested().sentBytes
        }
    }

    /// Some bytes changed, some removed, some doubled.
    static func mutated(_ original: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
            let position = Int.random(in: 0..<bytes.count, using: &generator)
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
        var generator = SeededGenerator(seed: 11)
        let vectors = AMF0Tests.vectors.map { bytes($0.1) }
        for _ in 0..<Self.rounds {
            let input =
                Bool.random(using: &generator)
                ? generator.bytes(Int.random(in: 0..<60, using: &generator))
                : Self.mutated(vectors.randomElement(using: &generator) ?? [], using: &generator)
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
        var generator = SeededGenerator(seed: 12)
        let original = try Conversation().toReceiver
        for _ in 0..<Self.rounds {
            let input =
                Bool.random(using: &generator)
                ? generator.bytes(Int.random(in: 0..<200, using: &generator))
                : Self.mutated(original, using: &generator)
            let portion = Int.random(in: 1...300, using: &generator)
            var whole = ChunkReader()
            var inPortions = ChunkReader()
            let expected = Result { try whole.messages(in: input) }
            let result = Result { try inPortions.messages(in: input, portion: portion) }
            #expect((try? expected.get()) == (try? result.get()))
        }
    }

    @Test("Publish session: ends exactly once, whatever it receives")
    func publishSession() throws {
        var generator = SeededGenerator(seed: 13)
        let conversation = try Conversation()
        for round in 0..<Self.rounds {
            var session = conversation.publisher
            if round % 50 == 0 { _ = session.connectionOpened(now: .zero) }
            let input = Self.mutated(conversation.toPublisher, using: &generator)
            var actions: [PublishSession.Action] = []
            for part in input.portions(of: Int.random(in: 1...400, using: &generator)) {
                actions += session.bytesReceived(part)
            }
            let ends = (actions + session.stopRequested() + session.connectionClosed()).filter { action in
                switch action {
                case .failed, .stopped: true
                default: false
                }
            }
            #expect(ends.count == 1)
        }
    }

    @Test("Receive session: every stream that starts ends")
    func receiveSession() throws {
        var generator = SeededGenerator(seed: 14)
        let conversation = try Conversation()
        for round in 0..<Self.rounds {
            var session = conversation.receiver
            if round % 50 == 0 { session = ReceiveSession(configuration: session.configuration) }
            let input = Self.mutated(conversation.toReceiver, using: &generator)
            var actions: [ReceiveSession.Action] = []
            for part in input.portions(of: Int.random(in: 1...400, using: &generator)) {
                actions += session.bytesReceived(part)
            }
            var isRunning = false
            for action in actions + session.connectionClosed() {
                switch action {
                case .publishStarted:
                    #expect(!isRunning)
                    isRunning = true
                case .ended, .failed: isRunning = false
                default: break
                }
            }
            #expect(!isRunning)
        }
    }
}
