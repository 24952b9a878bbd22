import SeededNumbers
import Testing

@testable import HTTP

@Suite("Reading WebSocket messages")
struct WebSocketReaderTests {
    @Test("A masked text, as in RFC 6455 section 5.7")
    func maskedText() {
        #expect(readMessages(hex("818537fa213d7f9f4d5158")) == ReadMessages(messages: [.text("Hello")]))
        #expect(frame(0x81, "Hello") == hex("818537fa213d7f9f4d5158"))
    }

    @Test("A masked pong, as in RFC 6455 section 5.7")
    func maskedPong() {
        #expect(readMessages(hex("8a8537fa213d7f9f4d5158")).messages == [.pong(Array("Hello".utf8))])
    }

    @Test("A conversation")
    func conversation() {
        let bytes =
            frame(0x81, "{\"pause\":true}") + frame(0x89, "a") + frame(0x82, [0, 255]) + frame(0x81, "")
            + frame(0x88, [0x03, 0xE9] + Array("bye €".utf8)) + hex("ffff")
        #expect(
            readMessages(bytes)
                == ReadMessages(messages: [
                    .text("{\"pause\":true}"), .ping([0x61]), .binary([0, 255]), .text(""),
                    .close(.goingAway, reason: "bye €"),
                ]))
    }

    @Test("Control frames come between fragments, and characters may be divided")
    func fragments() {
        let euro = Array("€".utf8)
        let bytes =
            frame(0x01, [euro[0]]) + frame(0x89, "1") + frame(0x00, []) + frame(0x00, [euro[1]]) + frame(0x8A, "2")
            + frame(0x80, [euro[2]]) + frame(0x02, [7]) + frame(0x80, [8])
        #expect(
            readMessages(bytes)
                == ReadMessages(messages: [.ping([0x31]), .pong([0x32]), .text("€"), .binary([7, 8])]))
    }

    @Test("Each length has its form", arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 70_000])
    func lengths(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        #expect(readMessages(frame(0x82, payload), limit: 70_000).messages == [.binary(payload)])
    }

    private static let refused: [(String, WebSocketError, UInt16)] = [
        ("8105 48656c6c6f", .unmaskedFrame, 1002), ("8100", .unmaskedFrame, 1002), ("817e", .unmaskedFrame, 1002),
        ("c180", .reservedBit, 1002), ("a180", .reservedBit, 1002), ("9180", .reservedBit, 1002),
        ("8380", .unknownOpcode(3), 1002), ("8780", .unknownOpcode(7), 1002), ("8b80", .unknownOpcode(11), 1002),
        ("8f80", .unknownOpcode(15), 1002), ("0980", .fragmentedControlFrame, 1002),
        ("0880", .fragmentedControlFrame, 1002), ("89fe 007e", .controlFrameTooLong, 1002),
        ("88ff", .controlFrameTooLong, 1002), ("8080 00000000", .unexpectedContinuation, 1002),
        ("0080 00000000", .unexpectedContinuation, 1002), ("0180 00000000 8180 00000000", .interruptedMessage, 1002),
        ("0180 00000000 0280 00000000", .interruptedMessage, 1002), ("81fe 007d 00000000", .malformedLength, 1002),
        ("81ff 000000000000ffff 00000000", .malformedLength, 1002),
        ("81ff 8000000000010000 00000000", .malformedLength, 1002),
        ("81ff 7fffffffffffffff 00000000", .messageTooLong(limit: 1000), 1009),
        ("82fe 03e9 00000000", .messageTooLong(limit: 1000), 1009), ("8181 00000000 ff", .invalidText, 1007),
        ("8182 00000000 c0af", .invalidText, 1007), ("8183 00000000 eda080", .invalidText, 1007),
        ("0182 00000000 e282 8080 00000000", .invalidText, 1007), ("8881 00000000 03", .malformedClose, 1002),
        ("8882 00000000 0000", .malformedClose, 1002), ("8882 00000000 03ec", .malformedClose, 1002),
        ("8882 00000000 03ed", .malformedClose, 1002), ("8882 00000000 03ee", .malformedClose, 1002),
        ("8882 00000000 03f7", .malformedClose, 1002), ("8882 00000000 07d0", .malformedClose, 1002),
        ("8882 00000000 1388", .malformedClose, 1002), ("8883 00000000 03e8ff", .malformedClose, 1002),
    ]

    @Test("Refused frames, each with its close code", arguments: refused)
    func refusedFrames(text: String, error: WebSocketError, code: UInt16) {
        let read = readMessages(frame(0x81, "before") + hex(text))
        #expect(read == ReadMessages(messages: [.text("before")], error: error))
        #expect(error.closeCode.rawValue == code && !"\(error)".isEmpty)
    }

    @Test("Fragments count together")
    func limit() {
        let half = [UInt8](repeating: 1, count: 500)
        #expect(readMessages(frame(0x02, half) + frame(0x80, half)).messages.count == 1)
        let more = frame(0x02, half) + frame(0x00, half) + frame(0x80, [1])
        #expect(readMessages(more).error == .messageTooLong(limit: 1000))
        // Each message has the limit for itself.
        #expect(readMessages(frame(0x82, half + half) + frame(0x82, half + half)).messages.count == 2)
    }

    @Test(
        "Codes of a close frame",
        arguments: [1000, 1001, 1002, 1003, 1007, 1011, 1013, 1014, 3000, 4999] as [UInt16])
    func closeCodes(code: UInt16) {
        let bytes = frame(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)])
        #expect(readMessages(bytes).messages == [.close(WebSocketCloseCode(rawValue: code), reason: "")])
    }

    @Test("A close frame may be empty, and nothing follows it")
    func emptyClose() throws {
        #expect(readMessages(frame(0x88, "") + frame(0x81, "x")) == ReadMessages(messages: [.close(nil, reason: "")]))
        var reader = WebSocketReader()
        reader.receive(frame(0x88, ""))
        #expect(try reader.next() != nil)
        reader.receive(frame(0x81, "x"))
        #expect(try reader.next() == nil)
        #expect(reader.bufferedByteCount == 0)
    }

    @Test("A hundred thousand small frames wait")
    func manyFrames() throws {
        // In quadratic time, this would take hours.
        var reader = WebSocketReader(messageByteCount: 100_000)
        let part = frame(0x00, "x")
        reader.receive(frame(0x02, ""))
        for _ in 0..<100_000 { reader.receive(part) }
        reader.receive(frame(0x80, ""))
        #expect(try reader.next() == .binary([UInt8](repeating: 0x78, count: 100_000)))
        #expect(try reader.next() == nil)
        #expect(reader.bufferedByteCount == 0)
    }

    @Test("Damaged frames give the same result however they are split")
    func damaged() {
        var numbers = SeededGenerator(seed: 6455)
        let sound =
            frame(0x01, "Grüße") + frame(0x89, "p") + frame(0x80, "!") + frame(0x82, [UInt8](repeating: 7, count: 200))
            + frame(0x88, [3, 0xE8, 0x61])
        var errors: Set<WebSocketError> = []
        for _ in 0..<300 {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...3, using: &numbers) {
                bytes[Int.random(in: 0..<bytes.count, using: &numbers)] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
            }
            if let error = readMessages(bytes).error { errors.insert(error) }
        }
        #expect(errors.count > 5, "the damage had too little effect")
    }
}

@Suite("Writing WebSocket frames")
struct WebSocketFrameTests {
    private func bytes(_ frame: WebSocketFrame) -> [UInt8] { frame.header + frame.payload }

    @Test("Frames of RFC 6455 section 5.7")
    func examples() {
        #expect(bytes(.text("Hello")) == hex("810548656c6c6f"))
        #expect(bytes(.ping(Array("Hello".utf8))) == hex("890548656c6c6f"))
        #expect(WebSocketFrame.binary([UInt8](repeating: 0, count: 256)).header == hex("827e0100"))
        #expect(WebSocketFrame.binaryHeader(byteCount: 65_536) == hex("827f0000000000010000"))
    }

    @Test(
        "The shortest form of each length",
        arguments: [
            (0, "8200"), (125, "827d"), (126, "827e007e"), (65_535, "827effff"), (65_536, "827f0000000000010000"),
            (5_000_000_000, "827f000000012a05f200"),
        ])
    func lengths(byteCount: Int, header: String) {
        #expect(WebSocketFrame.binaryHeader(byteCount: byteCount) == hex(header))
    }

    @Test("Control frames have at most 125 bytes")
    func controlFrames() {
        let long = [UInt8](repeating: 1, count: 200)
        #expect(WebSocketFrame.ping(long).payload.count == 125 && WebSocketFrame.pong(long).header == hex("8a7d"))
        #expect(bytes(.pong([1, 2])) == hex("8a020102") && bytes(.ping()) == hex("8900"))
    }

    @Test("A close frame has a code and as much of the reason as fits")
    func closing() {
        #expect(bytes(.close(.tryAgainLater, reason: "two viewers")) == hex("880d03f5") + Array("two viewers".utf8))
        #expect(bytes(.close(nil, reason: "x")) == hex("8800"))
        #expect(bytes(.close(WebSocketCloseCode(rawValue: 1006))) == hex("8800"))
        // 41 times three bytes are 123; another character does not fit, whole or in part.
        let frame = WebSocketFrame.close(.normal, reason: String(repeating: "€", count: 50))
        #expect(frame.payload.count == 125 && frame.payload.suffix(3).elementsEqual("€".utf8))
    }
}
