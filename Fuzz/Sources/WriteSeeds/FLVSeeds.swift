import Bitstream
import Media

/// Files with all kinds of tags; the last byte is the size of the portions in which the target `flv` reads.
enum FLVSeeds {
    static let all = [
        Seed(name: "packets", bytes: header + packets + [12]),
        Seed(name: "other-codecs", bytes: header + otherCodecs + [3]),
        Seed(name: "header-alone", bytes: FLVWriter.header(hasAudio: false, hasVideo: true)),
        Seed(name: "long-header", bytes: longHeader + packets),
    ]

    private static let header = FLVWriter.header(hasAudio: true, hasVideo: true)
    private static let longHeader: [UInt8] = [0x46, 0x4C, 0x56, 1, 5, 0, 0, 0, 12, 1, 2, 3, 0, 0, 0, 0]
    private static let packets = packetTags.flatMap(bytes)
    private static let otherCodecs = otherTags.flatMap(bytes)

    private static func bytes(_ tag: FLVTag) -> [UInt8] { (try? FLVWriter.bytes(of: tag)) ?? [] }

    private static let packetTags = [
        FLVTag(kind: .script, timestamp: 0, body: [2, 0, 10] + Array("onMetaData".utf8) + [8, 0, 0, 0, 0, 0, 0, 9]),
        FLVTag(
            EncodedPacket(kind: .videoHeader, decodeTime: .zero, payload: [1, 66, 192, 30, 255, 224, 0]), base: .zero),
        FLVTag(EncodedPacket(kind: .audioHeader, decodeTime: .zero, payload: [0x12, 0x10]), base: .zero),
        FLVTag(
            EncodedPacket(
                kind: .video(isKeyframe: true), decodeTime: MediaTimestamp(milliseconds: 40),
                compositionOffset: .milliseconds(-80), payload: [0, 0, 0, 2, 0x65, 1]), base: .zero),
        FLVTag(
            EncodedPacket(kind: .audio, decodeTime: MediaTimestamp(milliseconds: 0x1_0000_0001), payload: [1]),
            base: .zero),
    ]

    private static let otherTags = [
        FLVTag(kind: .video, timestamp: 0xFFFF_FFFF, body: [0x12, 1, 2, 3]),
        FLVTag(kind: .video, timestamp: 1, body: [0x57, 0]),
        FLVTag(kind: .video, timestamp: 2, body: [0x17, 2, 0, 0, 0]),
        FLVTag(kind: .video, timestamp: 3, body: [0x90, 0x61, 0x76, 0x63, 0x31]),
        FLVTag(kind: .audio, timestamp: 4, body: [0x2F, 0xFF]),
        FLVTag(kind: .audio, timestamp: 5, body: []),
    ]
}
