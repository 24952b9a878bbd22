import StreamFile
import Testing

@Suite("Plain streams and URLs")
struct PlainStreamTests {
    @Test(
        arguments: [
            ("rtmp://127.0.0.1:1935/live/x", nil, "rtmp://127.0.0.1:1935", "live", "x", 1935),
            ("RTMP://h/app/inst/name", nil, "rtmp://h", "app/inst", "name", 1935),
            ("rtmp://h/app/inst/na/me", nil, "rtmp://h", "app/inst/na", "me", 1935),
            ("rtmp://h/app?vhost=v/name", nil, "rtmp://h", "app?vhost=v", "name", 1935),
            ("rtmp://h/app/name?a=b/c&d=e", nil, "rtmp://h", "app", "name?a=b/c&d=e", 1935),
            ("rtmp://h//app//name/", nil, "rtmp://h", "app", "name", 1935),
            ("rtmps://[::1]/app/name", nil, "rtmps://[::1]", "app", "name", 443),
            (
                "rtmps://live-api-s.facebook.com:443/rtmp/", "FB-1?s=2", "rtmps://live-api-s.facebook.com:443", "rtmp",
                "FB-1?s=2", 443
            ),
            ("rtmp://a.rtmp.youtube.com/live2", "ab-cd", "rtmp://a.rtmp.youtube.com", "live2", "ab-cd", 1935),
            ("rtmp://h/app/inst?x=1", "k", "rtmp://h", "app/inst?x=1", "k", 1935),
        ] as [(String, String?, String, String, String, Int)])
    func aURLIsTakenApart(text: String, key: String?, server: String, app: String, name: String, port: Int) throws {
        let url = try PublishURL(parsing: text, key: key.map(Secret.init))
        #expect("\(url.scheme.rawValue)://\(url.host)" == server)
        #expect(url.application.revealed == app)
        #expect(url.streamName.revealed == name)
        #expect(url.port == port)
    }

    @Test func aURLMayNameAUser() throws {
        let url = try PublishURL(parsing: "rtmp://me%40home:p%3aw%@x@h:5/app/name")
        #expect(url.user == "me@home")
        #expect(url.password?.revealed == "p:w%@x")
        #expect("\(url)" == "rtmp://h:5/app/...")
        #expect(try PublishURL(parsing: "rtmp://me@h/app/name").password == nil)
    }

    @Test(
        arguments: [
            ("", .empty), ("rtmp://h/a b/c", .forbiddenCharacter(offset: 10)),
            ("rtmp://h/a/\u{1}", .forbiddenCharacter(offset: 11)),
            ("rtmp://hä/a/b", .forbiddenCharacter(offset: 8)), ("127.0.0.1/live/x", .noScheme), ("://h/a/b", .noScheme),
            ("rtmp:/h/a/b", .noScheme), ("a b", .forbiddenCharacter(offset: 1)),
            ("http://h/a/b", .unsupportedScheme("http")),
            ("rtmpt://h/a/b", .unsupportedScheme("rtmpt")), ("rtmp://", .badHost(.empty)),
            ("rtmp:///a/b", .badHost(.empty)),
            ("rtmp://h:0/a/b", .badHost(.badPort)), ("rtmp://h:/a/b", .badHost(.badPort)),
            ("rtmp://-h/a/b", .badHost(.badName)),
            ("rtmp://h", .noApplication), ("rtmp://h/", .noApplication), ("rtmp://h?x", .noApplication),
            ("rtmp://h/app", .noStreamName), ("rtmp://h/app/?x", .noStreamName), ("rtmp://u:p@/a/b", .badHost(.empty)),
        ] as [(String, PublishURLError)])
    func aBadURLSaysWhy(text: String, error: PublishURLError) {
        #expect(throws: error) { try PublishURL(parsing: text) }
    }

    @Test func noURLIsATrap() {
        let text = Array("rtmp://u:p@[::1]:99/a/b/c?d%41".utf8)
        for index in text.indices {
            for byte: UInt8 in [
                UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "%"), UInt8(ascii: "]"), 0xC3,
            ] {
                var broken = text
                broken[index] = byte
                _ = try? PublishURL(parsing: String(decoding: broken, as: UTF8.self))
                _ = try? PublishURL(parsing: String(decoding: broken[..<index], as: UTF8.self))
            }
        }
    }

    @Test(arguments: [
        "a", "a.b", "a-b.c_d", "127.0.0.1", "h:1", "h:65535", "[::1]:80", "[::]", "[fe80::1:2]", "[1:2:3:4:5:6:7:8]",
        "[1::]",
        "x1.3com",
    ])
    func goodHosts(text: String) throws {
        #expect(try NetworkHost(parsing: text).description == text)
    }

    @Test(
        arguments: [
            ("", .empty), ("rtmp://h", .hasSchemeOrPath), ("h/x", .hasSchemeOrPath), (".a", .badName),
            ("a..b", .badName),
            ("a-", .badName), ("a b", .badName), ("1.2.3", .badName), ("256.1.1.1", .badName), ("1.2.3.4.5", .badName),
            ("[::1", .badName), ("[::1]x", .badName), ("[1:2]", .badName), ("[1::2::3]", .badName),
            ("[12345::]", .badName),
            ("[:1:2:3:4:5:6:7]", .badName), ("[1:2:3:4:5:6:7:8:9]", .badName), ("[::1:2:3:4:5:6:7:8]", .badName),
            ("[]", .badName), ("[:::]", .badName), ("::1", .badName), ("h:", .badPort), ("h:65536", .badPort),
            ("h:+1", .badPort),
            ("h:1x", .badPort), ("h:000001", .badPort), ("é.com", .badName),
            (String(repeating: "a", count: 64), .badName),
        ] as [(String, NetworkHost.Fault)])
    func badHosts(text: String, fault: NetworkHost.Fault) {
        #expect(throws: fault) { try NetworkHost(parsing: text) }
    }

    @Test func thePlainFormIsRead() throws {
        let result = try decoded(
            #"{"url": "rtmps://live.example.com/app", "key": "hush-hush", "caFile": "ca.pem", "disabled": false}"#)
        #expect(result.faults == [])
        let stream = try #require(result.value)
        #expect(stream.caFile == "ca.pem")
        #expect(stream.platform == .default)
        var nonces = NonceSequence(savedText: nil)
        let url = try stream.publishURL(unixSeconds: 0, nonces: &nonces) { _, _ in [] }
        #expect(url.streamName.revealed == "hush-hush")
        #expect(nonces.unsavedText == nil)
        #expect(!"\(stream)\(String(reflecting: stream))".contains("hush"))
    }

    @Test(arguments: [
        (#"{"url": "rtmp://h/app/name", "caFile": "x"}"#, ["1:40 caFile suspicious"]),
        (#"{"url": "rtmp://h/app"}"#, ["1:9 url invalidValue"]),
        (#"{"url": "rtmp://h/app/x", "key": "a b"}"#, ["1:34 key invalidValue"]),
        (#"{"url": "rtmp://h/app/x", "key": ""}"#, ["1:34 key invalidValue"]),
        (#"{"url": 5, "key": false}"#, ["1:9 url wrongType", "1:19 key wrongType"]),
        (#"{"key": "k"}"#, ["1:1 url missing"]),
        (#"{"url": "rtmp://live-api-s.facebook.com/rtmp", "key": "k"}"#, ["1:9 url invalidValue"]),
        (#"{"url": "rtmp://h/a/b", "publishKey": "k"}"#, ["1:39 publishKey invalidValue"]),
        (#"{"url": "rtmp://h/a/b", "ky": "k"}"#, ["1:25 ky unknownKey"]),
        (#"{"url": "rtmp://h/a/b", "disabled": "no"}"#, ["1:37 disabled wrongType"]),
        (#"{"url": "rtmp://h/a/b", "disabled": true}"#, ["1:37 disabled disabled"]),
        (#"{}"#, ["1:1  missing"]), (#"[]"#, ["1:1  wrongType"]), (#"  "x""#, ["1:3  wrongType"]),
    ])
    func faultsOfThePlainForm(text: String, faults: [String]) throws {
        let result = try decoded(text)
        #expect(result.faults.map { "\($0.position) \($0.keyPath) \($0.kind)" } == faults)
        #expect((result.value == nil) == !result.errors.isEmpty)
    }

    @Test(arguments: [
        ("a.rtmp.youtube.com", "YouTube"), ("a.rtmps.YouTube.com", "YouTube"), ("live.twitch.tv", "Twitch"),
        ("fra02.contribute.live-video.net", "Twitch"), ("live-api-s.facebook.com", "Facebook"),
        ("pili-publish.example.com", "Pili"), ("notyoutube.com", "default"), ("10.0.0.1", "default"),
    ])
    func platformsAreKnownByHost(host: String, name: String) throws {
        #expect(try PlatformProfile(host: NetworkHost(parsing: host)).name == name)
    }

    @Test func platformsAskWhatTheyAskFor() {
        #expect(PlatformProfile.facebook.requiresTLS && PlatformProfile.facebook.requiresAudio)
        #expect(!PlatformProfile.facebook.allowsSizeChange)
        #expect(PlatformProfile.youTube.requiresAudio && !PlatformProfile.youTube.requiresTLS)
        #expect(PlatformProfile.youTube.longestKeyFrameInterval == .seconds(4))
        #expect(PlatformProfile.default.keyFrameInterval == .seconds(2))
    }

    @Test func garbageIsBoundedAndPrintable() throws {
        let names = (0..<30_000).map { "\"unknown-key-\($0)-\\u001b[31m\": 1" }.joined(separator: ",")
        let faults = try decoded("{\"url\": \"rtmp://h/a/b\", \(names)}").faults
        #expect(faults.count == 21)
        #expect(faults.last?.problem == "29980 more unknown keys from here on are ignored")
        #expect(faults.allSatisfy { $0.description.unicodeScalars.allSatisfy { $0.value >= 0x20 } })
    }
}
