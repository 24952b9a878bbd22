import Media
import RTMP

/// All bytes of a publisher and a receiver that talk to each other.
struct Conversation {
    static let handshakeByteCount = 1 + 2 * 1536

    private(set) var toReceiver: [UInt8] = []
    private(set) var toPublisher: [UInt8] = []
    private var publisher = PublishSession(
        configuration: PublishConfiguration(
            url: RTMPURL(
                scheme: .rtmp, host: "example.org", application: "live", streamName: "door?token=hush-hush-hush"),
            encoderName: "Tallycam", randomBytes: [UInt8](repeating: 1, count: 1528),
            metadata: StreamMetadata(
                video: .init(
                    size: FrameSize(width: 640, height: 480), frameRate: FrameRate(framesPerSecond: 30),
                    bitrate: Bitrate(kilobitsPerSecond: 512)),
                audio: .init(bitrate: Bitrate(kilobitsPerSecond: 64), sampleRate: 44_100, channelCount: 2))))
    private var receiver = ReceiveSession(
        configuration: ReceiveConfiguration(randomBytes: [UInt8](repeating: 2, count: 1528), chunkSize: 256))

    /// From the handshake over some media to the end.
    static func wholeSession() -> Conversation {
        var conversation = Conversation()
        conversation.deliver(conversation.publisher.connectionOpened(now: .zero))
        let packets = [
            EncodedPacket(
                kind: .videoHeader, decodeTime: .zero, payload: [1, 66, 192, 30, 255, 225, 0, 1, 0x67, 1, 0, 1, 0x68]),
            EncodedPacket(kind: .audioHeader, decodeTime: .zero, payload: [0x12, 0x10]),
            EncodedPacket(kind: .video(isKeyframe: true), decodeTime: .zero, payload: [0, 0, 0, 4, 0x65, 1, 2, 3]),
            EncodedPacket(kind: .audio, decodeTime: MediaTimestamp(milliseconds: 23), payload: [0x21, 0x10, 4]),
        ]
        for packet in packets {
            let message = conversation.publisher.chunk(packet)
            var bytes: [UInt8] = []
            message.withSlices(from: 0) { slices in
                for slice in slices { bytes += slice }
            }
            conversation.deliverToReceiver(bytes)
        }
        conversation.deliver(conversation.publisher.stopRequested())
        return conversation
    }

    private mutating func deliver(_ actions: [PublishSession.Action]) {
        for case .send(let bytes) in actions { deliverToReceiver(bytes) }
    }

    private mutating func deliverToReceiver(_ bytes: [UInt8]) {
        toReceiver += bytes
        for case .send(let answer) in bytes.withUnsafeBytes({ receiver.bytesReceived($0) }) {
            toPublisher += answer
            deliver(answer.withUnsafeBytes { publisher.bytesReceived($0, now: .zero) })
        }
    }
}
