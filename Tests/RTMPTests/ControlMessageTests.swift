import Testing

@testable import RTMP

@Suite("Control messages")
struct ControlMessageTests {
    static let vectors: [(ControlMessage, UInt8, String)] = [
        (.setChunkSize(4096), 1, "00001000"),
        (.abort(chunkStreamID: 6), 2, "00000006"),
        (.acknowledgement(0xFFFF_FFFF), 3, "FFFFFFFF"),
        (.windowAcknowledgementSize(2_500_000), 5, "002625A0"),
        (.setPeerBandwidth(5_000_000, limitType: 2), 6, "004C4B40 02"),
        (.userControl(.streamBegin(streamID: 1)), 4, "0000 00000001"),
        (.userControl(.streamEOF(streamID: 1)), 4, "0001 00000001"),
        (.userControl(.streamDry(streamID: 1)), 4, "0002 00000001"),
        (.userControl(.setBufferLength(streamID: 1, milliseconds: 3000)), 4, "0003 00000001 00000BB8"),
        (.userControl(.streamIsRecorded(streamID: 1)), 4, "0004 00000001"),
        (.userControl(.pingRequest(timestamp: 77)), 4, "0006 0000004D"),
        (.userControl(.pingResponse(timestamp: 77)), 4, "0007 0000004D"),
        (.userControl(.other(type: 31, [1, 2])), 4, "001F 0102"),
    ]

    @Test("Encodes and parses each message", arguments: vectors)
    func vector(control: ControlMessage, type: UInt8, hex: String) {
        let message = Message(type: MessageType(rawValue: type), payload: bytes(hex))
        #expect(control.message == message)
        #expect(ControlMessage(message) == control)
    }

    @Test("A message that is too short is refused; extra bytes are ignored")
    func lengths() {
        for (control, type, hex) in Self.vectors {
            let type = MessageType(rawValue: type)
            let whole = bytes(hex)
            #expect(ControlMessage(Message(type: type, payload: Array(whole.prefix(1)))) == nil)
            if case .userControl(.other) = control { continue }
            #expect(ControlMessage(Message(type: type, payload: Array(whole.prefix(3)))) == nil)
            #expect(ControlMessage(Message(type: type, payload: whole + [0xFF])) == control)
        }
        // GStreamer and others omit the limit type.
        #expect(
            ControlMessage(Message(type: .setPeerBandwidth, payload: bytes("00000001")))
                == .setPeerBandwidth(1, limitType: 2))
        #expect(ControlMessage(Message(type: .audio, payload: bytes("00000001"))) == nil)
    }
}

@Suite("Acknowledgements")
struct AcknowledgementTests {
    @Test("Sent when the peer's window is used up, not before, and never without a window")
    func sending() {
        var counter = ReceivedByteCounter()
        let withoutWindow = counter.bytesReceived(1_000_000)
        counter.window = 1000
        let withWindow = [1, 999, 1].map { counter.bytesReceived($0) }
        counter.window = 1
        let tiny = [5000, 0].map { counter.bytesReceived($0) }
        #expect(withoutWindow == nil)
        #expect(withWindow == [1_000_001, nil, 1_001_001])
        #expect(tiny == [1_006_001, nil])
    }

    @Test("The sequence number wraps at 2^32")
    func wrap() {
        var counter = ReceivedByteCounter()
        counter.window = 100
        let numbers = [0xFFFF_FFFF, 101].map { counter.bytesReceived($0) }
        #expect(numbers == [0xFFFF_FFFF, 100])
    }

    @Test("The peer's count is followed across its wrap", arguments: [UInt64(1) << 32, 1 << 31])
    func following(modulus: UInt64) {
        var counter = AcknowledgedByteCounter()
        for sent in stride(from: UInt64(100_000_000), through: 20_000_000_000, by: 100_000_000) {
            let grew = counter.acknowledgementReceived(UInt32(sent % modulus), sent: sent)
            #expect(grew)
            #expect(counter.acknowledged == sent)
        }
    }

    @Test("Impossible numbers are ignored")
    func nonsense() {
        var counter = AcknowledgedByteCounter()
        let grew = [UInt32(1001), 500, 500, 400, .max].map { counter.acknowledgementReceived($0, sent: 1000) }
        #expect(grew == [false, true, false, false, false])
        #expect(counter.acknowledged == 500)
    }
}
