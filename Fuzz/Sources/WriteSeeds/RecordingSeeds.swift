import Bitstream
import Media

/// Recordings as they grow, and as a power cut leaves them.
enum RecordingSeeds {
    static let all = [
        Seed(name: "growing", bytes: file(hasVideo: true, hasAudio: true, finishing: 0)),
        Seed(name: "video-alone", bytes: file(hasVideo: true, hasAudio: false, finishing: 0)),
        Seed(name: "audio-alone", bytes: file(hasVideo: false, hasAudio: true, finishing: 0)),
        Seed(name: "cut-off", bytes: file(hasVideo: true, hasAudio: true, finishing: 0).dropLast(9).map { $0 }),
        Seed(name: "index-appended", bytes: file(hasVideo: true, hasAudio: true, finishing: 2)),
        Seed(name: "finished", bytes: file(hasVideo: true, hasAudio: true, finishing: 4)),
    ]

    private static let videoHeader: [UInt8] = [
        1, 0x42, 0xC0, 0x1E, 0xFF, 0xE1, 0, 14, 0x67, 0x42, 0xC0, 0x1E, 0x8C, 0x68, 0x0A, 0x03, 0xDA, 0x01, 0xE1, 0x10,
        0x8D, 0x40, 1, 0, 4, 0x68, 0xCE, 0x3C, 0x80,
    ]

    /// - Parameter finishing: the number of steps of its end that were done.
    private static func file(hasVideo: Bool, hasAudio: Bool, finishing: Int) -> [UInt8] {
        guard
            let tracks = try? MP4RecordedTracks(
                videoHeader: hasVideo ? videoHeader : nil, audioHeader: hasAudio ? [0x11, 0x90] : nil)
        else { return [] }
        var writer = MP4RecordingWriter(tracks, start: .zero, creation: 1_790_000_000)
        var steps = writer.begin()
        for number in 0..<6 as Range<Int64> {
            if number % 3 == 0 {
                steps += writer.endFragment(
                    nextFrame: MediaTimestamp(milliseconds: number * 40), clock: MP4WallClock(offset: 1 << 60))
            }
            let frame = EncodedPacket(
                kind: .video(isKeyframe: number % 3 == 0), decodeTime: MediaTimestamp(milliseconds: number * 40),
                compositionOffset: .milliseconds(number % 2 * 40), payload: [0, 0, 0, 2, 0x65, UInt8(number)])
            let audio = EncodedPacket(
                kind: .audio, decodeTime: MediaTimestamp(milliseconds: number * 40 + 10),
                payload: [0x21, UInt8(number)])
            for packet in [frame, audio] { _ = writer.append(packet) }
        }
        steps += writer.endFragment(nextFrame: nil, clock: nil)
        steps += writer.finish().prefix(finishing)
        var bytes: [UInt8] = []
        for case .write(let pieces, let offset) in steps {
            let content = pieces.flatMap { $0 }
            bytes.replaceSubrange(offset..<min(bytes.count, offset + content.count), with: content)
        }
        return bytes
    }
}
