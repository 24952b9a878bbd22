import Testing
import Transport

@Suite struct EndpointTests {
    @Test(arguments: [
        ("127.0.0.1:1935", Endpoint(host: "127.0.0.1", port: 1935), "127.0.0.1:1935"),
        ("live.example.com:443", Endpoint(host: "live.example.com", port: 443), "live.example.com:443"),
        ("[::1]:0", Endpoint(host: "::1", port: 0), "[::1]:0"),
        ("[fe80::1%eth0]:65535", Endpoint(host: "fe80::1%eth0", port: 65535), "[fe80::1%eth0]:65535"),
        (":1935", Endpoint(host: "", port: 1935), ":1935"),
    ])
    func reads(text: String, endpoint: Endpoint, description: String) throws {
        #expect(try Endpoint(parsing: text) == endpoint)
        #expect(endpoint.description == description)
    }

    @Test func usesTheDefaultPort() throws {
        #expect(try Endpoint(parsing: "a", defaultPort: 1935) == Endpoint(host: "a", port: 1935))
        #expect(try Endpoint(parsing: "[::1]", defaultPort: 443) == Endpoint(host: "::1", port: 443))
        #expect(try Endpoint(parsing: "a:1", defaultPort: 443) == Endpoint(host: "a", port: 1))
    }

    @Test(arguments: [
        ("host", EndpointError.missingPort("host")),
        ("", .missingPort("")),
        ("host:", .invalidPort("", in: "host:")),
        ("host:65536", .invalidPort("65536", in: "host:65536")),
        ("host:-1", .invalidPort("-1", in: "host:-1")),
        ("host:+1", .invalidPort("+1", in: "host:+1")),
        ("host:rtmp", .invalidPort("rtmp", in: "host:rtmp")),
        ("::1:1935", .missingBracket("::1:1935")),
        ("[::1", .missingBracket("[::1")),
        ("[::1]1935", .invalidHost("[::1]1935")),
        ("a b:1", .invalidHost("a b:1")),
        ("a[b:1", .invalidHost("a[b:1")),
        ("a\0b:1", .invalidHost("a\0b:1")),
    ])
    func refuses(text: String, error: EndpointError) {
        #expect(throws: error) { try Endpoint(parsing: text) }
        #expect(error.description.contains("\"\(text)\""))
    }

    @Test(arguments: [
        ("rtmp://a:1/live/secret", "rtmp:…"), ("a:1/live?key=secret", "a:1…"), ("user:secret@a:1", "…"),
        ("a:1?secret", "a:1…"),
    ])
    func showsNothingSecret(text: String, shown: String) {
        #expect(throws: EndpointError.invalidHost(shown)) { try Endpoint(parsing: text) }
    }
}
