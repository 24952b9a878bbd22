import Media
import Testing

@testable import RTMP

@Suite("Passwords")
struct AuthenticationTests {
    /// Replaces MD5: the digests of all texts that the schemes hash here, computed separately.
    static let digests = [
        "bobSALThush1": "cc33d01da55cf3cdae82786be7b6887c",
        "zDPQHaVc882ugnhr57aIfA==OPQ01020304": "6999925408a389e8b3e0c25f4fe86409",
        "zDPQHaVc882ugnhr57aIfA==CHAL01020304": "8c9992977e17cd82c0a09c09e156b9c3",
        "bob:live:hush1": "8ecd78fa52930dcdd460ebb2e036dfdb",
        "publish:/live/_definst_": "a2d981c976a6851bc5ed3f2beab823c8",
        "8ecd78fa52930dcdd460ebb2e036dfdb:NONCE:00000001:01020304:auth:a2d981c976a6851bc5ed3f2beab823c8":
            "493649ca41facb11394f36ab48fc63ee",
        "publish:/app/inst": "8452829835600774edc2917e13b23abf",
        "8ecd78fa52930dcdd460ebb2e036dfdb:NONCE:00000001:01020304:auth:8452829835600774edc2917e13b23abf":
            "cfadedc49eb8a41c9a65761b6b916618",
    ]

    static func authentication(
        application: String = "live", credentials: Credentials? = Credentials(user: "bob", password: "hush1")
    ) -> Authentication {
        Authentication(credentials: credentials, application: application, randomBytes: [1, 2, 3, 4, 5]) { input in
            bytes(digests[String(decoding: input, as: UTF8.self)] ?? "")
        }
    }

    static func ask(_ scheme: String) -> String {
        "[ AccessManager.Reject ] : [ code=403 need auth; authmod=\(scheme) ] : "
    }

    @Test(
        "Adobe: name, then a response from salt, opaque or challenge, and the client's nonce",
        arguments: [
            (
                "&opaque=OPQ",
                "authmod=adobe&user=bob&challenge=01020304&response=aZmSVAijieiz4MJfT+hkCQ==&opaque=OPQ"
            ),
            ("", "authmod=adobe&user=bob&challenge=01020304&response=jJmSl34XzYLAoJwJ4Va5ww=="),
        ])
    func adobe(opaque: String, query: String) {
        var authentication = Self.authentication()
        #expect(authentication.query == "")
        let first = authentication.connectRefused(Self.ask("adobe"))
        #expect(first == .tryAgain)
        #expect(authentication.query == "authmod=adobe&user=bob")
        let second = authentication.connectRefused(
            "[ AccessManager.Reject ] : [ authmod=adobe ] : ?reason=needauth&user=bob&salt=SALT&challenge=CHAL\(opaque)"
        )
        #expect(second == .tryAgain)
        #expect(authentication.query == query)
    }

    @Test(
        "Limelight: digest over the application with its default instance",
        arguments: [
            ("live", "493649ca41facb11394f36ab48fc63ee"),
            ("app/inst", "cfadedc49eb8a41c9a65761b6b916618"),
        ])
    func limelight(application: String, response: String) {
        var authentication = Self.authentication(application: application)
        let outcomes = [
            authentication.connectRefused(Self.ask("llnw")),
            authentication.connectRefused("[ authmod=llnw ] : ?reason=needauth&user=bob&nonce=NONCE"),
        ]
        #expect(outcomes == [.tryAgain, .tryAgain])
        #expect(
            authentication.query
                == "authmod=llnw&user=bob&nonce=NONCE&cnonce=01020304&nc=00000001&response=\(response)")
    }

    @Test("A refusal ends authentication", arguments: ["authfailed", "nosuchuser"])
    func refused(reason: String) {
        var authentication = Self.authentication()
        _ = authentication.connectRefused(Self.ask("adobe"))
        let outcome = authentication.connectRefused("[ authmod=adobe ] : ?reason=\(reason)&opaque=x")
        #expect(outcome == .refused(.credentialsRefused(description: reason)))
    }

    @Test("A server that never stops asking is given up")
    func askingForEver() {
        var authentication = Self.authentication()
        let challenge = "[ authmod=adobe ] : ?reason=needauth&user=bob&salt=SALT&challenge=CHAL"
        let outcomes = (0..<3).map { _ in authentication.connectRefused(challenge) }
        #expect(outcomes.prefix(2) == [.tryAgain, .tryAgain])
        #expect(outcomes[2] == .refused(.credentialsRefused(description: "it asked again after it was answered")))
    }

    @Test("Fails without user and password; other refusals are not requests for them")
    func missing() {
        var authentication = Self.authentication(credentials: nil)
        let asked = authentication.connectRefused(Self.ask("llnw"))
        #expect(asked == .refused(.credentialsMissing))
        let other = authentication.connectRefused("code=403 go away")
        #expect(other == .notAsked)
    }

    @Test("The session opens three connections with successive answers, then publishes")
    func session() throws {
        var server = try ScriptedServer("rtmp://bob:hush1@h/live/mykey") { configuration in
            configuration.randomBytes[0..<4] = [1, 2, 3, 4]
            configuration.md5 = { bytes(Self.digests[String(decoding: $0, as: UTF8.self)] ?? "") }
        }
        let refusals = [
            Self.ask("adobe"),
            "[ authmod=adobe ] : ?reason=needauth&user=bob&salt=SALT&challenge=CHAL&opaque=OPQ",
        ]
        let queries = [
            "", "?authmod=adobe&user=bob",
            "?authmod=adobe&user=bob&challenge=01020304&response=aZmSVAijieiz4MJfT+hkCQ==&opaque=OPQ",
        ]
        for (number, query) in queries.enumerated() {
            _ = try server.messages(server.open())
            let connect = try #require(try server.commands(server.startHandshake()).first)
            #expect(connect.object["app"] == .string("live" + query))
            #expect(connect.object["tcUrl"] == .string("rtmp://h/live" + query))
            guard number < refusals.count else { break }
            let information = ScriptedServer.information("error", "NetConnection.Connect.Rejected", refusals[number])
            let actions = server.say(Command("_error", transactionID: 1, arguments: [information]))
            #expect(actions == [.reopenConnection])
            #expect(server.session.connectionClosed().isEmpty)
            #expect(server.session.nextDeadline == nil)
        }
        _ = server.acceptConnect()
        _ = server.acceptStream()
        #expect(server.acceptPublish() == [.publishingStarted])
        // After a loss, the next connection repeats authentication from its first step.
        _ = server.session.connectionClosed()
        _ = try server.messages(server.open())
        let connect = try #require(try server.commands(server.startHandshake()).first)
        #expect(connect.object["app"] == .string("live"))
    }

    @Test("Stopping between two connections ends at once")
    func stop() throws {
        var server = try ScriptedServer("rtmp://bob:hush1@h/live/mykey") { $0.md5 = { _ in [] } }
        server.goOn(to: .connect)
        let information = ScriptedServer.information("error", "", Self.ask("adobe"))
        #expect(server.say(Command("_error", transactionID: 1, arguments: [information])) == [.reopenConnection])
        #expect(server.session.stopRequested() == [.stopped])
    }
}

@Suite("Reconnect request")
struct ReconnectRequestTests {
    static func request(_ tcURL: String?) -> Command {
        var properties = [
            AMF0Property("level", .string("status")),
            AMF0Property("code", .string("NetConnection.Connect.ReconnectRequest")),
        ]
        if let tcURL { properties.append(AMF0Property("tcUrl", .string(tcURL))) }
        return Command("onStatus", transactionID: 0, arguments: [.object(properties)])
    }

    @Test(
        "The target may be absolute, relative or the same",
        arguments: [
            (nil, "rtmp://h:1936/app/inst"), ("", "rtmp://h:1936/app/inst"),
            ("rtmp://other/live", "rtmp://other/live"), ("rtmps://other/live", "rtmps://other/live"),
            ("//other:99/live", "rtmp://other:99/live"), ("/live", "rtmp://h:1936/live"),
            ("second", "rtmp://h:1936/app/second"),
        ])
    func target(tcURL: String?, expected: String) throws {
        var server = try ScriptedServer("rtmp://h:1936/app/inst/mykey?token=x") { $0.acceptsReconnectRequest = true }
        server.goOn(to: .media)
        let target = try RTMPURL(parsingServer: expected, streamName: "mykey?token=x")
        #expect(server.say(Self.request(tcURL)) == [.reconnectRequested(target)])
        // The old connection continues.
        #expect(server.session.isPublishing)
        #expect(server.session.stopRequested().last == .stopped)
    }

    @Test(
        "A target without encryption or RTMP is refused and reported",
        arguments: [
            ("rtmp://h/app", ReconnectRefusal.givesUpEncryption), ("http://h/app", .unusable(.unknownScheme("http"))),
            ("rtmps://", .unusable(.missingHost)), ("rtmps://h", .unusable(.missingApplication)),
            ("//", .unusable(.missingHost)), ("rtmps://h/a\nb", .unusable(.forbiddenCharacter(at: 11))),
        ])
    func refused(tcURL: String, refusal: ReconnectRefusal) throws {
        var server = try ScriptedServer("rtmps://h/app/mykey") { $0.acceptsReconnectRequest = true }
        server.goOn(to: .media)
        #expect(server.say(Self.request(tcURL)) == [.reconnectRefused(refusal)])
        #expect(server.session.isPublishing)
        // Not for each request of a flood, but a usable target is still reported.
        #expect(server.say(Self.request("http://h/app")).isEmpty)
        #expect(server.say(Self.request(nil)) == [.reconnectRequested(server.session.configuration.url)])
        server.goOn(to: .media)
        #expect(server.say(Self.request(tcURL)) == [.reconnectRefused(refusal)])
    }

    @Test("Announced and reported only if accepted, and only while media flows")
    func announced() throws {
        var server = try ScriptedServer { $0.acceptsReconnectRequest = true }
        _ = try server.messages(server.open())
        let connect = try #require(try server.commands(server.startHandshake()).first)
        #expect(connect.object["capsEx"] == .number(1))
        #expect(server.say(Self.request(nil)).isEmpty)
        var other = try ScriptedServer()
        other.goOn(to: .media)
        #expect(other.say(Self.request("rtmp://other/live")).isEmpty)
    }
}
