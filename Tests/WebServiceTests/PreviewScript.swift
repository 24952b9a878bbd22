import Bitstream
import LinuxIO
import Media
import StreamQuality

@testable import WebService

/// Packets as encoders make them, 25 frames and about 47 pieces of audio a second.
struct PreviewScript {
    static let start = MediaTimestamp(milliseconds: 3_600_000)
    static let audioHeader = EncodedPacket(kind: .audioHeader, decodeTime: start, payload: [0x11, 0x90])

    /// - Parameter level: level_idc, by which headers of the tests differ.
    static func videoHeader(level: UInt8 = 30) -> EncodedPacket {
        let set: [UInt8] = [0x67, 66, 0xC0, level, 0x8C, 0x68, 0x0A, 0x03, 0xDA, 0x01, 0xE1, 0x10, 0x8D, 0x40]
        let header = [1, 66, 0xC0, level, 0xFF, 0xE1, 0, 14] + set + [1, 0, 4, 0x68, 0xCE, 0x3C, 0x80]
        return EncodedPacket(kind: .videoHeader, decodeTime: start, payload: header)
    }

    static func frame(_ number: Int, isKeyframe: Bool = false, byteCount: Int = 100) -> EncodedPacket {
        EncodedPacket(
            kind: .video(isKeyframe: isKeyframe), decodeTime: start + .milliseconds(40 * Int64(number)),
            payload: [0, 0, 0, 4, isKeyframe ? 0x65 : 0x41] + [UInt8](repeating: 1, count: byteCount))
    }

    /// The audio that follows a frame.
    static func audio(_ number: Int) -> EncodedPacket {
        EncodedPacket(
            kind: .audio, decodeTime: start + .milliseconds(40 * Int64(number) + 1), payload: [0x21, 1, 2, 3])
    }
}

extension ViewerMessage {
    /// Short for comparisons: S and its level, K, f, a (audio alone), E.
    var symbol: String {
        switch self {
        case .start(let start): "S" + String(start.codecs.prefix(11).suffix(2))
        case .ended: "E"
        case .fragment(_, isKeyframe: true): "K"
        // Audio alone is short.
        case .fragment(let bytes, isKeyframe: false): bytes.count > 200 ? "f" : "a"
        }
    }
}

extension [ViewerMessage] {
    var symbols: String { map(\.symbol).joined(separator: " ") }
}
