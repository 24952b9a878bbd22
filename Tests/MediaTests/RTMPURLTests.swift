import Media
import SeededNumbers
import Testing

@Suite("RTMP URL")
struct RTMPURLTests {
    @Test("Splits host, port, application and stream")
    func plain() throws {
        let url = try RTMPURL(parsing: "rtmp://example.org/live/key")
        #expect(url == RTMPURL(scheme: .rtmp, host: "example.org", port: 1935, application: "live", streamName: "key"))
    }

    @Test("The query stays with the stream name")
    func query() throws {
        let url = try RTMPURL(parsing: "rtmp://h/hub/title?nonce=1&token=a-b_c=")
        #expect(url.application == "hub")
        #expect(url.streamName == "title?nonce=1&token=a-b_c=")
    }

    @Test("A query may contain slashes")
    func querySlash() throws {
        let url = try RTMPURL(parsing: "rtmp://h/app/key?sign=a/b")
        #expect(url.application == "app")
        #expect(url.streamName == "key?sign=a/b")
    }

    @Test("All components but the last are the application")
    func instance() throws {
        let url = try RTMPURL(parsing: "rtmp://h:1936/app/inst/key")
        #expect(url.application == "app/inst")
        #expect(url.streamName == "key")
    }

    @Test("An application may have its own query")
    func applicationQuery() throws {
        let url = try RTMPURL(parsing: "rtmp://h/live?vhost=v/key")
        #expect(url.application == "live")
        #expect(url.applicationQuery == "vhost=v")
        #expect(url.streamName == "key")
    }

    @Test("RTMPS uses port 443")
    func secure() throws {
        let url = try RTMPURL(parsing: "RTMPS://live-api-s.facebook.com:443/rtmp/FB-1?s_bl=1")
        #expect(url.scheme == .rtmps)
        #expect(url.port == 443)
        #expect(url.origin == "rtmps://live-api-s.facebook.com")
        #expect(try RTMPURL(parsing: "rtmps://h:1935/a/k").origin == "rtmps://h:1935")
    }

    @Test("An IPv6 address is in brackets")
    func address() throws {
        let url = try RTMPURL(parsing: "rtmp://[::1]:19350/a/k")
        #expect(url.host == "::1")
        #expect(url.port == 19350)
        #expect(try RTMPURL(parsing: "rtmp://[fe80::1%eth0]/a/k").host == "fe80::1%eth0")
    }

    @Test("User and password are percent-decoded")
    func credentials() throws {
        let url = try RTMPURL(parsing: "rtmp://bob:p%40ss:w@h/a/k")
        #expect(url.credentials == Credentials(user: "bob", password: "p@ss:w"))
        #expect(url.host == "h")
        #expect(url.origin == "rtmp://h")
        // A percent sign without two hexadecimal digits is kept.
        #expect(
            try RTMPURL(parsing: "rtmp://me%40home:p%3aw%@x@h/a/k").credentials
                == Credentials(user: "me@home", password: "p:w%@x"))
        #expect(try RTMPURL(parsing: "rtmp://me@h/a/k").credentials == Credentials(user: "me", password: ""))
    }

    @Test("Server and stream key may be separate")
    func serverAndKey() throws {
        let url = try RTMPURL(parsingServer: "rtmp://a.rtmp.youtube.com/live2/", streamName: "abcd-efgh")
        #expect(url.application == "live2")
        #expect(url.streamName == "abcd-efgh")
        var pasted = try RTMPURL(parsingServer: "rtmp://h/live/HUSH-HUSH/HUSH", streamName: "HUSH-HUSH")
        pasted.hidesApplicationPath = true
        #expect(pasted.description == "rtmp://h/live/***/***/***" && pasted.shownApplication == "live/***/***")
        #expect(pasted.application == "live/HUSH-HUSH/HUSH", "the server gets it as it is written")
        let secure = try RTMPURL(parsingServer: "rtmps://h:443/rtmp/?x=1", streamName: "FB-1?s=2")
        #expect(secure.application == "rtmp" && secure.applicationQuery == "x=1" && secure.streamName == "FB-1?s=2")
        #expect(throws: RTMPURLError.missingStreamName) { try RTMPURL(parsingServer: "rtmp://h/a", streamName: "") }
        #expect(throws: RTMPURLError.missingApplication) { try RTMPURL(parsingServer: "rtmp://h", streamName: "k") }
        #expect(throws: RTMPURLError.forbiddenCharacter(at: 1)) {
            try RTMPURL(parsingServer: "rtmp://h/a", streamName: "k\n")
        }
    }

    @Test(
        "Explains each error",
        arguments: [
            ("", RTMPURLError.empty), ("example.org/live/key", .unknownScheme("")),
            ("http://h/a/k", .unknownScheme("http")), ("rtmp:/h/a/k", .unknownScheme("")),
            ("rtmp://", .missingHost), ("rtmp:///a/k", .missingHost), ("rtmp://:1935/a/k", .missingHost),
            ("rtmp://u@/a/k", .missingHost), ("rtmp://[::1/a/k", .invalidHost), ("rtmp://[]/a/k", .invalidHost),
            ("rtmp://[::1]x/a/k", .invalidHost), ("rtmp://::1/a/k", .invalidHost),
            ("rtmp://h_\u{e4}/a/k", .invalidHost), ("rtmp://-h/a/k", .invalidHost), ("rtmp://1.2.3/a/k", .invalidHost),
            ("rtmp://[fe80::1%]/a/k", .invalidHost), ("rtmp://[fe80::1%a b]/a/k", .forbiddenCharacter(at: 17)),
            ("rtmp://h:0/a/k", .invalidPort), ("rtmp://h:65536/a/k", .invalidPort), ("rtmp://h:/a/k", .invalidPort),
            ("rtmp://h:+1/a/k", .invalidPort), ("rtmp://[::1]:x/a/k", .invalidPort),
            ("rtmp://h", .missingApplication), ("rtmp://h/", .missingApplication),
            ("rtmp://h?x/y", .missingApplication),
            ("rtmp://h/live", .missingStreamName), ("rtmp://h/live/", .missingStreamName),
            ("rtmp://h/live?a=b", .missingStreamName), ("rtmp://h/live?a=b/", .missingStreamName),
            ("rtmp://h/a b/k", .forbiddenCharacter(at: 10)), ("rtmp://h/a/k\r\n", .forbiddenCharacter(at: 12)),
            ("rtmp://h/a\u{9B}/k", .forbiddenCharacter(at: 10)),
            ("rtmp://h/\u{e9}/\u{2028}", .forbiddenCharacter(at: 12)),
        ])
    func faults(text: String, error: RTMPURLError) {
        #expect(throws: error) { try RTMPURL(parsing: text) }
        #expect(error.description.contains("write rtmp://"))
    }

    @Test("No description contains a secret")
    func descriptions() throws {
        let url = try RTMPURL(parsing: "rtmp://bob:hush@h:99/app/inst/KEY?token=SECRET")
        var dumped = ""
        dump(url, to: &dumped)
        dump(url.credentials, to: &dumped)
        let texts = ["\(url)", String(reflecting: url), String(describing: [url]), dumped]
        for text in texts {
            for secret in ["KEY", "SECRET", "token", "hush", "bob"] { #expect(!text.contains(secret)) }
        }
        #expect(url.description == "rtmp://h:99/app/inst/***")
        // The parts show nothing either if they are put into a text by accident.
        let other = try RTMPURL(parsing: "rtmp://h/live?key=HUSH/KEY")
        #expect(
            "\(other.streamName) \(String(reflecting: other.applicationQuery))" == "<redacted> Optional(<redacted>)")
        #expect(try RTMPURL(parsing: "rtmp://h/live?key=S/k").description == "rtmp://h/live?***/***")
    }

    @Test("Any text either parses or gives an error")
    func anything() {
        var generator = SeededGenerator(seed: 7)
        let alphabet = Array("rtmps://[]:@?&=%/a1. \u{e9}\u{1F600}")
        for _ in 0..<20_000 {
            let length = Int.random(in: 0..<30, using: &generator)
            let tail = String((0..<length).map { _ in alphabet.randomElement(using: &generator) ?? "a" })
            let text = Bool.random(using: &generator) ? "rtmp://" + tail : tail
            guard let url = try? RTMPURL(parsing: text) else { continue }
            #expect(!url.host.isEmpty && !url.application.isEmpty && !url.streamName.revealed.isEmpty)
        }
    }

    @Test func changedBytesNeverTrap() {
        let text = Array("rtmp://u:p@[::1]:99/a/b/c?d%41".utf8)
        for index in text.indices {
            for byte in "/:@%]".utf8 + [0xC3] {
                var broken = text
                broken[index] = byte
                _ = try? RTMPURL(parsing: String(decoding: broken, as: UTF8.self))
                _ = try? RTMPURL(parsing: String(decoding: broken[..<index], as: UTF8.self))
            }
        }
    }
}
