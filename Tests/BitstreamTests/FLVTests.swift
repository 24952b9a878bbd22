import Bitstream
import Media
import Testing

@Suite struct FLVHeaderTests {
    @Test func videoHeadersMatchTheFormat() {
        #expect(FLVVideoHeader(frameType: .keyframe, packetType: .sequenceHeader).bytes == [0x17, 0, 0, 0, 0])
        #expect(FLVVideoHeader(frameType: .keyframe, packetType: .nalUnits).bytes == [0x17, 1, 0, 0, 0])
        #expect(
            FLVVideoHeader(frameType: .interFrame, packetType: .nalUnits, compositionTime: -2).bytes
                == [0x27, 1, 0xFF, 0xFF, 0xFE])
        #expect(FLVAudioHeader(packetType: .sequenceHeader).bytes == [0xAF, 0])
        #expect(FLVAudioHeader(packetType: .raw).bytes == [0xAF, 1])
    }

    @Test func everyFirstByteParsesToTheSameBytesOrThrows() {
        for first in UInt8.min...UInt8.max {
            let body: [UInt8] = [first, 1, 0x80, 0, 1, 99]
            if let header = try? FLVVideoHeader(parsing: body) {
                #expect(header.bytes == Array(body.prefix(header.byteCount)))
            }
            if let header = try? FLVAudioHeader(parsing: body) {
                #expect(header.bytes == Array(body.prefix(header.byteCount)))
            }
        }
        #expect((try? FLVVideoHeader(parsing: [0x27, 1, 0x80, 0, 1]))?.compositionTime == -0x7F_FFFF)
    }

    @Test func refusesTruncatedAndUnknownHeaders() {
        #expect(throws: BitstreamError.truncated(structure: "FLV video tag", needed: 1)) {
            try FLVVideoHeader(parsing: [])
        }
        #expect(throws: BitstreamError.truncated(structure: "FLV video tag", needed: 2)) {
            try FLVVideoHeader(parsing: [0x17, 1, 0])
        }
        #expect(throws: BitstreamError.unsupported(structure: "FLV video tag", feature: "the enhanced header")) {
            try FLVVideoHeader(parsing: [0x90, 0x68, 0x76, 0x63, 0x31])
        }
        #expect(throws: BitstreamError.invalid(structure: "FLV audio tag", field: "AACPacketType", value: 2)) {
            try FLVAudioHeader(parsing: [0xAF, 2])
        }
    }
}

@Suite struct FLVPacketTests {
    private let base = MediaTimestamp(milliseconds: 5_000)

    @Test(arguments: [
        EncodedPacket(kind: .videoHeader, decodeTime: .init(milliseconds: 5_000), payload: [1, 2]),
        EncodedPacket(kind: .video(isKeyframe: true), decodeTime: .init(milliseconds: 5_033), payload: [3]),
        EncodedPacket(
            kind: .video(isKeyframe: false), decodeTime: .init(milliseconds: 5_067),
            compositionOffset: .milliseconds(-40), payload: []),
        EncodedPacket(kind: .audioHeader, decodeTime: .init(milliseconds: 5_000), payload: [0x12, 0x10]),
        EncodedPacket(kind: .audio, decodeTime: .init(milliseconds: 9_000), payload: [4, 5]),
    ])
    func packetSurvivesConversionToATag(packet: EncodedPacket) throws {
        let tag = FLVTag(packet, base: base)
        let back = try #require(try tag.packet(base: base))
        #expect(back.kind == packet.kind)
        #expect(back.decodeTime == packet.decodeTime)
        #expect(back.compositionOffset == packet.compositionOffset)
        #expect(back.payload == packet.payload)
        #expect(tag.isKeyframe == (packet.kind == .video(isKeyframe: true)))
        #expect(tag.isSequenceHeader == (packet.kind == .videoHeader || packet.kind == .audioHeader))
    }

    @Test func timestampsRoundWrapAndNeverGoBelowZero() {
        func timestamp(_ nanoseconds: Int64) -> UInt32 {
            EncodedPacket(kind: .audio, decodeTime: base + .nanoseconds(nanoseconds), payload: []).flvTimestamp(
                base: base)
        }
        #expect(timestamp(33_333_333) == 33)
        #expect(timestamp(66_666_666) == 67)
        #expect(timestamp(-1_000_000) == 0)
        #expect(timestamp((1 << 32) * 1_000_000) == 0)
        #expect(timestamp((1 << 32 - 1) * 1_000_000) == .max)
    }

    @Test func scriptAndForeignCodecsAreNotPackets() throws {
        #expect(try FLVTag(kind: .script, timestamp: 0, body: [2]).packet(base: base) == nil)
        #expect(try FLVTag(kind: .video, timestamp: 0, body: [0x22, 1]).packet(base: base) == nil)
        #expect(try FLVTag(kind: .audio, timestamp: 0, body: [0x2F, 1]).packet(base: base) == nil)
        #expect(try FLVTag(kind: .video, timestamp: 0, body: [0x17, 2, 0, 0, 0]).packet(base: base) == nil)
        #expect(throws: BitstreamError.self) { try FLVTag(kind: .video, timestamp: 0, body: []).packet(base: base) }
    }
}

@Suite struct FLVReaderTests {
    private let tags = [
        FLVTag(kind: .script, timestamp: 0, body: [2, 0, 1, 0x61]),
        FLVTag(kind: .video, timestamp: 0, body: [0x17, 0, 0, 0, 0, 9]),
        FLVTag(kind: .audio, timestamp: 0x0102_0304, body: []),
        FLVTag(kind: .video, timestamp: .max, body: [UInt8](repeating: 7, count: 300)),
    ]

    private func file() throws -> [UInt8] {
        try FLVWriter.header(hasAudio: true, hasVideo: true) + tags.flatMap { try FLVWriter.bytes(of: $0) }
    }

    private func readAll(_ reader: inout FLVReader) throws -> [FLVTag] {
        var tags: [FLVTag] = []
        while let tag = try reader.nextTag() { tags.append(tag) }
        return tags
    }

    @Test func tagMatchesTheFormat() throws {
        #expect(
            try FLVWriter.bytes(of: FLVTag(kind: .audio, timestamp: 0x0102_0304, body: [0xAF, 1]))
                == [8, 0, 0, 2, 2, 3, 4, 1, 0, 0, 0, 0xAF, 1, 0, 0, 0, 13])
        #expect(FLVWriter.header(hasAudio: false, hasVideo: true).prefix(5) == [0x46, 0x4C, 0x56, 1, 1])
    }

    @Test func readsFilesSplitAtEveryByte() throws {
        let bytes = try file()
        for split in 0...bytes.count {
            var reader = FLVReader()
            reader.append(Array(bytes[..<split]))
            var read = try readAll(&reader)
            reader.append(Array(bytes[split...]))
            read += try readAll(&reader)
            #expect(read == tags)
            try reader.inputEnded()
        }
        var reader = FLVReader()
        var read: [FLVTag] = []
        for byte in bytes {
            reader.append([byte])
            read += try readAll(&reader)
        }
        #expect(read == tags)
    }

    @Test func readsBytesWrittenInPlaceIntoALargerBuffer() throws {
        var rest = try file()[...]
        var reader = FLVReader()
        var read: [FLVTag] = []
        repeat {
            let count = reader.append(upTo: 100) { room in
                let portion = rest.prefix(7)
                room.copyBytes(from: portion)
                rest = rest.dropFirst(7)
                return portion.count
            }
            read += try readAll(&reader)
            if count == 0 { break }
        } while true
        #expect(read == tags)
        try reader.inputEnded()
    }

    @Test func wrongPreviousTagSizesAreTolerated() throws {
        var bytes = FLVWriter.header(hasAudio: true, hasVideo: true)
        for tag in tags {
            bytes += try FLVWriter.bytes(of: tag)
            bytes.replaceSubrange((bytes.count - 4)..., with: [0xDE, 0xAD, 0xBE, 0xEF])
        }
        var reader = FLVReader()
        reader.append(bytes)
        #expect(try readAll(&reader) == tags)
    }

    @Test func lastTagMayLackItsPreviousTagSize() throws {
        let bytes = try file()
        for missing in 0...4 {
            var reader = FLVReader()
            reader.append(Array(bytes.dropLast(missing)))
            #expect(try readAll(&reader) == tags)
            try reader.inputEnded()
        }
    }

    @Test func endInsideATagIsReported() throws {
        var reader = FLVReader()
        #expect(throws: BitstreamError.truncated(structure: "FLV header", needed: 9)) { try reader.inputEnded() }
        reader.append(Array(try file().dropLast(10)))
        #expect(try readAll(&reader) == Array(tags.dropLast()))
        #expect(throws: BitstreamError.truncated(structure: "FLV tag", needed: 6)) { try reader.inputEnded() }
    }

    @Test func longerHeaderIsSkipped() throws {
        var reader = FLVReader()
        let header: [UInt8] = [0x46, 0x4C, 0x56, 1, 5, 0, 0, 0, 11, 99, 99, 0, 0, 0, 0]
        reader.append(header + (try FLVWriter.bytes(of: tags[0])))
        #expect(try readAll(&reader) == [tags[0]])
    }

    private static func padded(_ start: [UInt8]) -> [UInt8] { start + [UInt8](repeating: 0, count: 200) }

    private static let transportStream = padded([0x47, 0x40, 0x11]).enumerated().map { $0 == 188 ? 0x47 : $1 }

    @Test(
        arguments: [
            (padded([0x46, 0x4C, 0x57]), .invalid(structure: "FLV header", field: "signature", value: 0x57)),
            ([0x46, 0x4C, 0x56, 2, 5, 0, 0, 0, 9], .invalid(structure: "FLV header", field: "version", value: 2)),
            ([0x46, 0x4C, 0x56, 1, 5, 0, 0, 0, 8], .invalid(structure: "FLV header", field: "DataOffset", value: 8)),
            (
                [0x46, 0x4C, 0x56, 1, 5, 0, 0, 0, 9, 0, 0, 0, 0, 7],
                .invalid(structure: "FLV tag", field: "TagType", value: 7)
            ),
            (
                [0x46, 0x4C, 0x56, 1, 5, 0, 0, 0, 9, 0, 0, 0, 0, 0x29],
                .unsupported(structure: "FLV tag", feature: "encryption")
            ),
        ] as [([UInt8], BitstreamError)])
    func refusesOtherDataAgainAndAgain(bytes: [UInt8], expected: BitstreamError) {
        var reader = FLVReader()
        reader.append(bytes)
        for _ in 0..<2 { #expect(throws: expected) { try reader.nextTag() } }
        #expect(throws: expected) { try reader.inputEnded() }
    }

    @Test(
        arguments: [
            (padded([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A]), "this is a PNG image, not an FLV file"),
            (padded([0xFF, 0xD8, 0xFF, 0xE0]), "this is a JPEG image, not an FLV file"),
            (
                padded([0, 0, 0, 0x20] + Array("ftypisom".utf8)),
                "this is an MP4 file, not an FLV file; convert it with ffmpeg -i INPUT -c copy OUTPUT.flv"
            ),
            (
                padded([0x1A, 0x45, 0xDF, 0xA3]),
                "this is a Matroska or WebM file, not an FLV file; convert it with ffmpeg -i INPUT -c copy OUTPUT.flv"
            ),
            (
                transportStream,
                "this is an MPEG transport stream, not an FLV file; convert it with ffmpeg -i INPUT -c copy OUTPUT.flv"
            ),
            (padded(Array("RIFF____WAVEfmt ".utf8)), "this is a WAV file, not an FLV file"),
            (padded([0x50, 0x4B, 3, 4]), "this is a ZIP archive, not an FLV file"),
            (Array(" \n{\"url\": \"rtmp://127.0.0.1/x\"}".utf8), "this is a JSON file, not an FLV file"),
            (Array("Grüße\r\n".utf8), "this is a text file, not an FLV file"),
            ([0, 1, 2], "FLV header is damaged: signature is 0, which is not allowed"),
        ] as [([UInt8], String)])
    func otherFilesAreNamedHoweverTheyArrive(bytes: [UInt8], expected: String) {
        for portion in [1, 7, bytes.count] {
            var reader = FLVReader()
            do throws(BitstreamError) {
                for start in stride(from: 0, to: bytes.count, by: portion) {
                    reader.append(Array(bytes[start..<min(start + portion, bytes.count)]))
                    guard try reader.nextTag() == nil else { continue }
                }
                try reader.inputEnded()
                Issue.record("taken")
            } catch {
                #expect("\(error)" == expected)
            }
        }
    }
}
