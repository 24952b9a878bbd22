import Media
import StreamQuality

/// Makes the packets of an encoder with numbered pictures: the number stands in the payload, so that what comes
/// out of a buffer can be held against what went in.
struct MediaScript {
    var frameDuration = Duration.milliseconds(40)
    var keyFrameInterval = 50
    private(set) var pictureNumber = 0
    private(set) var pictureInGroup = 0
    private(set) var audioNumber = 0

    var videoTime: MediaTimestamp { .zero + frameDuration * pictureNumber }
    var audioTime: MediaTimestamp { .zero + .milliseconds(20) * audioNumber }

    static func time(_ seconds: Double) -> MediaTimestamp { MediaTimestamp(nanoseconds: Int64(seconds * 1e9)) }

    /// The next picture; a key frame at each group's begin and where asked for.
    mutating func picture(key: Bool = false, byteCount: Int = 1_000) -> EncodedPacket {
        if key { pictureInGroup = 0 }
        let isKeyFrame = pictureInGroup == 0
        let packet = EncodedPacket(
            kind: .video(isKeyFrame: isKeyFrame), decodeTime: videoTime, payload: numbered(pictureNumber, byteCount))
        pictureNumber += 1
        pictureInGroup = (pictureInGroup + 1) % keyFrameInterval
        return packet
    }

    mutating func audio(byteCount: Int = 100) -> EncodedPacket {
        defer { audioNumber += 1 }
        return EncodedPacket(kind: .audio, decodeTime: audioTime, payload: numbered(audioNumber, byteCount))
    }

    static let videoHeader = EncodedPacket(kind: .videoHeader, decodeTime: .zero, payload: [1])
    static let audioHeader = EncodedPacket(kind: .audioHeader, decodeTime: .zero, payload: [2])

    private func numbered(_ number: Int, _ byteCount: Int) -> [UInt8] {
        let digits = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return digits + [UInt8](repeating: 0, count: max(0, byteCount - 4))
    }
}

extension EncodedPacket {
    /// The number that `MediaScript` gave it.
    var number: Int { payload.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) } }
}

/// Watches packets as a decoder would: each picture but a key frame needs the one before it.
struct ReferenceChecker {
    private var lastPicture: Int?
    private(set) var danglingCount = 0
    private(set) var pictureCount = 0

    mutating func received(_ packet: EncodedPacket) {
        guard case .video(let isKeyFrame) = packet.kind else { return }
        if !isKeyFrame, lastPicture != packet.number - 1 { danglingCount += 1 }
        lastPicture = packet.number
        pictureCount += 1
    }
}
