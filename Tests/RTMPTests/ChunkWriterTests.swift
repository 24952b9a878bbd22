import Bitstream
import Media
import SeededNumbers
import Testing

@testable import RTMP

@Suite("Chunk writer")
struct ChunkWriterTests {
    @Test("Always a type 0 header, then type 3")
    func headers() {
        var writer = ChunkWriter()
        writer.chunkSize = 4
        var stream: [UInt8] = []
        writer.append(
            Message(type: .video, timestamp: 0x01_0203, streamID: 1, payload: bytes("00112233 44556677 88")),
            chunkStreamID: 6, to: &stream)
        #expect(stream == bytes("06 010203 000009 09 01000000 00112233 C6 44556677 C6 88"))
    }

    @Test("Every chunk contains a timestamp from 0xFFFFFF in full")
    func extended() {
        let writer = ChunkWriter(chunkSize: 2)
        var stream: [UInt8] = []
        for timestamp in [UInt32(0xFF_FFFE), 0xFF_FFFF, 0xFFFF_FFFF] {
            writer.append(
                Message(type: .audio, timestamp: timestamp, streamID: 1, payload: bytes("AABBCC")), chunkStreamID: 4,
                to: &stream)
        }
        #expect(
            stream
                == wire(
                    "04 FFFFFE 000003 08 01000000 AABB C4 CC",
                    "04 FFFFFF 000003 08 01000000 00FFFFFF AABB C4 00FFFFFF CC",
                    "04 FFFFFF 000003 08 01000000 FFFFFFFF AABB C4 FFFFFFFF CC"))
    }

    @Test("The reader parses the writer's output", arguments: [1, 2, 127, 128, 4096, 65_536, 0xFF_FFFF])
    func roundTrip(chunkSize: Int) throws {
        var generator = SeededGenerator(seed: UInt64(chunkSize))
        let writer = ChunkWriter(chunkSize: chunkSize)
        var reader = ChunkReader()
        var stream: [UInt8] = []
        ChunkWriter().append(.setChunkSize(UInt32(chunkSize)), to: &stream)
        let messages = (0..<60).map { index in
            Message(
                type: [.audio, .video, .dataAMF0][index % 3], timestamp: UInt32(truncatingIfNeeded: generator.next()),
                streamID: UInt32(index), payload: generator.bytes(Int.random(in: 0...700, using: &generator)))
        }
        for (index, message) in messages.enumerated() {
            writer.append(message, chunkStreamID: UInt8(2 + index % 62), to: &stream)
        }
        var limited = ChunkReader(limits: .init(chunkStreamCount: 62))
        let read = try limited.messages(in: stream)
        #expect(Array(read.dropFirst()) == messages)
        #expect(throws: ChunkError.tooManyChunkStreams(limit: 32)) { try reader.messages(in: stream) }
    }
}

@Suite("Chunked media messages")
struct ChunkedMessageTests {
    static func message(
        timestamp: UInt32, prefix: MessagePrefix = .none, payload: [UInt8], chunkSize: Int
    ) -> ChunkedMediaMessage {
        ChunkedMediaMessage(
            type: .video, timestamp: timestamp, streamID: 1, chunkStreamID: 6, prefix: prefix, payload: payload[...],
            chunkSize: chunkSize)
    }

    @Test("A keyframe in one chunk, byte by byte")
    func oneChunk() {
        let prefix = MessagePrefix.video(isKeyframe: true, isSequenceHeader: false, compositionTime: -2)
        let message = Self.message(timestamp: 33, prefix: prefix, payload: [1, 2, 3], chunkSize: 4096)
        #expect(message.wireBytes() == bytes("06 000021 000008 09 01000000 17 01 FFFFFE 010203"))
        #expect(message.byteCount == 20)
        message.withSlices(from: 0) { #expect($0.count == 2) }
    }

    @Test("The prefixes of all kinds")
    func prefixes() {
        func body(_ prefix: MessagePrefix) -> [UInt8] {
            Array(Self.message(timestamp: 0, prefix: prefix, payload: [], chunkSize: 4096).wireBytes().dropFirst(12))
        }
        #expect(body(.video(isKeyframe: true, isSequenceHeader: true, compositionTime: 0)) == bytes("17 00 000000"))
        #expect(body(.video(isKeyframe: false, isSequenceHeader: false, compositionTime: 66)) == bytes("27 01 000042"))
        #expect(body(.audio(isSequenceHeader: true)) == bytes("AF 00"))
        #expect(body(.audio(isSequenceHeader: false)) == bytes("AF 01"))
        #expect(body(.setDataFrame) == [2, 0, 13] + Array("@setDataFrame".utf8))
        #expect(body(.none) == [])
    }

    @Test(
        "The same bytes as the chunk writer's, for payloads around every limit",
        arguments: [UInt32(0), 0xFF_FFFE, 0xFF_FFFF, 0xFFFF_FFFF], [128, 4096, 65_536])
    func sameAsWriter(timestamp: UInt32, chunkSize: Int) {
        let prefix = MessagePrefix.video(isKeyframe: false, isSequenceHeader: false, compositionTime: 0)
        let pattern = (0..<3 * chunkSize + 1).map { UInt8(truncatingIfNeeded: $0 % 251) }
        for chunks in 0...3 {
            for difference in [-6, -5, -4, -1, 0, 1] where chunks * chunkSize + difference >= 0 {
                let payload = Array(pattern[..<(chunks * chunkSize + difference)])
                let message = Self.message(timestamp: timestamp, prefix: prefix, payload: payload, chunkSize: chunkSize)
                var expected: [UInt8] = []
                ChunkWriter(chunkSize: chunkSize).append(
                    Message(type: .video, timestamp: timestamp, streamID: 1, payload: bytes("27 01 000000") + payload),
                    chunkStreamID: 6, to: &expected)
                #expect(message.wireBytes() == expected)
                #expect(message.byteCount == expected.count)
            }
        }
    }

    @Test("Continues from any byte", arguments: [UInt32(5), 0x0100_0000])
    func anyOffset(timestamp: UInt32) {
        let payload = (0..<700).map { UInt8(truncatingIfNeeded: $0 % 253) }
        let message = Self.message(timestamp: timestamp, prefix: .setDataFrame, payload: payload, chunkSize: 128)
        let whole = message.wireBytes()
        for offset in 0...whole.count { #expect(message.wireBytes(from: offset) == Array(whole[offset...])) }
        for offset in [whole.count, whole.count + 1, .max] {
            message.withSlices(from: offset) { #expect($0.isEmpty) }
        }
        message.withSlices(from: -1) {
            #expect($0.first?.count == message.byteCount - 700 - 5 * (timestamp > 5 ? 5 : 1))
        }
    }

    @Test("A message of very many chunks takes several calls")
    func manyChunks() {
        let payload = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 % 255) }
        let message = Self.message(timestamp: 0x0100_0000, payload: payload, chunkSize: 128)
        message.withSlices(from: 0) { #expect($0.count == ChunkedMediaMessage.maximumSliceCount) }
        var expected: [UInt8] = []
        ChunkWriter(chunkSize: 128).append(
            Message(type: .video, timestamp: 0x0100_0000, streamID: 1, payload: payload), chunkStreamID: 6,
            to: &expected)
        #expect(message.wireBytes() == expected)
        for offset in stride(from: 0, to: expected.count, by: 997) {
            message.withSlices(from: offset) { slices in
                let piece = slices.flatMap { Array($0) }
                #expect(piece == Array(expected[offset..<offset + piece.count]))
            }
        }
    }

    @Test("The payload is shared, not copied")
    func sharing() {
        let payload = [UInt8](repeating: 1, count: 10_000)
        let message = Self.message(timestamp: 0, payload: payload, chunkSize: 4096)
        let address = payload.withUnsafeBytes { $0.baseAddress }
        message.withSlices(from: 12) { slices in #expect(slices.first?.baseAddress == address) }
    }

    @Test("Payload beyond a message's limit is cut off, in header and bytes alike")
    func tooLong() {
        let message = Self.message(
            timestamp: 0, prefix: .audio(isSequenceHeader: false), payload: [UInt8](repeating: 1, count: 0x100_0005),
            chunkSize: 65_536)
        message.withSlices(from: 0) { slices in
            #expect(slices.first.map { Array($0) } == bytes("06 000000 FFFFFF 09 01000000 AF01"))
        }
        #expect(message.byteCount == 12 + 0xFF_FFFF + 255)
        message.withSlices(from: message.byteCount - 1) { #expect($0.map(\.count) == [1]) }
    }
}

@Suite("Timestamps of media")
struct MediaTimestampTests {
    /// Chunks packets of one stream and parses their timestamps.
    private final class Stream {
        var chunker: MediaChunker

        init(firstTimestamp: UInt32 = 0) {
            chunker = MediaChunker(streamID: 1, chunkSize: 4096, firstTimestamp: firstTimestamp)
        }

        func timestamp(_ kind: EncodedPacket.Kind, at time: MediaTimestamp) throws -> UInt32 {
            let message = chunker.chunk(EncodedPacket(kind: kind, decodeTime: time, payload: [0]))
            var reader = ChunkReader()
            return try #require(try reader.messages(in: message.wireBytes()).first).timestamp
        }

        func timestamp(_ kind: EncodedPacket.Kind, _ milliseconds: Int64) throws -> UInt32 {
            try timestamp(kind, at: MediaTimestamp(milliseconds: milliseconds))
        }
    }

    @Test("Time zero is the first frame or audio packet; older headers are sent at zero")
    func base() throws {
        let stream = Stream()
        let hour: Int64 = 3_600_000
        #expect(try stream.timestamp(.audioHeader, 5) == 0)
        #expect(try stream.timestamp(.videoHeader, 5) == 0)
        #expect(try stream.timestamp(.audio, hour) == 0)
        #expect(try stream.timestamp(.video(isKeyframe: true), hour - 10) == 0)
        #expect(try stream.timestamp(.video(isKeyframe: false), hour + 33) == 33)
        #expect(try stream.timestamp(.videoHeader, 5) == 33)
        #expect(try stream.timestamp(.audio, hour + 23) == 23)
    }

    @Test("Timestamps of a track never decrease; the other track is unaffected")
    func monotonic() throws {
        let stream = Stream()
        #expect(try [0, 100, 90].map { try stream.timestamp(.audio, $0) } == [0, 100, 100])
        #expect(try stream.timestamp(.video(isKeyframe: true), 50) == 50)
        #expect(try stream.timestamp(.audio, 110) == 110)
    }

    @Test("Rounded to the nearest millisecond, so that 30 frames per second stay 33 or 34 ms apart")
    func rounding() throws {
        let stream = Stream()
        let rate = FrameRate(framesPerSecond: 30)
        let times = try (0..<90).map { index in
            try stream.timestamp(.video(isKeyframe: false), at: .zero + rate.offset(ofFrame: index))
        }
        #expect(times.prefix(4) == [0, 33, 67, 100])
        #expect(zip(times, times.dropFirst()).allSatisfy { (33...34).contains($1 - $0) })
    }

    @Test("Correct across 2^24, 2^31 and 2^32 ms", arguments: [Int64(1) << 24, 1 << 31, 1 << 32])
    func wraps(border: Int64) throws {
        let stream = Stream()
        _ = try stream.timestamp(.video(isKeyframe: true), 0)
        for time in border - 3...border + 3 {
            #expect(try stream.timestamp(.video(isKeyframe: false), time) == UInt32(truncatingIfNeeded: time))
            #expect(try stream.timestamp(.audio, time) == UInt32(truncatingIfNeeded: time))
        }
    }

    @Test("A day of media is timed correctly across the wraps", arguments: [Int64(1) << 31, 1 << 32])
    func day(wrap: Int64) throws {
        let day: Int64 = 24 * 3_600_000
        let start = wrap - day / 2
        let stream = Stream(firstTimestamp: UInt32(start))
        // A frame and an audio packet per second, long after boot.
        let boot: Int64 = 7_654_321
        for time in stride(from: 0, through: day, by: 1000) {
            let expected = UInt32(truncatingIfNeeded: start + time)
            #expect(try stream.timestamp(.video(isKeyframe: time % 2000 == 0), boot + time) == expected)
            #expect(try stream.timestamp(.audio, boot + time + 500) == expected &+ 500)
        }
    }

    @Test("The first timestamp is arbitrary, so that wraps can come early")
    func firstTimestamp() throws {
        let stream = Stream(firstTimestamp: 0xFFFF_FFFF)
        #expect(try [7, 8].map { try stream.timestamp(.audio, $0) } == [0xFFFF_FFFF, 0])
    }

    @Test("Extreme times do not trap")
    func extremes() throws {
        let stream = Stream()
        for nanoseconds in [Int64.min, .max, 0, .min, .max] {
            _ = try stream.timestamp(.audio, at: MediaTimestamp(nanoseconds: nanoseconds))
        }
    }

    @Test("Tags keep body and timestamp; metadata becomes a data frame")
    func tags() throws {
        let chunker = Stream(firstTimestamp: 99).chunker
        var metadata: [UInt8] = []
        metadata.appendAMF0(.string("onMetaData"))
        metadata.appendAMF0(.ecmaArray([]))
        var cue: [UInt8] = []
        cue.appendAMF0(.string("onCuePoint"))
        let messages = try [
            FLVTag(kind: .video, timestamp: 0xFFFF_FFF0, body: [0x17, 1]), FLVTag(kind: .audio, timestamp: 3, body: []),
            FLVTag(kind: .script, timestamp: 1, body: metadata), FLVTag(kind: .script, timestamp: 2, body: cue),
        ].map { tag in
            var reader = ChunkReader()
            return try #require(try reader.messages(in: chunker.chunk(tag).wireBytes()).first)
        }
        #expect(messages.map(\.type) == [.video, .audio, .dataAMF0, .dataAMF0])
        #expect(messages.map(\.timestamp) == [0xFFFF_FFF0, 3, 1, 2])
        #expect(messages[0].payload == [0x17, 1])
        #expect(messages[2].payload == StreamMetadata.setDataFrame + metadata)
        #expect(messages[3].payload == cue)
    }

    @Test(
        "A composition offset is limited to its 24 bits",
        arguments: [(66, "000042"), (-1, "FFFFFF"), (9_000_000, "7FFFFF")])
    func composition(milliseconds: Int, hex: String) {
        var chunker = Stream().chunker
        let message = chunker.chunk(
            EncodedPacket(
                kind: .video(isKeyframe: true), decodeTime: .zero, compositionOffset: .milliseconds(milliseconds),
                payload: []))
        #expect(Array(message.wireBytes().suffix(3)) == bytes(hex))
    }
}
