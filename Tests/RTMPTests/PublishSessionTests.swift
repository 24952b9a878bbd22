import Media
import Testing

@testable import RTMP

@Suite("Publish session")
struct PublishSessionTests {
    @Test("The sequence from handshake to media")
    func sequence() throws {
        var server = try ScriptedServer { $0.metadata = InMemoryTests.metadata }
        let opening = server.open()
        #expect(opening.sentBytes.count == 1537)
        #expect(opening.withoutSends.isEmpty)
        _ = try server.messages(opening)

        let connect = try server.messages(server.startHandshake())
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

        #expect(server.acceptPublish() == [.publishingStarted])
        #expect(server.session.isPublishing)
        let metadata = try server.chunkedMetadata(at: .zero)
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

    @Test("Unneeded messages of the server change nothing")
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

    @Test("A wrong transaction number for connect is accepted if the code is right")
    func wrongNumber() throws {
        var server = try ScriptedServer()
        server.goOn(to: .connect)
        #expect(server.say(Command("_result", transactionID: 9)).isEmpty)
        let success = ScriptedServer.information("status", "NetConnection.Connect.Success", "")
        #expect(!server.say(Command("_result", transactionID: 0, arguments: [success])).sentBytes.isEmpty)
    }

    @Test("The server's chunk size does not affect sent chunks", arguments: [1, 65_536])
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

    @Test("Pings are answered, but only partly in a flood")
    func ping() throws {
        var server = try ScriptedServer()
        _ = try server.messages(server.open())
        _ = try server.messages(server.startHandshake())
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
        _ = try server.messages(server.startHandshake())
        #expect(server.say(.windowAcknowledgementSize(1)).isEmpty)
        let answer = try server.messages(server.say(.userControl(.streamBegin(streamID: 1))))
        #expect(answer.map { ControlMessage($0) } == [.acknowledgement(UInt32(3073 + 16 + 18))])
    }

    @Test("Answers a new bandwidth with the window, once")
    func peerBandwidth() throws {
        var server = try ScriptedServer()
        _ = try server.messages(server.open())
        _ = try server.messages(server.startHandshake())
        let first = try server.messages(server.say(.setPeerBandwidth(5000, limitType: 2)))
        #expect(first.map { ControlMessage($0) } == [.windowAcknowledgementSize(5000)])
        #expect(server.say(.setPeerBandwidth(5000, limitType: 2)).isEmpty)
        let tiny = try server.messages(server.say(.setPeerBandwidth(0, limitType: 0)))
        #expect(tiny.map { ControlMessage($0) } == [.windowAcknowledgementSize(4096)])
    }

    @Test("Acknowledged bytes are reported, up to the number sent")
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

    @Test("Every connection starts with fresh state")
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

    @Test("Metadata and headers of a continued stream have its present time")
    func headersOfAStreamThatGoesOn() throws {
        var server = try ScriptedServer { $0.metadata = InMemoryTests.metadata }
        server.goOn(to: .media)
        server.session.mediaStarted(at: MediaTimestamp(milliseconds: 500))
        let time = MediaTimestamp(milliseconds: 9500)
        let metadata = try server.chunkedMetadata(at: time)
        #expect(metadata.map(\.timestamp) == [9000])
        #expect(metadata.first?.payload == InMemoryTests.metadata.dataFrame(encoderName: "Tallycam"))
        let header = server.session.chunk(EncodedPacket(kind: .audioHeader, decodeTime: time, payload: [1]))
        #expect(try server.read(header).map(\.timestamp) == [9000])
    }

    @Test("Media with its own metadata gets none")
    func noMetadata() throws {
        var server = try ScriptedServer()
        server.goOn(to: .media)
        #expect(server.session.chunkMetadata(at: .zero) == nil)
    }
}
