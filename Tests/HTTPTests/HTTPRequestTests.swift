import Media
import Testing

@testable import HTTP

@Suite("HTTP requests")
struct HTTPRequestTests {
    @Test("A browser asks for the page")
    func browserAsks() throws {
        let request = try request(
            """
            GET /page.css?v=3&name=M%C3%BCller+%2B HTTP/1.1
            Host: Tallycam.local:8080
            Connection: keep-alive
            User-Agent: Mozilla/5.0 (X11; Linux x86_64)
            accept-encoding: gzip, deflate
            If-None-Match: "abc"
            Cookie: key=0a1b; theme=dark


            """)
        #expect(request.method == .get && request.path == "/page.css")
        #expect(request.query == [HTTPField("v", "3"), HTTPField("name", "Müller +")])
        #expect(request.query("name") == "Müller +" && request.query("NAME") == nil)
        #expect(request.host.name == "tallycam.local" && request.host.port == 8080)
        #expect(request.headers["USER-agent"] == "Mozilla/5.0 (X11; Linux x86_64)")
        #expect(request.headers["Accept"] == nil)
        #expect(request.acceptsGzip && request.keepsAlive && !request.isWebSocketUpgrade)
        #expect(request.cookies(named: "key") == ["0a1b"] && request.cookies(named: "Key") == [])
        #expect(request.ifNoneMatch == .tags([HTTPEntityTag("abc")]) && request.ifMatch == nil)
        #expect(request.body == [])
    }

    @Test(
        "Methods are case-sensitive",
        arguments: [
            ("GET", HTTPMethod.get), ("HEAD", .head), ("POST", .post), ("PUT", .put), ("DELETE", .delete),
            ("OPTIONS", .options), ("get", .other), ("TRACE", .other), ("M-SEARCH", .other),
        ])
    func methods(name: String, method: HTTPMethod) throws {
        #expect(try request("\(name) / HTTP/1.1\nHost: a\n\n").method == method)
    }

    @Test(
        "Paths are decoded",
        arguments: [
            ("/", "/"), ("/a%20b", "/a b"), ("/%e2%82%AC", "/€"), ("/a//b/", "/a//b/"), ("/...", "/..."),
            ("/a+b", "/a+b"), ("/%25%32%65", "/%2e"), ("http://A/x", "/x"), ("HTTP://a?q", "/"), ("/?/../x", "/"),
        ])
    func paths(target: String, path: String) throws {
        #expect(try request("GET \(target) HTTP/1.1\nHost: a\n\n").path == path)
    }

    @Test(
        "Segments are between the slashes",
        arguments: [
            ("/", []), ("/a", ["a"]), ("/a/", ["a", ""]), ("//a", ["", "a"]), ("/a/%CC%81b", ["a", "\u{301}b"]),
            ("http://a", []),
        ])
    func segments(target: String, segments: [String]) throws {
        #expect(try request("GET \(target) HTTP/1.1\nHost: a\n\n").segments == segments)
    }

    @Test("OPTIONS may ask about the whole server")
    func asterisk() throws {
        let request = try request("OPTIONS * HTTP/1.1\nHost: a\n\n")
        #expect(request.path == "*" && request.segments == [])
    }

    @Test(
        "Queries are pairs",
        arguments: [
            ("", []), ("a", [HTTPField("a", "")]), ("a=1=2&&b=", [HTTPField("a", "1=2"), HTTPField("b", "")]),
            ("%3D=%26", [HTTPField("=", "&")]), ("a=?/", [HTTPField("a", "?/")]),
        ])
    func queries(text: String, pairs: [HTTPField]) throws {
        #expect(try request("GET /?\(text) HTTP/1.1\nHost: a\n\n").query == pairs)
    }

    @Test(
        "Hosts are names and addresses",
        arguments: [
            ("TALLYCAM", "tallycam", nil), ("192.168.1.9:80", "192.168.1.9", 80), ("[FE80::1]:8080", "fe80::1", 8080),
            ("tallycam.local.", "tallycam.local", nil),
        ] as [(String, String, UInt16?)])
    func hosts(text: String, name: String, port: UInt16?) throws {
        let host = try request("GET / HTTP/1.1\nHost: \(text)\n\n").host
        #expect(host.name == name && host.port == port)
    }

    @Test("Headers of the same name are one list, and cookies one header")
    func joinedHeaders() throws {
        let request = try request(
            headers: "X-List: a", "x-list:b \t", "Cookie: k=1; k=2;k=\"3\"", "Cookie: K=4; k", "Cookie: k=a=b")
        #expect(request.headers["X-LIST"] == "a, b")
        #expect(request.headers.values(of: "x-list") == ["a", "b"])
        #expect(request.cookies(named: "k").map(\.revealed) == ["1", "2", "\"3\"", "a=b"])
    }

    @Test(
        "The connection stays open unless the client closes it",
        arguments: [
            ("1.1", "", true), ("1.1", "Connection: close", false), ("1.1", "Connection: x, Close", false),
            ("1.1", "Connection: closed", true), ("1.0", "Connection: keep-alive", false), ("1.2", "", true),
        ])
    func persistence(version: String, header: String, keepsAlive: Bool) throws {
        let lines = header.isEmpty ? "" : header + "\n"
        #expect(try request("GET / HTTP/\(version)\nHost: a\n\(lines)\n").keepsAlive == keepsAlive)
    }

    @Test(
        "Bearer tokens",
        arguments: [
            ("Bearer 0a1b", "0a1b"), ("bearer  x.y=", "x.y="), ("Bearer", nil), ("Bearer a b", nil),
            ("Basic YTpi", nil),
        ] as [(String, Secret?)])
    func bearerTokens(value: String, token: Secret?) throws {
        #expect(try request(headers: "Authorization: \(value)").bearerToken == token)
    }

    @Test(
        "Whether gzip is accepted",
        arguments: [
            ("gzip", true), ("br, GZIP;q=0.5", true), ("x-gzip", true), ("*", true), ("", false), ("gzip;q=0", false),
            ("*, gzip ; q=0.000", false), ("*;q=0", false), ("deflate", false), ("gzipped", false),
            ("gzip;q=0.01", true),
        ])
    func gzip(value: String, accepts: Bool) throws {
        #expect(try request(headers: "Accept-Encoding: \(value)").acceptsGzip == accepts)
    }

    @Test(
        "The origin is this server",
        arguments: [
            ("a.local", "http://a.local", true), ("a.local:80", "http://A.local", true),
            ("a.local:8080", "http://a.local:8080", true), ("a.local:8080", "http://a.local", false),
            ("a.local", "https://a.local", false), ("a.local", "file://a.local", false),
            ("a.local", "http://a.local.evil.example", false),
            ("a.local", "null", false), ("a.local", "http://a.local/", false), ("a.local", "http://x@a.local", false),
            ("[::1]:80", "http://[::1]", true), ("a.local", "", false),
        ])
    func origins(host: String, origin: String, isOwn: Bool) throws {
        let request = try request("POST / HTTP/1.1\nHost: \(host)\nOrigin: \(origin)\n\n")
        #expect(request.isFromOwnOrigin(.http) == isOwn)
    }

    @Test("A request without an origin is not from the server's own page")
    func noOrigin() throws {
        #expect(try request(headers: "Referer: http://tallycam.local/").isFromOwnOrigin(.http) == false)
    }

    @Test("A printed request contains no keys")
    func printed() throws {
        let request = try request(
            "PUT /api?key=SECRET HTTP/1.1\nHost: a\nCookie: k=SECRET\nContent-Length: 6\n\nSECRET")
        var dumped = ""
        dump(request, to: &dumped)
        dump(request.headers, to: &dumped)
        let text = "\(request) \(request.headers) \(String(reflecting: request)) \(dumped)"
        #expect(!text.contains("SECRET") && text.contains("PUT /api"))
    }
}

@Suite("Conditions and ranges")
struct HTTPConditionTests {
    @Test(
        "Tags are compared as in RFC 9110 section 8.8.3.2",
        arguments: [
            ("W/\"1\"", HTTPEntityTag("1", isWeak: true), false, true),
            ("W/\"1\"", HTTPEntityTag("2", isWeak: true), false, false),
            ("W/\"1\"", HTTPEntityTag("1"), false, true),
            ("\"1\"", HTTPEntityTag("1"), true, true),
        ])
    func comparison(header: String, tag: HTTPEntityTag, strongly: Bool, weakly: Bool) throws {
        let request = try request(headers: "If-Match: \(header)", "If-None-Match: \(header)")
        #expect(request.ifMatch?.matchesStrongly(tag) == strongly)
        #expect(request.ifNoneMatch?.matchesWeakly(tag) == weakly)
        #expect(request.ifMatch?.matchesStrongly(nil) == false && request.ifNoneMatch?.matchesWeakly(nil) == false)
    }

    @Test(
        "Lists of tags, as in RFC 9110 section 13.1",
        arguments: [
            ("\"xyzzy\", \"r2d2xxxx\", W/\"c3p0\"", ["\"xyzzy\"", "\"r2d2xxxx\"", "W/\"c3p0\""]),
            ("\"a,b\" ,\"\"", ["\"a,b\"", "\"\""]), ("xyzzy", []), ("\"a", []), ("\"a\" \"b\"", []), ("w/\"a\"", []),
            ("\"a b\"", []), ("\"a\", *", []), ("", []),
        ])
    func lists(header: String, tags: [String]) throws {
        guard case .tags(let read) = HTTPTagCondition(header) else {
            Issue.record("not a list")
            return
        }
        #expect(read.map(\.headerValue) == tags)
    }

    @Test("An asterisk stands for any version, but not for none")
    func anyVersion() {
        #expect(HTTPTagCondition(" * ") == .any)
        #expect(HTTPTagCondition.any.matchesStrongly(HTTPEntityTag("a")))
        #expect(HTTPTagCondition.any.matchesWeakly(HTTPEntityTag("a", isWeak: true)))
        #expect(!HTTPTagCondition.any.matchesWeakly(nil))
    }

    @Test(
        "Ranges of 10000 bytes, as in RFC 9110 section 14.1.2",
        arguments: [
            ("bytes=0-499", 0..<500), ("bytes=500-999", 500..<1000), ("bytes=-500", 9500..<10000),
            ("bytes=9500-", 9500..<10000), ("Bytes= 0-0", 0..<1), ("bytes=9999-99999999999999999999", 9999..<10000),
            ("bytes=-99999999999999999999", 0..<10000), ("bytes=10000-", nil), ("bytes=-0", nil),
        ] as [(String, Range<Int>?)])
    func ranges(header: String, bytes: Range<Int>?) throws {
        let range = try #require(try request(headers: "Range: \(header)").range(of: nil))
        #expect(range.within(10_000) == bytes)
        #expect(range.within(0) == nil)
    }

    @Test(
        "Everything is sent if a range is not understood",
        arguments: [
            "bytes=0-1,5-6", "lines=0-1", "bytes=5-4", "bytes=-", "bytes=", "bytes=a-b", "bytes=+1-2", "bytes 0-1",
            "bytes=0x1-2", "bytes=1--2",
        ])
    func strangeRanges(header: String) throws {
        #expect(try request(headers: "Range: \(header)").range(of: nil) == nil)
    }

    @Test(
        "A range of another version is not sent",
        arguments: [("\"a\"", true), ("\"b\"", false), ("W/\"a\"", false), ("Sat, 29 Oct 1994 19:43:31 GMT", false)])
    func conditionalRange(condition: String, isSent: Bool) throws {
        let request = try request(headers: "Range: bytes=1-", "If-Range: \(condition)")
        #expect(request.range(of: HTTPEntityTag("a")) == (isSent ? .from(1) : nil))
    }

    @Test("Only GET has ranges")
    func rangeOfOtherMethod() throws {
        #expect(try request("HEAD / HTTP/1.1\nHost: a\nRange: bytes=1-\n\n").range(of: nil) == nil)
    }

    @Test("A tag has only characters that its header can carry")
    func tagText() {
        #expect(HTTPEntityTag("a\"\r\nb c", isWeak: true).headerValue == "W/\"abc\"")
    }

    @Test("Content-Range")
    func contentRange() {
        #expect(HTTPByteRange.contentRange(42..<1234, of: 1234) == "bytes 42-1233/1234")
        #expect(HTTPByteRange.contentRange(of: 1234) == "bytes */1234")
    }
}
