import Bitstream
import Media
import SeededNumbers
import Testing

@testable import RTMP

/// A receive session and a publisher's messages to it.
struct ScriptedPublisher {
    var session: ReceiveSession
    private var reader = ChunkReader()
    private var handshakeBytes = 0

    init(edit: (inout ReceiveConfiguration) -> Void = { _ in }) {
        var generator = SeededGenerator(seed: 5)
        var configuration = ReceiveConfiguration(randomBytes: generator.bytes(1528))
        edit(&configuration)
        session = ReceiveSession(configuration: configuration)
    }

    mutating func startHandshake() {
        handshakeBytes += session.bytesReceived([3] + [UInt8](repeating: 0, count: 3072)).sentBytes.count
    }

    mutating func say(bytes: [UInt8]) -> [ReceiveSession.Action] { session.bytesReceived(bytes) }

    mutating func say(_ message: Message, on chunkStreamID: UInt8 = 4) -> [ReceiveSession.Action] {
        var stream: [UInt8] = []
        ChunkWriter().append(message, chunkStreamID: chunkStreamID, to: &stream)
        return say(bytes: stream)
    }

    mutating func say(_ command: Command, streamID: UInt32 = 0) -> [ReceiveSession.Action] {
        say(command.message(streamID: streamID), on: 3)
    }

    mutating func messages(_ actions: [ReceiveSession.Action]) throws -> [Message] {
        try reader.messages(in: actions.sentBytes)
    }

    mutating func connect() -> [ReceiveSession.Action] {
        say(Command("connect", transactionID: 1, object: .object([AMF0Property("app", .string("live"))])))
    }

    mutating func publish(_ name: String = "key") -> [ReceiveSession.Action] {
        say(Command("publish", transactionID: 5, arguments: [.string(name), .string("live")]), streamID: 1)
    }

    mutating func goOnToMedia() {
        startHandshake()
        _ = connect()
        _ = publish()
    }
}

@Suite("Receive session")
struct ReceiveSessionTests {
    @Test("Answers the messages that publishers wait for")
    func answers() throws {
        var publisher = ScriptedPublisher()
        publisher.startHandshake()
        let connect = try publisher.messages(publisher.connect())
        #expect(
            connect.prefix(3).map { ControlMessage($0) } == [
                .windowAcknowledgementSize(2_500_000), .setPeerBandwidth(2_500_000, limitType: 2), .setChunkSize(4096),
            ])
        let result = try Command(connect[3])
        #expect(result.name == "_result")
        #expect(result.transactionID == 1)
        #expect(result.arguments.first?["code"] == .string("NetConnection.Connect.Success"))
        #expect(result.arguments.first?["level"] == .string("status"))

        let release = try publisher.messages(publisher.say(Command("releaseStream", transactionID: 2)))
        #expect(try Command(release[0]).transactionID == 2)
        for number in [1.0, 2.0] {
            let created = try publisher.messages(publisher.say(Command("createStream", transactionID: 4)))
            #expect(try Command(created[0]) == Command("_result", transactionID: 4, arguments: [.number(number)]))
        }
        let actions = publisher.publish("key?a=b")
        #expect(actions.withoutSends == [.publishStarted(application: "live", streamName: "key?a=b")])
        let start = try publisher.messages(actions)
        #expect(ControlMessage(start[0]) == .userControl(.streamBegin(streamID: 1)))
        #expect(start[1].streamID == 1)
        #expect(try Command(start[1]).arguments.first?["code"] == .string("NetStream.Publish.Start"))
        #expect(publisher.say(Command("getStreamLength", transactionID: 0)).isEmpty)
    }

    @Test("Media is accepted only between publish and its end")
    func media() {
        var publisher = ScriptedPublisher()
        let video = Message(type: .video, timestamp: 0xFFFF_FFFF, streamID: 1, payload: [0x17, 1, 0, 0, 0])
        publisher.startHandshake()
        _ = publisher.connect()
        #expect(publisher.say(video).isEmpty)
        _ = publisher.publish()
        #expect(
            publisher.say(video) == [.media(FLVTag(kind: .video, timestamp: 0xFFFF_FFFF, body: video.payload))])
        let end = publisher.say(Command("FCUnpublish", transactionID: 6, arguments: [.string("key")]))
        #expect(end.withoutSends == [.ended])
        #expect(publisher.say(Command("deleteStream", transactionID: 7, arguments: [.number(1)])).isEmpty)
        #expect(publisher.say(video).isEmpty)
        #expect(publisher.session.connectionClosed().isEmpty)
    }

    @Test("A stream may end by deleteStream, closeStream or with the connection; another may follow")
    func ends() {
        var publisher = ScriptedPublisher()
        publisher.startHandshake()
        for command in [
            Command("deleteStream", transactionID: 0, arguments: [.number(1)]),
            Command("closeStream", transactionID: 0),
            Command("deleteStream", transactionID: 0),
        ] {
            #expect(publisher.publish().withoutSends == [.publishStarted(application: "", streamName: "key")])
            #expect(publisher.say(Command("deleteStream", transactionID: 0, arguments: [.number(9)])).isEmpty)
            #expect(publisher.say(command).withoutSends == [.ended])
        }
        _ = publisher.publish()
        #expect(publisher.session.connectionClosed() == [.ended])
        #expect(publisher.session.connectionClosed().isEmpty)
        #expect(publisher.publish().isEmpty)
    }

    @Test(
        "Metadata with and without @setDataFrame, in AMF0 and AMF3 messages", arguments: [true, false], [true, false])
    func metadata(isDataFrame: Bool, isAMF3: Bool) {
        var publisher = ScriptedPublisher()
        publisher.goOnToMedia()
        let properties = [AMF0Property("width", .number(640))]
        var body: [UInt8] = []
        body.appendAMF0(.string("onMetaData"))
        body.appendAMF0(.object(properties))
        let payload = (isAMF3 ? [0] : []) + (isDataFrame ? StreamMetadata.setDataFrame : []) + body
        let actions = publisher.say(
            Message(type: isAMF3 ? .dataAMF3 : .dataAMF0, timestamp: 4, streamID: 1, payload: payload))
        #expect(
            actions == [.metadata(properties), .media(FLVTag(kind: .script, timestamp: 4, body: body))])
    }

    @Test("Other data is passed on; damaged data is dropped")
    func otherData() {
        var publisher = ScriptedPublisher()
        publisher.goOnToMedia()
        var cue: [UInt8] = []
        cue.appendAMF0(.string("onCuePoint"))
        #expect(
            publisher.say(Message(type: .dataAMF0, streamID: 1, payload: cue)) == [
                .media(FLVTag(kind: .script, timestamp: 0, body: cue))
            ])
        for payload in [[], [0xFF], StreamMetadata.setDataFrame, [0x05]] {
            #expect(publisher.say(Message(type: .dataAMF0, streamID: 1, payload: payload)).isEmpty)
        }
        #expect(publisher.say(Message(type: .dataAMF3, streamID: 1, payload: [])).isEmpty)
    }

    @Test("An aggregate is split, its times shifted to its own")
    func aggregate() {
        var publisher = ScriptedPublisher()
        publisher.goOnToMedia()
        let payload = bytes(
            "08 000001 0003E8 00 000000 AA 0000000C   09 000002 000408 00 000000 BBCC 0000000D   08 0000FF 000000")
        let actions = publisher.say(Message(type: .aggregate, timestamp: 5000, streamID: 1, payload: payload))
        #expect(
            actions == [
                .media(FLVTag(kind: .audio, timestamp: 5000, body: [0xAA])),
                .media(FLVTag(kind: .video, timestamp: 5032, body: [0xBB, 0xCC])),
            ])
    }

    @Test("A second publish on the connection is a bad name")
    func second() throws {
        var publisher = ScriptedPublisher()
        publisher.startHandshake()
        _ = try publisher.messages(publisher.publish())
        let answer = try publisher.messages(publisher.publish("other"))
        #expect(try Command(answer[0]).arguments.first?["code"] == .string("NetStream.Publish.BadName"))
    }

    @Test("Acknowledges at the publisher's window, otherwise at its own, or never")
    func acknowledges() throws {
        var publisher = ScriptedPublisher { $0.acknowledgementWindow = 10_000 }
        publisher.goOnToMedia()
        let audio = Message(type: .audio, streamID: 1, payload: [UInt8](repeating: 0, count: 12_000))
        func acknowledgements(_ actions: [ReceiveSession.Action]) throws -> Int {
            var reader = ChunkReader()
            return try reader.messages(in: actions.sentBytes).filter { $0.type == .acknowledgement }.count
        }
        #expect(try acknowledgements(publisher.say(audio)) == 1)
        _ = publisher.say(ControlMessage.windowAcknowledgementSize(50_000).message, on: 2)
        let counts = try (0..<10).map { _ in try acknowledgements(publisher.say(audio)) }
        #expect(counts.reduce(0, +) == 2)
        var eager = ScriptedPublisher { $0.acknowledgementWindow = 1 }
        let handshake = eager.say(bytes: [3] + [UInt8](repeating: 0, count: 3072))
        #expect(handshake.sentBytes.count == 3073)
        #expect(try acknowledgements(eager.say(audio)) == 1)
        var silent = ScriptedPublisher { $0.acknowledgementWindow = 0 }
        silent.goOnToMedia()
        _ = silent.say(ControlMessage.windowAcknowledgementSize(1).message, on: 2)
        #expect(silent.say(audio).sentBytes.isEmpty)
    }

    @Test("Answers pings")
    func ping() throws {
        var publisher = ScriptedPublisher()
        publisher.goOnToMedia()
        let actions = publisher.say(ControlMessage.userControl(.pingRequest(timestamp: 9)).message, on: 2)
        #expect(actions.sentBytes == bytes("02 000000 000006 04 00000000 0007 00000009"))
    }

    @Test func publisherThatSpeaksTLSIsRecognized() {
        var publisher = ScriptedPublisher()
        let error = ReceiveError.handshakeFailed(version: 0x16)
        #expect(publisher.say(bytes: [0x16, 3, 1]) == [.failed(error)])
        #expect("\(error)" == "the publisher speaks TLS; its URL must start with rtmp://, not rtmps://")
        #expect("\(ReceiveError.handshakeFailed(version: 0x47))".contains("version 71 instead of 3"))
    }

    @Test("Data that is not RTMP ends the session once")
    func garbage() {
        var publisher = ScriptedPublisher()
        #expect(publisher.say(bytes: Array("GET /".utf8)) == [.failed(.handshakeFailed(version: 0x47))])
        #expect(publisher.say(bytes: [3]).isEmpty)
        publisher = ScriptedPublisher()
        publisher.goOnToMedia()
        #expect(publisher.say(bytes: [0xFF]) == [.failed(.invalidChunks(.missingHeader(chunkStreamID: 63)))])
        publisher = ScriptedPublisher()
        publisher.goOnToMedia()
        #expect(
            publisher.say(Message(type: .commandAMF0, payload: [0xFF])) == [
                .failed(.invalidCommand(.unknownMarker(0xFF, at: 0)))
            ])
    }
}

@Suite("What a receiver refuses")
struct ReceiveRefusalTests {
    private func status(_ publisher: inout ScriptedPublisher, _ actions: [ReceiveSession.Action]) throws -> String? {
        let messages = try publisher.messages(actions)
        return try messages.last.map { try Command($0) }?.arguments.first?["code"]?.stringValue
    }

    @Test("A player, at once", arguments: ["play", "play2"])
    func player(command: String) throws {
        var publisher = ScriptedPublisher()
        publisher.startHandshake()
        _ = try publisher.messages(publisher.connect())
        let actions = publisher.say(Command(command, transactionID: 0, arguments: [.string("x")]), streamID: 1)
        #expect(try status(&publisher, actions) == "NetStream.Play.StreamNotFound")
        #expect(actions.dropFirst() == [.rejected(.player(application: "live")), .refused])
    }

    @Test("A stream that another connection publishes", arguments: ["key", "key?token=2"])
    func takenName(name: String) throws {
        var publisher = ScriptedPublisher()
        publisher.session.takenStreams = [.init(application: "live", name: "key?token=1")]
        publisher.startHandshake()
        _ = try publisher.messages(publisher.connect())
        let actions = publisher.publish(name)
        #expect(try status(&publisher, actions) == "NetStream.Publish.BadName")
        #expect(actions.dropFirst() == [.rejected(.nameInUse(application: "live")), .refused])
    }

    @Test("Another stream is accepted")
    func otherName() {
        var publisher = ScriptedPublisher()
        publisher.session.takenStreams = [
            .init(application: "live", name: "other"), .init(application: "other", name: "key"),
        ]
        publisher.startHandshake()
        _ = publisher.connect()
        #expect(publisher.publish().contains(.publishStarted(application: "live", streamName: "key")))
    }
}

@Suite("A receiver's faults, as a publisher meets them")
struct ReceiverFaultTests {
    @Test("Connect rejected and never answered")
    func connect() throws {
        var pair = try SessionPair { _, receive in
            receive.connectAnswer = .refuse(code: "NetConnection.Connect.Rejected", description: "no")
        }
        pair.open()
        #expect(
            pair.publisherActions == [
                .failed(.connectRejected(code: "NetConnection.Connect.Rejected", description: "no"))
            ])
        #expect(pair.receiverActions == [.refused])
        pair = try SessionPair { _, receive in receive.connectAnswer = .silence }
        pair.open()
        #expect(
            pair.publisher.timePassed(now: MediaTimestamp(milliseconds: 5000)) == [
                .failed(.timedOut(waitingFor: .connect))
            ])
    }

    @Test("Publish refused and never answered")
    func publish() throws {
        var pair = try SessionPair { _, receive in
            receive.publishAnswer = .refuse(code: "NetStream.Publish.BadName", description: "in use")
        }
        pair.open()
        #expect(pair.publisherActions == [.failed(.badName(description: "in use"))])
        #expect(pair.receiverActions == [.refused])
        pair = try SessionPair { _, receive in receive.publishAnswer = .silence }
        pair.open()
        #expect(
            pair.publisher.timePassed(now: MediaTimestamp(milliseconds: 5000)) == [
                .failed(.timedOut(waitingFor: .publish))
            ])
    }

    @Test("Chunk size 1 and 65536, window 1: publishing continues", arguments: [1, 65_536], [1, 4096])
    func sizes(chunkSize: Int, portion: Int) throws {
        var pair = try SessionPair(portion: portion) { _, receive in
            receive.chunkSize = chunkSize
            receive.announcedWindow = 1
        }
        pair.open()
        #expect(pair.publisherActions.contains(.publishingStarted))
        pair.publish(
            EncodedPacket(kind: .audio, decodeTime: .zero, payload: [UInt8](repeating: 1, count: 200_000)))
        #expect(pair.tags.last?.body.count == 200_002)
        guard case .acknowledged(let count)? = pair.publisherActions.last else {
            Issue.record("no acknowledgement")
            return
        }
        #expect(count > 0 && count <= pair.publisher.sentByteCount)
    }

    @Test("Pings, a stream error and a reconnect request on demand")
    func requests() throws {
        var pair = try SessionPair { publish, _ in publish.acceptsReconnectRequest = true }
        #expect(pair.receiver.pingRequested(timestamp: 1).isEmpty)
        #expect(pair.receiver.reconnectRequested(tcURL: nil).isEmpty)
        #expect(pair.receiver.streamErrorRequested(code: "NetStream.Failed", description: "").isEmpty)
        pair.open()
        pair.deliver(pair.receiver.pingRequested(timestamp: 1))
        pair.deliver(pair.receiver.reconnectRequested(tcURL: "rtmp://other/live"))
        let target = try RTMPURL(parsing: "rtmp://other/live/key?token=secret")
        #expect(pair.publisherActions == [.publishingStarted, .reconnectRequested(target)])
        pair.deliver(pair.receiver.streamErrorRequested(code: "NetStream.Failed", description: "disk full"))
        #expect(
            pair.publisherActions.last == .failed(.streamFailed(code: "NetStream.Failed", description: "disk full")))
    }
}
