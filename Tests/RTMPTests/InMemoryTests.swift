import Bitstream
import Media
import SeededNumbers
import Testing

@testable import RTMP

@Suite("Publisher against receiver, in memory")
struct InMemoryTests {
    static let metadata = StreamMetadata(
        video: .init(
            size: FrameSize(width: 640, height: 480), frameRate: FrameRate(framesPerSecond: 30),
            bitrate: Bitrate(kilobitsPerSecond: 512)),
        audio: .init(bitrate: Bitrate(kilobitsPerSecond: 128), sampleRate: 44_100, channelCount: 2))

    @Test("A session from handshake to end", arguments: [1, 7, 128, 65_536])
    func wholeSession(portion: Int) throws {
        var pair = try SessionPair(portion: portion)
        pair.open()
        #expect(pair.publisherActions == [.publishingStarted])
        #expect(
            pair.receiverActions.first == .publishStarted(application: "live", streamName: "key?token=secret"))
        pair.publishMetadata()
        pair.publish(EncodedPacket(kind: .videoHeader, decodeTime: .zero, payload: [1, 2, 3]))
        pair.publish(
            EncodedPacket(
                kind: .video(isKeyframe: true), decodeTime: .zero, compositionOffset: .milliseconds(66),
                payload: Array(repeating: 9, count: 200_000)))
        pair.publish(EncodedPacket(kind: .audio, decodeTime: MediaTimestamp(milliseconds: 23), payload: [4]))
        let tags = pair.tags.filter { $0.kind != .script }
        #expect(tags.map(\.timestamp) == [0, 0, 23])
        #expect(tags[0].body == [0x17, 0, 0, 0, 0, 1, 2, 3])
        #expect(tags[1].body == [0x17, 1, 0, 0, 66] + Array(repeating: 9, count: 200_000))
        #expect(tags[2].body == [0xAF, 1, 4])
        #expect(pair.metadata?.contains(AMF0Property("width", .number(640))) == true)
        pair.stop()
        #expect(pair.publisherActions.last == .stopped)
        #expect(pair.receiverActions.last == .ended)
    }

    @Test(
        "Timestamps arrive correctly across every limit, in messages of several chunks",
        arguments: [UInt32(1) << 24, 1 << 31, 0])
    func borders(border: UInt32) throws {
        var pair = try SessionPair(portion: 1000) { publish, _ in
            publish.chunkSize = 4096
            publish.firstTimestamp = border &- 66
        }
        pair.open()
        for index in 0..<6 {
            pair.publish(
                EncodedPacket(
                    kind: .video(isKeyframe: false), decodeTime: MediaTimestamp(milliseconds: Int64(index) * 33),
                    payload: [UInt8](repeating: UInt8(index), count: 10_000)))
        }
        let tags = pair.tags.filter { $0.kind == .video }
        #expect(tags.map { $0.timestamp &- border } == [0xFFFF_FFBE, 0xFFFF_FFDF, 0, 33, 66, 99])
        #expect(tags.map(\.body.count) == Array(repeating: 10_005, count: 6))
    }
}

/// A publisher and a receiver that exchange their bytes in portions.
struct SessionPair {
    var publisher: PublishSession
    var receiver: ReceiveSession
    let portion: Int
    private var toReceiver: ArraySlice<UInt8> = []
    private var toPublisher: ArraySlice<UInt8> = []
    var publisherActions: [PublishSession.Action] = []
    var receiverActions: [ReceiveSession.Action] = []

    init(portion: Int = .max, edit: (inout PublishConfiguration, inout ReceiveConfiguration) -> Void = { _, _ in })
        throws
    {
        var generator = SeededGenerator(seed: 1)
        var publish = PublishConfiguration(
            url: try RTMPURL(parsing: "rtmp://example.org/live/key?token=secret"), encoderName: "Tallycam",
            randomBytes: generator.bytes(1528), metadata: InMemoryTests.metadata)
        var receive = ReceiveConfiguration(randomBytes: generator.bytes(1528))
        edit(&publish, &receive)
        publisher = PublishSession(configuration: publish)
        receiver = ReceiveSession(configuration: receive)
        self.portion = portion
    }

    mutating func open() { deliver(publisher.connectionOpened(now: .zero)) }
    mutating func stop() { deliver(publisher.stopRequested()) }

    mutating func publish(_ packet: EncodedPacket) {
        toReceiver += publisher.chunk(packet).wireBytes()
        carry()
    }

    mutating func publishMetadata() {
        toReceiver += publisher.chunkMetadata(at: .zero)?.wireBytes() ?? []
        carry()
    }

    var tags: [FLVTag] { receiverActions.compactMap { if case .media(let tag) = $0 { tag } else { nil } } }
    var metadata: [AMF0Property]? {
        receiverActions.lazy.compactMap { if case .metadata(let properties) = $0 { properties } else { nil } }.first
    }

    mutating func deliver(_ actions: [PublishSession.Action]) {
        publisherSaid(actions)
        carry()
    }

    mutating func deliver(_ actions: [ReceiveSession.Action]) {
        receiverSaid(actions)
        carry()
    }

    /// Transfers bytes in both directions, portion by portion and in order, until none are in flight.
    private mutating func carry() {
        while !toReceiver.isEmpty || !toPublisher.isEmpty {
            receiverSaid(receiver.bytesReceived(Self.take(portion, from: &toReceiver)))
            publisherSaid(publisher.bytesReceived(Self.take(portion, from: &toPublisher)))
        }
    }

    private static func take(_ count: Int, from bytes: inout ArraySlice<UInt8>) -> [UInt8] {
        let part = bytes.prefix(count)
        bytes = bytes.dropFirst(count)
        return Array(part)
    }

    private mutating func publisherSaid(_ actions: [PublishSession.Action]) {
        publisherActions += actions.withoutSends
        toReceiver += actions.sentBytes
    }

    private mutating func receiverSaid(_ actions: [ReceiveSession.Action]) {
        receiverActions += actions.withoutSends
        toPublisher += actions.sentBytes
    }
}

extension [UInt8] {
    func portions(of count: Int) -> [[UInt8]] {
        stride(from: 0, to: self.count, by: Swift.min(count, Swift.max(1, self.count))).map {
            Array(self[$0..<Swift.min(self.count, $0 + Swift.min(count, self.count))])
        }
    }
}
