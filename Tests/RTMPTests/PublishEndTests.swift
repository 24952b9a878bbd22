import Media
import Testing

@testable import RTMP

@Suite("How publishing ends")
struct PublishEndTests {
    static let steps: [PublishStep] = [.handshake, .connect, .createStream, .publish, .media]

    @Test("Stopping tells the server if a stream exists, and always ends", arguments: steps)
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

    @Test("Stopping without a connection ends as well")
    func stopIdle() throws {
        var server = try ScriptedServer()
        #expect(server.session.stopRequested() == [.stopped])
    }

    @Test("FCUnpublish and deleteStream contain name and number")
    func stopWords() throws {
        var server = try ScriptedServer()
        _ = try server.messages(server.open())
        _ = try server.messages(server.startHandshake())
        _ = try server.messages(server.acceptConnect())
        _ = try server.messages(server.acceptStream(7))
        _ = try server.messages(server.acceptPublish())
        let commands = try server.commands(server.session.stopRequested())
        #expect(commands.map(\.name) == ["FCUnpublish", "deleteStream"])
        #expect(commands[0].arguments == [.string("mykey?token=SECRET")])
        #expect(commands[1].arguments == [.number(7)])
    }

    @Test("A missing answer ends the session at its timeout", arguments: steps)
    func timeout(step: PublishStep) throws {
        var server = try ScriptedServer {
            $0.timeouts = .init(handshake: .seconds(3), answer: .seconds(2))
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

    @Test("A slow handshake does not extend its timeout")
    func dribble() throws {
        var server = try ScriptedServer()
        _ = server.open()
        for second in 1...4 {
            server.now = MediaTimestamp(milliseconds: Int64(second) * 1000)
            #expect(server.say(bytes: second == 1 ? [3] : [0]).isEmpty)
        }
        #expect(server.session.nextDeadline == MediaTimestamp(milliseconds: 5000))
    }

    @Test("A lost connection is an error that names the step", arguments: steps)
    func lost(step: PublishStep) throws {
        var server = try ScriptedServer()
        server.goOn(to: step)
        let error = step == .handshake ? PublishError.closedUnencrypted : .connectionLost(during: step)
        #expect(server.session.connectionClosed() == [.failed(error)])
        #expect(server.session.connectionClosed().isEmpty)
    }

    @Test("TLS is not suggested if the handshake was answered or is encrypted")
    func lostLater() throws {
        var server = try ScriptedServer()
        _ = server.open()
        #expect(server.say(bytes: [3]).isEmpty)
        #expect(server.session.connectionClosed() == [.failed(.connectionLost(during: .handshake))])
        var encrypted = try ScriptedServer("rtmps://example.org/live/mykey")
        _ = encrypted.open()
        #expect(encrypted.session.connectionClosed() == [.failed(.connectionLost(during: .handshake))])
    }

    @Test("TLS on the port is recognized by an alert or a handshake", arguments: [UInt8(21), 22])
    func tls(firstByte: UInt8) throws {
        var server = try ScriptedServer()
        _ = server.open()
        let error = PublishError.handshakeFailed(version: firstByte)
        #expect(server.say(bytes: [firstByte, 3, 3, 0, 2, 2, 10]) == [.failed(error)])
        #expect(error.description == "the server speaks TLS on this port; start the URL with rtmps://")
        #expect(!error.mayPassByItself)
    }

    @Test("Another protocol on the port is reported")
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
        // Some servers put the error in a _result.
        guard !code.isEmpty else { return }
        server.goOn(to: .connect)
        #expect(server.say(Command("_result", transactionID: 1, arguments: [information])) == [.failed(error)])
    }

    @Test("A refusal of connect as onStatus")
    func connectRefusedByStatus() throws {
        var server = try ScriptedServer()
        server.goOn(to: .connect)
        #expect(
            server.status("error", "NetConnection.Connect.Rejected", "no") == [
                .failed(.connectRejected(code: "NetConnection.Connect.Rejected", description: "no"))
            ])
    }

    @Test("A refusal to create a stream")
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

    @Test("An error during the stream")
    func streamError() throws {
        var server = try ScriptedServer()
        server.goOn(to: .media)
        #expect(
            server.status("error", "NetStream.Failed", "disk full") == [
                .failed(.streamFailed(code: "NetStream.Failed", description: "disk full"))
            ])
    }

    @Test(
        "The server ends the connection",
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

    @Test("Garbage during the stream")
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

    @Test("Bytes after an error are ignored")
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

    @Test("Every error has its code and one line without secrets")
    func descriptions() {
        let errors: [(PublishError, Int)] = [
            (.handshakeFailed(version: 72), -1004), (.timedOut(waitingFor: .publish), -1015),
            (.connectRejected(code: "c", description: "d"), -1005), (.invalidApplication("a", description: ""), -1011),
            (.credentialsMissing, -1005), (.credentialsRefused(description: "authfailed"), -1005),
            (.streamNotCreated(description: ""), -1014), (.badName(description: ""), -1008),
            (.publishDenied(code: "c", description: ""), -1008), (.streamFailed(code: "c", description: "d"), -1014),
            (.closedByServer(code: "close"), -1007), (.connectionLost(during: .connect), -1013),
            (.connectionLost(during: .media), -1013), (.connectionLost(during: .publish), -1008),
            (.connectionLost(during: .createStream), -1008), (.closedUnencrypted, -1013),
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
