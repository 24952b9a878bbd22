import Testing

@testable import RTMP

@Suite("Chunk reader")
struct ChunkReaderTests {
    /// Parses `stream` as a whole and in portions down to one byte; all results must be equal.
    private func read(
        _ stream: [UInt8], limits: ChunkReader.Limits = .init(), sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [Message] {
        var reader = ChunkReader(limits: limits)
        let whole = try reader.messages(in: stream)
        for portion in 1..<min(stream.count, 40) {
            var reader = ChunkReader(limits: limits)
            #expect(try reader.messages(in: stream, portion: portion) == whole, sourceLocation: sourceLocation)
        }
        return whole
    }

    @Test("All four headers, as in the example of section 5.3.2.1")
    func headers() throws {
        // Audio, 32 bytes each, at 1000, 1020, 1040, 1060 ms.
        let body = [UInt8](repeating: 0xAB, count: 32)
        let stream = wire("03 0003E8 000020 08 39300000", body, "83 000014", body, "C3", body, "C3", body)
        let messages = try read(stream)
        #expect(messages.map(\.timestamp) == [1000, 1020, 1040, 1060])
        #expect(messages.allSatisfy { $0.type == .audio && $0.streamID == 12345 && $0.payload == body })
        // A type 1 header has its own length and type.
        let next = try read(wire(stream, "43 00000A 000001 09 FF"))
        #expect(next.last == Message(type: .video, timestamp: 1070, streamID: 12345, payload: [0xFF]))
    }

    @Test("A message in three chunks, as in the example of section 5.3.2.2")
    func chunks() throws {
        let body = (0..<307).map { UInt8(truncatingIfNeeded: $0) }
        let stream = wire("04 0003E8 000133 09 3A300000", body[..<128], "C4", body[128..<256], "C4", body[256...])
        #expect(try read(stream) == [Message(type: .video, timestamp: 1000, streamID: 12346, payload: body)])
    }

    @Test(
        "Chunk stream numbers of one, two and three bytes",
        arguments: ["02", "3F", "00 00", "00 FF", "01 00 00", "01 FF FF", "01 40 00"])
    func streamNumbers(basicHeader: String) throws {
        let continuation = bytes(basicHeader)
        let stream = wire(
            continuation, "000001 000081 08 01000000", [UInt8](repeating: 1, count: 128), [continuation[0] | 0xC0],
            continuation[1...], "02")
        #expect(try read(stream).map(\.payload.count) == [129])
    }

    @Test("A type 3 header that starts a message after a type 0 header adds that header's timestamp")
    func repeatedAbsolute() throws {
        let messages = try read(bytes("04 000017 000001 08 01000000 AA C4 BB C4 CC"))
        #expect(messages.map(\.timestamp) == [23, 46, 69])
    }

    @Test("Extended timestamps from 0xFFFFFF on")
    func extendedTimestamps() throws {
        let messages = try read(
            wire(
                "04 FFFFFE 000001 08 01000000 AA", "04 FFFFFF 000001 08 01000000 00FFFFFF BB",
                "04 FFFFFF 000001 08 01000000 FFFFFFFF CC", "44 000002 000001 08 DD", "84 FFFFFF 01000000 EE"))
        #expect(messages.map(\.timestamp) == [0xFF_FFFE, 0xFF_FFFF, 0xFFFF_FFFF, 1, 0x0100_0001])
    }

    @Test("Type 3 chunks repeat an extended timestamp", arguments: [true, false])
    func repeatedTimestamps(isRepeated: Bool) throws {
        let repeated = isRepeated ? "01020304" : ""
        let body = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let messages = try read(
            wire(
                "04 FFFFFF 00012C 09 01000000 01020304", body[..<128], "C4", repeated, body[128..<256], "C4", repeated,
                body[256...], "04 000001 000001 08 01000000 AA"))
        #expect(messages.count == 2)
        #expect(messages.first == Message(type: .video, timestamp: 0x0102_0304, streamID: 1, payload: body))
    }

    @Test("Payload that starts like an omitted timestamp")
    func nearlyRepeatedTimestamp() throws {
        // 130 bytes: the second chunk has only two, which equal the first two of the timestamp.
        let body = [UInt8](repeating: 9, count: 128) + bytes("0102")
        let stream = wire(
            "04 FFFFFF 000082 09 01000000 01020304", body[..<128], "C4", body[128...], "05 000001 000001 08 01000000 AA"
        )
        #expect(try read(stream).map(\.payload) == [body, [0xAA]])
    }

    @Test("A delta across 2^32 wraps")
    func wrap() throws {
        let messages = try read(bytes("04 FFFFFF 000001 08 01000000 FFFFFFF0 AA 44 000020 000001 08 BB C4 CC"))
        #expect(messages.map(\.timestamp) == [0xFFFF_FFF0, 0x10, 0x30])
    }

    @Test("Chunk streams interleave")
    func interleaving() throws {
        let audio = [UInt8](repeating: 1, count: 200)
        let video = [UInt8](repeating: 2, count: 300)
        let stream = wire(
            "06 000000 00012C 09 01000000", video[..<128], "04 000000 0000C8 08 01000000", audio[..<128], "C6",
            video[128..<256], "C4", audio[128...], "C6", video[256...])
        #expect(try read(stream).map(\.payload) == [audio, video])
    }

    @Test("Set Chunk Size applies from the next chunk on, even within a message of another stream")
    func setChunkSize() throws {
        let body = [UInt8](repeating: 3, count: 200)
        let messages = try read(
            wire(
                "04 000000 0000C8 08 01000000", body[..<128], "02 000000 000004 01 00000000 00000001",
                body[128...].flatMap { [UInt8(0xC4), $0] }))
        #expect(messages.map(\.type) == [.setChunkSize, .audio])
        #expect(messages.last?.payload == body)
    }

    @Test("Abort drops the unfinished message of its stream")
    func abort() throws {
        let stream = wire(
            "04 000000 0000C8 08 01000000", [UInt8](repeating: 3, count: 128), "02 000000 000004 02 00000000 00000004",
            "04 000005 000001 08 01000000 AA")
        #expect(try read(stream).map(\.type) == [.abort, .audio])
        // An abort for an unknown stream changes nothing.
        #expect(try read(bytes("02 000000 000004 02 00000000 00000030")).count == 1)
    }

    @Test("Messages without payload")
    func empty() throws {
        let messages = try read(bytes("04 000001 000000 08 01000000 C4 C4 04 FFFFFF 000000 08 01000000 01000000 C4 05"))
        #expect(messages.map(\.timestamp).prefix(4) == [1, 2, 3, 0x0100_0000])
        #expect(messages.allSatisfy { $0.payload.isEmpty })
    }

    @Test("librtmp's ping response, which starts its stream with a type 1 header")
    func freshType1() throws {
        let messages = try read(bytes("42 000000 000006 04 0007 00001234"))
        #expect(messages.first.flatMap(ControlMessage.init) == .userControl(.pingResponse(timestamp: 0x1234)))
    }

    @Test("Bytes that are not a chunk stream give an error at the header")
    func faults() {
        func expect(_ error: ChunkError, _ hex: String, limits: ChunkReader.Limits = .init()) {
            for portion in [1, 3, .max] {
                var reader = ChunkReader(limits: limits)
                #expect(throws: error) { try reader.messages(in: bytes(hex), portion: portion) }
            }
        }
        expect(.missingHeader(chunkStreamID: 5), "85 000000")
        expect(.missingHeader(chunkStreamID: 319), "C0 FF")
        expect(
            .interruptedMessage(chunkStreamID: 4),
            "02 000000 000004 01 00000000 00000001  04 000000 000002 08 01000000 AA  04 000000 000001 08 01000000")
        expect(
            .messageTooLong(byteCount: 11, limit: 10), "04 000000 00000B 08 01000000",
            limits: .init(messageByteCount: 10))
        expect(.invalidChunkSize(0), "02 000000 000004 01 00000000 00000000")
        expect(.invalidChunkSize(0x8000_0000), "02 000000 000004 01 00000000 80000000")
        expect(
            .tooManyChunkStreams(limit: 2),
            "03 000000 000000 08 01000000 04 000000 000000 08 01000000 05 000000 000000 08 01000000",
            limits: .init(chunkStreamCount: 2))
        expect(
            .tooManyBufferedBytes(limit: 3),
            "02 000000 000004 01 00000000 00000001  04 000000 000003 08 01000000 AA  05 000000 000003 08 01000000 BB"
                + " C4 AA C5 BB",
            limits: .init(bufferedByteCount: 3))
    }

    @Test("Buffered bytes are released when messages end or are aborted")
    func bufferedBytes() throws {
        var reader = ChunkReader(limits: .init(bufferedByteCount: 300))
        let unit = wire(
            "04 000000 0000C8 08 01000000", [UInt8](repeating: 3, count: 128), "02 000000 000004 02 00000000 00000004",
            "05 000000 000064 08 01000000", [UInt8](repeating: 4, count: 100))
        for _ in 0..<50 { #expect(try reader.messages(in: unit).count == 2) }
    }
}
