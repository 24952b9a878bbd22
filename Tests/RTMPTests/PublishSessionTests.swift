import Media
import Testing

@testable import RTMP

/// A publish session and what a server says to it, message by message.
struct ScriptedServer {
    var session: PublishSession
    var now = MediaTimestamp.zero
    /// Reads what the session sends, behind its handshake.
    private var reader = ChunkReader()
    private var handshakeBytes = 0

    init(
        _ text: String = "rtmp://bob:hush1@h/live/mykey?token=SECRET",
        edit: (inout PublishConfiguration) -> Void = { _ in }
    )
        throws
    {
        var generator = SeededGenerator(state: 3)
        var configuration = PublishConfiguration(
            url: try RTMPURL(parsing: text), encoderName: "Tallycam", randomBytes: generator.bytes(1528), metadata: nil)
        edit(&configuration)
        session = PublishSession(configuration: configuration)
    }

    /// The messages among what the session sent.
    mutating func messages(_ actions: [PublishSession.Action]) throws -> [Message] {
        let sent = actions.sentBytes
        let handshakePart = min(sent.count, 3073 - handshakeBytes)
        handshakeBytes += handshakePart
        return try reader.messages(in: Array(sent[handshakePart...]))
    }

    mutating func commands(_ actions: [PublishSession.Action]) throws -> [Command] {
        try messages(actions).filter { $0.type == .commandAMF0 }.map { try Command($0) }
    }

    mutating func open() -> [PublishSession.Action] {
        handshakeBytes = 0
        reader = ChunkReader()
        return session.connectionOpened(now: now)
    }

    mutating func shakeHands() -> [PublishSession.Action] {
        say(bytes: [3] + [UInt8](repeating: 0, count: 3072))
    }

    mutating func say(bytes: [UInt8]) -> [PublishSession.Action] { session.bytesReceived(bytes, now: now) }

    mutating func say(_ control: ControlMessage) -> [PublishSession.Action] {
        var stream: [UInt8] = []
        ChunkWriter().append(control, to: &stream)
        return say(bytes: stream)
    }

    mutating func say(_ command: Command, streamID: UInt32 = 0) -> [PublishSession.Action] {
        var stream: [UInt8] = []
        ChunkWriter().append(command, streamID: streamID, to: &stream)
        return say(bytes: stream)
    }

    mutating func status(_ level: String, _ code: String, _ description: String = "") -> [PublishSession.Action] {
        say(Command("onStatus", transactionID: 0, arguments: [Self.information(level, code, description)]), streamID: 1)
    }

    static func information(_ level: String, _ code: String, _ description: String) -> AMF0Value {
        .object([
            AMF0Property("level", .string(level)), AMF0Property("code", .string(code)),
            AMF0Property("description", .string(description)),
        ])
    }

    mutating func acceptConnect() -> [PublishSession.Action] {
        let success = Self.information("status", "NetConnection.Connect.Success", "")
        return say(Command("_result", transactionID: 1, object: .object([]), arguments: [success]))
    }

    mutating func acceptStream(_ number: Double = 1) -> [PublishSession.Action] {
        say(Command("_result", transactionID: 4, arguments: [.number(number)]))
    }

    mutating func acceptPublish() -> [PublishSession.Action] { status("status", "NetStream.Publish.Start") }

    /// Up to the point where `step` is waited for.
    mutating func goOn(to step: PublishStep) {
        _ = open()
        if step == .handshake { return }
        _ = shakeHands()
        if step == .connect { return }
        _ = acceptConnect()
        if step == .createStream { return }
        _ = acceptStream()
        if step == .publish { return }
        _ = acceptPublish()
    }
}

@Suite("Publish session")
struct PublishSessionTests {
    @Test("The sequence from handshake to media")
    func sequence() throws {
        var server = try ScriptedServer { $0.metadata = InMemoryTests.metadata }
        let opening = server.open()
        #expect(opening.sentBytes.count == 1537)
        #expect(opening.withoutSends.isEmpty)
        _ = try server.messages(opening)

        let connect = try server.messages(server.shakeHands())
        #expect(ControlMessage(connect[0]) == .setChunkSize(65_536))
        let call = try Command(connect[1])
        #expect(call.name == "connect")
        #expect(call.transactionID == 1)
        #expect(call.object["app"] == .string("live"))
        #expect(call.object["tcUrl"] == .string("rtmp://h/live"))
        #expect(call.object["type"] == .string("nonprivate"))
        #expect(call.object["flashVer"] == .string("FMLE/3.0 (compatible; Tallycam)"))
        #expect(call.object["capsEx"] == nil)

        let afterConnect = try server.messages(server.acceptConnect())
        #expect(ControlMessage(afterConnect[0]) == .windowAcknowledgementSize(100_000))
        let calls = try afterConnect.dropFirst().map { try Command($0) }
        #expect(calls.map(\.name) == ["releaseStream", "FCPublish", "createStream"])
        #expect(calls[0].arguments == [.string("mykey?token=SECRET")])

        let publish = try server.messages(server.acceptStream(5))
        #expect(publish.map(\.streamID) == [5])
        #expect(try Command(publish[0]).arguments == [.string("mykey?token=SECRET"), .string("live")])

        let start = server.acceptPublish()
        #expect(start.last == .publishingStarted)
        #expect(server.session.isPublishing)
        let metadata = try server.messages(start)
        #expect(metadata.map(\.type) == [.dataAMF0])
        #expect(metadata.map(\.streamID) == [5])
        var decoder = AMF0Decoder(metadata[0].payload)
        #expect(try decoder.decodeValue() == .string("@setDataFrame"))
        #expect(try decoder.decodeValue() == .string("onMetaData"))
        let properties = try decoder.decodeValue()
        #expect(properties["width"] == .number(640))
        #expect(properties["videodatarate"] == .number(512))
        #expect(properties["audiosamplerate"] == .number(44_100))
        #expect(properties["encoder"] == .string("Tallycam"))
        #expect(decoder.isAtEnd)

        let media = server.session.chunk(EncodedPacket(kind: .audio, decodeTime: .zero, payload: [1]))
        #expect(media.wireBytes() == bytes("04 000000 000003 08 05000000 AF0101"))
    }

    @Test("A server's small talk changes nothing")
    func smallTalk() throws {
        var server = try ScriptedServer()
        server.goOn(to: .connect)
        #expect(server.say(Command("onBWDone", transactionID: 0)).isEmpty)
        server.goOn(to: .createStream)
        #expect(server.say(Command("_error", transactionID: 2)).isEmpty)
        #expect(server.say(Command("_result", transactionID: 3, arguments: [.undefined])).isEmpty)
        #expect(
            server.say(
                Command(
                    "onFCPublish", transactionID: 0,
                    arguments: [
                        ScriptedServer.information("status", "NetStream.Publish.Start", "")
                    ])
            ).isEmpty)
        #expect(server.say(.userControl(.streamBegin(streamID: 1))).isEmpty)
        #expect(server.status("status", "NetStream.Record.Start").isEmpty)
        _ = server.acceptStream()
        #expect(server.acceptPublish() == [.publishingStarted])
        #expect(server.acceptPublish().isEmpty)
    }

    @Test("A wrong transaction number for connect is forgiven where the words are right")
    func wrongNumber() throws {
        var server = try ScriptedServer()
        server.goOn(to: .connect)
        #expect(server.say(Command("_result", transactionID: 9)).isEmpty)
        let success = ScriptedServer.information("status", "NetConnection.Connect.Success", "")
        #expect(!server.say(Command("_result", transactionID: 0, arguments: [success])).sentBytes.isEmpty)
    }

    @Test("The server's chunk size is its own: nothing that is sent changes", arguments: [1, 65_536])
    func serverChunkSize(size: Int) throws {
        var server = try ScriptedServer()
        server.goOn(to: .connect)
        #expect(server.say(.setChunkSize(UInt32(size))).isEmpty)
        var stream: [UInt8] = []
        let success = ScriptedServer.information("status", "NetConnection.Connect.Success", "")
        ChunkWriter(chunkSize: size).append(
            Command("_result", transactionID: 1, object: .object([]), arguments: [success]), to: &stream)
        let actions = server.say(bytes: stream)
        #expect(server.session.writer.chunkSize == 65_536)
        #expect(!actions.sentBytes.isEmpty)
    }

    @Test("Pings are answered, a flood of them only in part")
    func ping() throws {
        var server = try ScriptedServer()
        _ = try server.messages(server.open())
        _ = try server.messages(server.shakeHands())
        let answer = try server.messages(server.say(.userControl(.pingRequest(timestamp: 77))))
        #expect(answer.map { ControlMessage($0) } == [.userControl(.pingResponse(timestamp: 77))])
        var flood: [UInt8] = []
        for number in 0..<10_000 {
            ChunkWriter().append(.userControl(.pingRequest(timestamp: UInt32(number))), to: &flood)
        }
        #expect(try server.messages(server.say(bytes: flood)).count == PublishSession.pingAnswersPerPortion)
    }

    @Test("Acknowledges at the server's window, however small")
    func acknowledges() throws {
        var server = try ScriptedServer()
        _ = try server.messages(server.open())
        _ = try server.messages(server.shakeHands())
        #expect(server.say(.windowAcknowledgementSize(1)).isEmpty)
        let answer = try server.messages(server.say(.userControl(.streamBegin(streamID: 1))))
        #expect(answer.map { ControlMessage($0) } == [.acknowledgement(UInt32(3073 + 16 + 18))])
    }

    @Test("Answers a new bandwidth with the window, once")
    func peerBandwidth() throws {
        var server = try ScriptedServer()
        _ = try server.messages(server.open())
        _ = try server.messages(server.shakeHands())
        let first = try server.messages(server.say(.setPeerBandwidth(5000, limitType: 2)))
        #expect(first.map { ControlMessage($0) } == [.windowAcknowledgementSize(5000)])
        #expect(server.say(.setPeerBandwidth(5000, limitType: 2)).isEmpty)
        let tiny = try server.messages(server.say(.setPeerBandwidth(0, limitType: 0)))
        #expect(tiny.map { ControlMessage($0) } == [.windowAcknowledgementSize(4096)])
    }

    @Test("What the server acknowledges is reported, as far as it was sent")
    func acknowledged() throws {
        var server = try ScriptedServer()
        server.goOn(to: .media)
        let before = server.session.sentByteCount
        let message = server.session.chunk(
            EncodedPacket(kind: .audio, decodeTime: .zero, payload: [UInt8](repeating: 0, count: 100_000)))
        #expect(server.session.sentByteCount == before + UInt64(message.byteCount))
        #expect(server.say(.acknowledgement(50_000)) == [.acknowledged(byteCount: 50_000)])
        #expect(server.say(.acknowledgement(50_000)).isEmpty)
        #expect(server.say(.acknowledgement(200_000)).isEmpty)
        #expect(server.say(.acknowledgement(100_000)) == [.acknowledged(byteCount: 100_000)])
    }

    @Test("Every connection begins afresh")
    func freshState() throws {
        var server = try ScriptedServer()
        server.goOn(to: .media)
        _ = server.say(.setChunkSize(60_000))
        _ = server.say(.windowAcknowledgementSize(1))
        _ = server.session.chunk(EncodedPacket(kind: .audio, decodeTime: MediaTimestamp(milliseconds: 9), payload: [1]))
        _ = server.session.connectionClosed()
        server.goOn(to: .media)
        #expect(server.session.isPublishing)
        #expect(server.session.reader.chunkSize == 128)
        #expect(server.say(.userControl(.streamBegin(streamID: 1))).isEmpty)
        let media = server.session.chunk(
            EncodedPacket(kind: .audio, decodeTime: MediaTimestamp(milliseconds: 5000), payload: [1]))
        #expect(media.wireBytes() == bytes("04 000000 000003 08 01000000 AF0101"))
    }

    @Test("A quality change tells players of it, at the time of the latest media")
    func newMetadata() throws {
        var server = try ScriptedServer()
        server.goOn(to: .media)
        for time in [Int64(0), 40] {
            _ = server.session.chunk(
                EncodedPacket(kind: .audio, decodeTime: MediaTimestamp(milliseconds: time), payload: [1]))
        }
        let message = server.session.chunk(InMemoryTests.metadata)
        var reader = ChunkReader()
        reader.chunkSize = 65_536
        let read = try reader.messages(in: message.wireBytes())
        #expect(read.map(\.timestamp) == [40])
        #expect(read.first?.payload == InMemoryTests.metadata.dataFrame(encoderName: "Tallycam"))
    }
}

@Suite("How publishing ends")
struct PublishEndTests {
    static let steps: [PublishStep] = [.handshake, .connect, .createStream, .publish, .media]

    @Test("Stopping says so to the server when a stream is there, and always ends", arguments: steps)
    func stop(step: PublishStep) throws {
        var server = try ScriptedServer()
        server.goOn(to: step)
        let actions = server.session.stopRequested()
        #expect(actions.last == .stopped)
        let hasStream = step == .publish || step == .media
        #expect(actions.count == (hasStream ? 2 : 1))
        #expect(server.session.nextDeadline == nil)
        #expect(server.session.stopRequested().isEmpty)
        #expect(server.session.connectionClosed().isEmpty)
        #expect(server.acceptPublish().isEmpty)
        #expect(server.session.timePassed(now: MediaTimestamp(milliseconds: 1_000_000)).isEmpty)
    }

    @Test("Stopping without a connection ends too")
    func stopIdle() throws {
        var server = try ScriptedServer()
        #expect(server.session.stopRequested() == [.stopped])
    }

    @Test("FCUnpublish and deleteStream with name and number")
    func stopWords() throws {
        var server = try ScriptedServer()
        _ = try server.messages(server.open())
        _ = try server.messages(server.shakeHands())
        _ = try server.messages(server.acceptConnect())
        _ = try server.messages(server.acceptStream(7))
        _ = try server.messages(server.acceptPublish())
        let commands = try server.commands(server.session.stopRequested())
        #expect(commands.map(\.name) == ["FCUnpublish", "deleteStream"])
        #expect(commands[0].arguments == [.string("mykey?token=SECRET")])
        #expect(commands[1].arguments == [.number(7)])
    }

    @Test("An answer that does not come ends the session at its limit", arguments: steps)
    func timeout(step: PublishStep) throws {
        var server = try ScriptedServer {
            $0.timeLimits = .init(handshake: .seconds(3), answer: .seconds(2))
        }
        server.now = MediaTimestamp(milliseconds: 10_000)
        server.goOn(to: step)
        guard step != .media else {
            #expect(server.session.nextDeadline == nil)
            return
        }
        let limit = MediaTimestamp(milliseconds: step == .handshake ? 13_000 : 12_000)
        #expect(server.session.nextDeadline == limit)
        #expect(server.session.timePassed(now: limit - .nanoseconds(1)).isEmpty)
        #expect(server.session.timePassed(now: limit) == [.failed(.timedOut(waitingFor: step))])
        #expect(server.session.nextDeadline == nil)
    }

    @Test("A handshake that dribbles does not move its limit")
    func dribble() throws {
        var server = try ScriptedServer()
        _ = server.open()
        for second in 1...4 {
            server.now = MediaTimestamp(milliseconds: Int64(second) * 1000)
            #expect(server.say(bytes: second == 1 ? [3] : [0]).isEmpty)
        }
        #expect(server.session.nextDeadline == MediaTimestamp(milliseconds: 5000))
    }

    @Test("A connection that ends is an error that says when", arguments: steps)
    func lost(step: PublishStep) throws {
        var server = try ScriptedServer()
        server.goOn(to: step)
        #expect(server.session.connectionClosed() == [.failed(.connectionLost(during: step))])
        #expect(server.session.connectionClosed().isEmpty)
    }

    @Test("No RTMP behind the port")
    func noRTMP() throws {
        var server = try ScriptedServer()
        _ = server.open()
        #expect(server.say(bytes: Array("HTTP/1.1 400".utf8)) == [.failed(.handshakeFailed(version: 0x48))])
    }

    @Test(
        "Refusals of connect",
        arguments: [
            (
                "NetConnection.Connect.Rejected",
                PublishError.connectRejected(
                    code: "NetConnection.Connect.Rejected", description: "not *** today")
            ),
            ("NetConnection.Connect.InvalidApp", .invalidApplication("live", description: "not *** today")),
            ("", .connectRejected(code: "", description: "not *** today")),
        ])
    func connectRefused(code: String, error: PublishError) throws {
        let information = ScriptedServer.information("error", code, "not mykey today")
        var server = try ScriptedServer()
        server.goOn(to: .connect)
        #expect(server.say(Command("_error", transactionID: 1, arguments: [information])) == [.failed(error)])
        // Some servers put the error into a _result.
        guard !code.isEmpty else { return }
        server.goOn(to: .connect)
        #expect(server.say(Command("_result", transactionID: 1, arguments: [information])) == [.failed(error)])
    }

    @Test("A connect refusal as onStatus")
    func connectRefusedByStatus() throws {
        var server = try ScriptedServer()
        server.goOn(to: .connect)
        #expect(
            server.status("error", "NetConnection.Connect.Rejected", "no") == [
                .failed(.connectRejected(code: "NetConnection.Connect.Rejected", description: "no"))
            ])
    }

    @Test("No stream is created")
    func streamRefused() throws {
        var server = try ScriptedServer()
        for command in [
            Command("_error", transactionID: 4), Command("_result", transactionID: 4),
            Command("_result", transactionID: 4, arguments: [.number(.nan)]),
            Command("_result", transactionID: 4, arguments: [.number(-1)]),
            Command("_result", transactionID: 4, arguments: [.number(0.5)]),
            Command("_result", transactionID: 4, arguments: [.number(1e300)]),
        ] {
            server.goOn(to: .createStream)
            guard case .failed(.streamNotCreated)? = server.say(command).last else {
                Issue.record("\(command) was accepted")
                continue
            }
        }
    }

    @Test(
        "Refusals of publish, whatever their level",
        arguments: [
            ("NetStream.Publish.BadName", PublishError.badName(description: "*** is taken")),
            (
                "NetStream.Publish.Denied",
                .publishDenied(code: "NetStream.Publish.Denied", description: "*** is taken")
            ),
            (
                "NetStream.Publish.Unauthorized",
                .publishDenied(code: "NetStream.Publish.Unauthorized", description: "*** is taken")
            ),
            (
                "NetStream.Publish.Rejected",
                .publishDenied(code: "NetStream.Publish.Rejected", description: "*** is taken")
            ),
        ], ["error", "status", "warning"])
    func publishRefused(refusal: (code: String, error: PublishError), level: String) throws {
        var server = try ScriptedServer()
        for step in [PublishStep.publish, .media] {
            server.goOn(to: step)
            #expect(server.status(level, refusal.code, "mykey is taken") == [.failed(refusal.error)])
        }
    }

    @Test("An error amid the stream")
    func streamError() throws {
        var server = try ScriptedServer()
        server.goOn(to: .media)
        #expect(
            server.status("error", "NetStream.Failed", "disk full") == [
                .failed(.streamFailed(code: "NetStream.Failed", description: "disk full"))
            ])
    }

    @Test(
        "The server ends it",
        arguments: [
            "NetConnection.Connect.Closed", "NetConnection.Connect.AppShutdown", "NetStream.Unpublish.Success",
        ])
    func closed(code: String) throws {
        var server = try ScriptedServer()
        server.goOn(to: .media)
        #expect(server.status("status", code) == [.failed(.closedByServer(code: code))])
        server.goOn(to: .media)
        #expect(server.say(Command("close", transactionID: 0)) == [.failed(.closedByServer(code: "close"))])
    }

    @Test("Garbage amid the stream")
    func garbage() throws {
        var server = try ScriptedServer()
        server.goOn(to: .media)
        #expect(server.say(bytes: [0xFF, 1, 2]) == [.failed(.invalidChunks(.missingHeader(chunkStreamID: 63)))])
        server.goOn(to: .media)
        #expect(
            server.say(bytes: bytes("03 000000 000001 14 00000000 FF")) == [
                .failed(.invalidCommand(.unknownMarker(0xFF, at: 0)))
            ])
    }

    @Test("What stands behind an error in the same bytes is not looked at")
    func afterError() throws {
        var server = try ScriptedServer()
        server.goOn(to: .publish)
        var stream: [UInt8] = []
        for code in ["NetStream.Publish.BadName", "NetStream.Publish.Start"] {
            let information = ScriptedServer.information("error", code, "")
            ChunkWriter().append(Command("onStatus", transactionID: 0, arguments: [information]), to: &stream)
        }
        #expect(server.say(bytes: stream) == [.failed(.badName(description: ""))])
    }

    @Test("Every error has its number and one line without secrets")
    func descriptions() {
        let errors: [(PublishError, Int)] = [
            (.handshakeFailed(version: 72), -1004), (.timedOut(waitingFor: .publish), -1015),
            (.connectRejected(code: "c", description: "d"), -1005), (.invalidApplication("a", description: ""), -1011),
            (.credentialsMissing, -1005), (.credentialsRefused(description: "authfailed"), -1005),
            (.streamNotCreated(description: ""), -1014), (.badName(description: ""), -1008),
            (.publishDenied(code: "c", description: ""), -1008), (.streamFailed(code: "c", description: "d"), -1014),
            (.closedByServer(code: "close"), -1007), (.connectionLost(during: .connect), -1013),
            (.connectionLost(during: .media), -1013), (.connectionLost(during: .publish), -1013),
            (.invalidChunks(.invalidChunkSize(0)), -1012), (.invalidCommand(.truncated(at: 3)), -1012),
        ]
        for (error, code) in errors {
            #expect(error.code == code)
            #expect(error.description.count > 20 && !error.description.contains("\n"))
        }
        #expect(PublishError.badName(description: "").mayPassByItself)
        #expect(!PublishError.credentialsRefused(description: "").mayPassByItself)
    }
}
