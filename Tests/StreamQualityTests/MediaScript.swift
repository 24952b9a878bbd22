import Media
import StreamQuality

/// Creates an encoder's packets with numbered frames. The payload contains the number, so that a buffer's output can be
/// compared with its input.
struct MediaScript {
    var frameDuration = Duration.milliseconds(40)
    var keyframeInterval = 50
    private(set) var frameNumber = 0
    private(set) var frameInGOP = 0
    private(set) var audioNumber = 0

    var videoTime: MediaTimestamp { .zero + frameDuration * frameNumber }
    var audioTime: MediaTimestamp { .zero + .milliseconds(20) * audioNumber }

    static func time(_ seconds: Double) -> MediaTimestamp { MediaTimestamp(nanoseconds: Int64(seconds * 1e9)) }

    /// The next frame; a keyframe at the start of each GOP and on request.
    mutating func frame(key: Bool = false, byteCount: Int = 1_000) -> EncodedPacket {
        if key { frameInGOP = 0 }
        let isKeyframe = frameInGOP == 0
        let packet = EncodedPacket(
            kind: .video(isKeyframe: isKeyframe), decodeTime: videoTime, payload: numbered(frameNumber, byteCount))
        frameNumber += 1
        frameInGOP = (frameInGOP + 1) % keyframeInterval
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
    /// The number from `MediaScript`.
    var number: Int { payload.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) } }
}

/// Checks packets like a decoder: each frame except a keyframe needs the previous one.
struct ReferenceChecker {
    private var lastFrame: Int?
    private(set) var danglingCount = 0
    private(set) var frameCount = 0

    mutating func received(_ packet: EncodedPacket) {
        guard case .video(let isKeyframe) = packet.kind else { return }
        if !isKeyframe, lastFrame != packet.number - 1 { danglingCount += 1 }
        lastFrame = packet.number
        frameCount += 1
    }
}
