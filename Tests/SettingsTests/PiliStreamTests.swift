import JSONText
import Media
import Settings
import Testing
import Transport

/// A stream file as provided by the service.
func piliText(
    hub: String = "testhub", title: String = "teststreamtitle", key: String = "12345678", security: String? = nil
) -> String {
    """
    {
      "id": "z1.\(hub).\(title)",
      "createdAt": "2015-08-22T03:43:55.550Z",
      "updatedAt": "2015-08-22T03:43:55.550Z",
      "title": "\(title)",
      "hub": "\(hub)",
      "disabledTill": 0,
      "disabled": false,
      "publishKey": "\(key)",
      \(security.map { "\"publishSecurity\": \($0)," } ?? "")
      "profiles": null,
      "hosts": {
        "publish": { "rtmp": "pub.example" },
        "live": { "rtmp": "live.example", "hls": "hls.example", "hdl": "hdl.example", "http": "http.example" },
        "playback": { "hls": "play.example", "http": "play.example" }
      }
    }
    """
}

func decoded(_ text: String) throws -> Decoded<StreamDescription> {
    StreamDescription.decode(try JSONValue(parsing: Array(text.utf8)))
}

@Suite("Pili streams")
struct PiliStreamTests {
    private func url(_ text: String, clock: Int64) throws -> RTMPURL {
        var nonces = NonceSequence(savedText: nil)
        let stream = try #require(try decoded(text).value)
        return try stream.publishURL(unixSeconds: clock, nonces: &nonces, hmacSHA1: ReferenceHMAC.sha1)
    }

    @Test func referenceImplementationIsCorrect() {
        // RFC 2202 cases 1 and 6.
        #expect(
            ReferenceHMAC.sha1(key: .init(repeating: 0x0B, count: 20), message: Array("Hi There".utf8)).map {
                String($0, radix: 16)
            }
            .joined(separator: " ") == "b6 17 31 86 55 5 72 64 e2 8b c0 b6 fb 37 8c 8e f1 46 be 0")
        #expect(
            ReferenceHMAC.sha1(
                key: .init(repeating: 0xAA, count: 80),
                message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
            ).prefix(4) == [0xAA, 0x4A, 0xE5, 0xE1])
    }

    @Test(
        arguments: [
            ("12345678", "testhub", "teststreamtitle", 1_584_522_520, "FRXUKRv8oSvex8m0Lkb19G1f2Zo="),
            ("12345678", "testhub", "teststreamtitle", 1, "8gR0c7gx7Nie7UrjH250QXcz_E8="),
            ("ca11e07f094c3a6e", "test-hub", "55d97350eb6f92638c00000a", 1_440_223_404, "8At85F8-2Jsc3C25hFfTD8MDkCQ="),
            (
                "976655fbf3bee71e", "test-origin", "55db4a9ee3ba573b20000004", 1_440_223_404,
                "mXZy-FJlkSrBMIF2VVgxX8KUpvI="
            ),
        ] as [(String, String, String, Int64, String)])
    func dynamicSecuritySignsTheNonce(key: String, hub: String, title: String, nonce: Int64, token: String) throws {
        for security in [nil, "\"dynamic\"", "null"] {
            let url = try url(piliText(hub: hub, title: title, key: key, security: security), clock: nonce)
            #expect(url.streamName.revealed == "\(title)?nonce=\(nonce)&token=\(token)")
            #expect(url.application == hub)
            #expect(url.host == "pub.example")
            #expect(url.port == 1935)
            #expect(url.scheme == .rtmp)
        }
    }

    @Test func productSignsLikeTheReference() throws {
        let stream = try #require(try decoded(piliText()).value)
        var nonces = NonceSequence(savedText: nil)
        let url = try stream.publishURL(unixSeconds: 1_584_522_520, nonces: &nonces) { key, message in
            HMACSHA1.authenticationCode(for: message, key: key)
        }
        #expect(url.streamName == "teststreamtitle?nonce=1584522520&token=FRXUKRv8oSvex8m0Lkb19G1f2Zo=")
    }

    @Test func expiringSecuritySignsTheTime() throws {
        let text = piliText(security: "\"expiring\"").replacingFirst(
            "\"profiles\"", with: "\"publishLifetime\": 20, \"profiles\"")
        #expect(
            try url(text, clock: 1_584_522_500).streamName
                == "teststreamtitle?expire=1584522520&token=zYvN7rHgJiw2QUSo_xRoBZIf1kM=")
        #expect(
            try url(piliText(security: "\"expiring\""), clock: 1_584_518_920).streamName
                == "teststreamtitle?expire=1584522520&token=zYvN7rHgJiw2QUSo_xRoBZIf1kM=")
    }

    @Test func expiringSecurityNeedsAClock() throws {
        #expect(throws: SigningError.clockNotSet(unixSeconds: 40)) {
            try url(piliText(security: "\"expiring\""), clock: 40)
        }
    }

    @Test func staticSecurityShowsTheKey() throws {
        #expect(
            try url(piliText(key: "123", security: "\"static\""), clock: 7).streamName
                == "teststreamtitle?key=123")
    }

    @Test func noSecurityNeedsNoKey() throws {
        let text = piliText(security: "\"none\"").replacingFirst("\"publishKey\": \"12345678\",", with: "")
        #expect(try url(text, clock: 7).streamName == "teststreamtitle")
    }

    @Test func everyConnectionHasItsOwnSignature() throws {
        var nonces = NonceSequence(savedText: nil)
        let stream = try #require(try decoded(piliText()).value)
        let names = try (0..<3).map { _ in
            try stream.publishURL(unixSeconds: 9, nonces: &nonces, hmacSHA1: ReferenceHMAC.sha1).streamName.revealed
        }
        #expect(
            names.map { $0.prefix(24) } == [
                "teststreamtitle?nonce=9&", "teststreamtitle?nonce=10", "teststreamtitle?nonce=11",
            ])
        #expect(Set(names.map { $0.suffix(28) }).count == 3)
    }

    @Test(arguments: [
        #"{"id":"z1.hubb.title","publishKey":"k","hosts":{"publish":{"rtmp":"h"}}}"#,
        #"{"hub":"hubb","title":"title","publishKey":"k","hosts":{"publish":{"rtmp":"h"}}}"#,
        #"{"hub":"hubb","title":"title","publishKey":"k","hosts":{"publish":{"rtmp":"h"},"play":{"rtmp":"a","hls":"b"}},"profiles":[]}"#,
        #"{"hub":"hubb","title":"title","publishKey":"k","profiles":["480p"],"hosts":{"publish":{"rtmp":"h"},"live":null}}"#,
    ])
    func onlyKeysForPublishingAreRequired(text: String) throws {
        let result = try decoded(text)
        #expect(result.faults == [])
        #expect(result.value?.platform == .pili)
        guard case .pili(let stream) = result.value?.form else {
            Issue.record("no Pili stream")
            return
        }
        #expect(stream.hub == "hubb" && stream.title == "title" && stream.publishHost.name == "h")
    }

    @Test func hostMayHaveAPort() throws {
        let text = piliText().replacingFirst("pub.example", with: "pub.example:19350")
        let url = try url(text, clock: 1)
        #expect(url.port == 19350)
    }

    @Test func disabledStreamIsRefused() throws {
        let result = try decoded(piliText().replacingFirst("\"disabled\": false", with: "\"disabled\": true"))
        #expect(result.value == nil)
        #expect(
            result.faults.map(\.description) == [
                "8:15: disabled: the stream is disabled and will not be published; enable it at the service or set false; for example: \"disabled\": false"
            ])
        #expect(result.faults.map(\.kind) == [.disabled])
    }

    @Test func allFaultsAreReportedAtOnce() throws {
        let text = """
            {
              "id": "z1.hub",
              "hub": "my hub",
              "title": "abc",
              "publishKey": 12345678,
              "publishSecurty": "static",
              "publishSecurity": "dinamic",
              "hosts": { "publish": { "rtmp": "rtmp://pub.example/hub", "rtmps": "x" } },
              "hub": "again",
              "color": "blue"
            }
            """
        let result = try decoded(text)
        #expect(result.value == nil)
        #expect(
            result.faults.map(\.description) == [
                "2:9: id: warning: should be zone, hub and title with dots between; for example: \"id\": \"z1.my-hub.front-door\"",
                "3:10: hub: the hub may contain only letters, digits, hyphens and underscores; for example: \"hub\": \"my-hub\"",
                "4:12: title: the title must have 4 to 100 letters, digits, hyphens and underscores; for example: \"title\": \"front-door\"",
                "5:17: publishKey: must be text in double quotes, not a number; for example: \"publishKey\": \"key-from-the-console\"",
                "6:3: publishSecurty: warning: unknown key, ignored; did you mean \"publishSecurity\"?; for example: \"publishSecurity\": \"dynamic\"",
                "7:22: publishSecurity: must be one of \"dynamic\", \"static\", \"expiring\", \"none\"; did you mean \"dynamic\"?; for example: \"publishSecurity\": \"dynamic\"",
                "8:35: hosts.publish.rtmp: must be only a host, without rtmp:// or a path; for example: \"rtmp\": \"publish.example.com\"",
                "8:61: hosts.publish.rtmps: warning: unknown key, ignored; did you mean \"rtmp\"?; for example: \"rtmp\": \"publish.example.com\"",
                "9:3: hub: is given twice, first at 3:3; keep one; for example: \"hub\": \"my-hub\"",
                "10:3: warning: unknown key, ignored",
            ])
    }

    @Test func faultInTheHubDoesNotHideOneInTheTitle() throws {
        let faults = try decoded(#"{"hub": 7, "title": "abc", "publishKey": "k", "hosts": {"publish": {"rtmp": "h"}}}"#)
            .faults
        #expect(faults.map(\.keyPath) == ["hub", "title"])
    }

    @Test func missingKeysAreNamed() throws {
        let faults = try decoded("{\n  \"title\": \"door-1\", \"publishKey\": null, \"hosts\": {\"publish\": {}}}")
            .faults
        #expect(
            faults.map { "\($0.position) \($0.keyPath) \($0.kind)" } == [
                "1:1 hub missing", "2:36 publishKey missing", "2:63 hosts.publish.rtmp missing",
            ])
        #expect(faults.allSatisfy { $0.example != nil })
    }

    @Test(
        arguments: [
            (#""createdAt": true"#, "createdAt", "must be text in double quotes or a whole number, not true or false"),
            (#""updatedAt": ["x"]"#, "updatedAt", "must be text in double quotes or a whole number, not a list"),
            (#""disabledTill": "never""#, "disabledTill", "must be a whole number"),
            (#""disabledTill": 0.5"#, "disabledTill", "must be a whole number"),
            (#""profiles": "480p""#, "profiles", "must be a list in square brackets, not text"),
            (#""profiles": ["480p", 720]"#, "profiles[1]", "must be text in double quotes, not a number"),
        ])
    func unusedKeysAreChecked(member: String, keyPath: String, problem: String) throws {
        let used = #""hub":"hubb","title":"title","publishKey":"k","hosts":{"publish":{"rtmp":"h"}}"#
        let text = "{\(used),\n  \(member)}"
        let result = try decoded(text)
        #expect(result.value == nil)
        #expect(result.faults.map(\.keyPath) == [keyPath])
        let fault = try #require(result.faults.first)
        #expect(fault.position.line == 2 && fault.problem.hasPrefix(problem) && fault.example != nil, "\(fault)")
    }

    @Test(arguments: ["play", "live", "playback"])
    func unusedHostsAreChecked(name: String) throws {
        func faults(_ value: String) throws -> [String] {
            let hosts = #"{"publish":{"rtmp":"h"},"# + "\n\"\(name)\": \(value)}"
            return try decoded(#"{"hub":"hubb","title":"title","publishKey":"k","hosts":\#(hosts)}"#).faults.map {
                "\($0.position) \($0.keyPath) \($0.problem)"
            }
        }
        let column = name.utf8.count + 5
        #expect(try faults("7") == ["2:\(column) hosts.\(name) must be an object in curly brackets, not a number"])
        #expect(
            try faults(#"{"hush": {}, "hls": "h"}"#) == [
                "2:\(column + 9) hosts.\(name) must contain only text in double quotes, contains an object"
            ])
        #expect(try faults(#"{"rtmp": "a", "hls": null}"#) == [])
        let garbage = (0..<10_000).map { "\"\($0)\": 0" }.joined(separator: ",")
        #expect(try faults("{\(garbage)}").count < 100)
    }

    @Test func otherFormOfDatesIsAccepted() throws {
        let members = #""createdAt": 1440215035, "updatedAt": 1440215035, "disabledTill": -1, "profiles": ["480p"]"#
        let text = #"{"hub":"hubb","title":"title","publishKey":"k","hosts":{"publish":{"rtmp":"h"}},"# + members + "}"
        #expect(try decoded(text).faults == [])
    }

    @Test func contradictingIDIsAWarning() throws {
        let result = try decoded(piliText().replacingFirst("\"hub\": \"testhub\"", with: "\"hub\": \"otherhub\""))
        #expect(result.warnings.map(\.keyPath) == ["id"])
        #expect(result.value != nil)
    }

    @Test func noSecretIsEverPrinted() throws {
        let key = "hush-hush"
        let result = try decoded(piliText(key: key))
        let stream = try #require(result.value)
        var nonces = NonceSequence(savedText: nil)
        let url = try stream.publishURL(unixSeconds: 1, nonces: &nonces, hmacSHA1: ReferenceHMAC.sha1)
        let token = url.streamName.revealed.suffix(20)
        for value in [stream, url, result, stream.form] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in [dumped, "\(value)", String(reflecting: value)] {
                #expect(!text.contains(key) && !text.contains(token), "\(text)")
            }
        }
        #expect("\(url)" == "rtmp://pub.example/testhub/***")
        for text in [piliText(key: "hush hush"), piliText(key: "hush\\nhush")] {
            #expect(try decoded(text).faults.allSatisfy { !$0.description.contains("hush") })
        }
    }
}

extension String {
    /// The text with the first match of `part` replaced.
    func replacingFirst(_ part: String, with replacement: String) -> String {
        guard let start = indices.first(where: { self[$0...].hasPrefix(part) }) else { return self }
        let end = index(start, offsetBy: part.count)
        return String(self[..<start]) + replacement + String(self[end...])
    }
}
