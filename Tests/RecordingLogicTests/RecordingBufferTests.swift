import Media
import Testing

@testable import RecordingLogic

extension EncodedPacket {
    static func frame(_ milliseconds: Int64, isKeyframe: Bool = false, byteCount: Int = 1000) -> EncodedPacket {
        EncodedPacket(
            kind: .video(isKeyframe: isKeyframe), decodeTime: MediaTimestamp(milliseconds: milliseconds),
            payload: [UInt8](repeating: 1, count: byteCount))
    }

    static func sound(_ milliseconds: Int64) -> EncodedPacket {
        EncodedPacket(kind: .audio, decodeTime: MediaTimestamp(milliseconds: milliseconds), payload: [0x21, 1, 2])
    }

    static func header(_ kind: Kind, _ payload: [UInt8], at milliseconds: Int64 = 0) -> EncodedPacket {
        EncodedPacket(kind: kind, decodeTime: MediaTimestamp(milliseconds: milliseconds), payload: payload)
    }
}

extension RecordingBuffer.Item {
    /// The time of a frame in milliseconds with "K" for keyframes; "H" for headers, "A" for audio, "|" for a new file.
    var word: String {
        switch self {
        case .newFile: "|"
        case .gap: "gap"
        case .packet(let packet):
            switch packet.kind {
            case .videoHeader, .audioHeader: "H"
            case .audio: "A\(packet.decodeTime.nanoseconds / 1_000_000)"
            case .video(let isKeyframe): "\(isKeyframe ? "K" : "")\(packet.decodeTime.nanoseconds / 1_000_000)"
            }
        }
    }
}

@Suite struct RecordingBufferTests {
    private var buffer = RecordingBuffer(limit: 10_000, hasVideo: true)

    @discardableResult
    private mutating func add(_ packet: EncodedPacket) -> [RecordingBuffer.Event] {
        buffer.append(packet, now: packet.decodeTime)
    }

    private mutating func words() -> String { buffer.takeAll().map(\.word).joined(separator: " ") }

    @Test mutating func closedBufferKeepsOnlyHeaders() {
        add(.header(.videoHeader, [1]))
        add(.frame(0, isKeyframe: true))
        #expect(buffer.byteCount == 0)
        buffer.open()
        add(.frame(40, isKeyframe: true))
        let words = words()
        #expect(words == "| H K40")
    }

    @Test mutating func recordingStartsAtAKeyframeAndAsksForIt() {
        buffer.open()
        let first = add(.frame(0))
        let second = add(.frame(40))
        let late = add(.frame(1000))
        #expect(first == [.keyframeNeeded] && second.isEmpty && late == [.keyframeNeeded])
        add(.sound(1001))
        add(.frame(1040, isKeyframe: true))
        let words = words()
        #expect(words == "| K1040")
    }

    @Test mutating func slowDiskCostsWholeGOPsWhichAreCounted() {
        add(.header(.videoHeader, [1]))
        buffer.open()
        var events: [RecordingBuffer.Event] = []
        // Five frames a GOP. Nine fit.
        for number in 0..<23 {
            events += add(.frame(Int64(number) * 40, isKeyframe: number % 5 == 0))
            if number == 22 { events += add(.sound(885)) }
        }
        #expect(events == [.droppingStarted] && buffer.isDropping && buffer.byteCount <= 10_000)
        let taken = words()
        #expect(taken == "| H K0 40 80 120 160 K200 240 280 320 gap")
        // Taken is not written.
        events = add(.frame(920)) + add(.frame(1000, isKeyframe: true))
        #expect(events.isEmpty)
        buffer.settled(heldByteCount: 0)
        events = add(.frame(1040))
        #expect(events.isEmpty)
        events = add(.frame(1200, isKeyframe: true))
        var loss = RecordingBuffer.Loss()
        (loss.gopCount, loss.frameCount, loss.audioPacketCount) = (5, 17, 1)
        loss.byteCount = 17 * 1000 + 3
        (loss.start, loss.end) = (MediaTimestamp(milliseconds: 360), MediaTimestamp(milliseconds: 1040))
        #expect(events == [.resumed(loss)])
        let rest = words()
        #expect(rest == "| H K1200")
    }

    @Test mutating func lossIsReportedWhenTheBufferCloses() {
        buffer.open()
        for number in 0..<12 { add(.frame(Int64(number), isKeyframe: number == 0)) }
        let loss = buffer.close()
        #expect(loss?.frameCount == 3 && loss?.gopCount == 1)
        let again = buffer.close()
        #expect(again == nil)
        #expect(buffer.isEmpty)
    }

    @Test mutating func epochStartsANewFileAtItsKeyframe() {
        buffer.open()
        add(.frame(0, isKeyframe: true))
        buffer.epochStarted()
        add(.frame(40))
        add(.header(.videoHeader, [2]))
        add(.frame(80, isKeyframe: true))
        let words = words()
        #expect(words == "| K0 | H K80")
    }

    @Test func audioAloneStartsAtOnce() {
        var buffer = RecordingBuffer(limit: 1000, hasVideo: false)
        buffer.open()
        _ = buffer.append(.sound(5), now: .zero)
        let words = buffer.takeAll().map(\.word)
        #expect(words == ["|", "A5"])
    }

    @Test mutating func packetLargerThanTheBufferIsDropped() {
        buffer.open()
        let events = add(.frame(0, isKeyframe: true, byteCount: 20_000))
        #expect(events == [.droppingStarted] && buffer.byteCount == 0)
    }
}

@Suite struct PacketOrderTests {
    private func words(_ packets: [EncodedPacket]) -> String {
        packets.map { RecordingBuffer.Item.packet($0).word }.joined(separator: " ")
    }

    @Test func tracksAreMergedByTime() {
        var order = PacketOrder(expectsVideo: true, expectsAudio: true)
        var ready: [EncodedPacket] = []
        for packet: EncodedPacket in [
            .frame(0), .frame(40), .sound(10), .sound(30), .frame(80), .sound(50), .sound(80), .sound(100),
        ] { ready += order.append(packet) }
        #expect(words(ready) == "0 A10 A30 40 A50 80")
        #expect(order.byteCount == 6)
        let ready1 = order.flush()
        #expect(words(ready1) == "A80 A100")
        #expect(order.byteCount == 0)
    }

    @Test func missingTrackIsAwaitedForASecond() {
        var order = PacketOrder(expectsVideo: true, expectsAudio: true)
        let ready2 = order.append(.frame(0))
        let ready3 = order.append(.frame(960))
        #expect(ready2.isEmpty && ready3.isEmpty)
        let ready4 = order.append(.frame(1000))
        #expect(words(ready4) == "0")
        var alone = PacketOrder(expectsVideo: true, expectsAudio: false)
        let ready5 = alone.append(.frame(0))
        #expect(words(ready5) == "0")
    }

    @Test func headersKeepTheirPlaceInTheTrack() {
        var order = PacketOrder(expectsVideo: true, expectsAudio: true)
        let ready6 = order.append(.header(.videoHeader, [], at: 900))
        #expect(words(ready6) == "H")
        _ = order.append(.frame(0))
        _ = order.append(.header(.videoHeader, [], at: 0))
        _ = order.append(.frame(40))
        let ready7 = order.append(.sound(20))
        #expect(words(ready7) == "0 H A20")
        let ready8 = order.flush()
        #expect(words(ready8) == "40")
    }
}
