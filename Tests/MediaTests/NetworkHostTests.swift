import Media
import Testing

@Suite("Network host")
struct NetworkHostTests {
    @Test(arguments: [
        "a", "a.b", "a-b.c_d", "127.0.0.1", "h:1", "h:65535", "[::1]:80", "[::]", "[fe80::1:2]", "[1:2:3:4:5:6:7:8]",
        "[1::]", "[fe80::1%eth0]:1935",
        "x1.3com", "[::ffff:127.0.0.1]:1935", "[::1.2.3.4]", "[1:2:3:4:5:6:1.2.3.4]", "[fe80::1.2.3.4%eth0]",
    ])
    func acceptsValidHosts(text: String) throws {
        #expect(try NetworkHost(parsing: text).description == text)
    }

    /// RFC 1034 section 3.1: a complete name. Services and certificates use the name without the dot.
    @Test func finalDotIsNotPartOfTheName() throws {
        #expect(try NetworkHost(parsing: "a.rtmp.youtube.com.").name == "a.rtmp.youtube.com")
        #expect(try NetworkHost(parsing: "h.example.:1936").description == "h.example:1936")
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
            ("h:1x", .badPort), ("[fe80::1%]", .badName), ("[fe80::1%a/b]", .hasSchemeOrPath), ("h:000001", .badPort),
            ("é.com", .badName), (".", .empty), ("a..", .badName), ("[::ffff:1.2.3]", .badName),
            ("[::ffff:256.0.0.1]", .badName), ("[1.2.3.4]", .badName), ("[1.2.3.4::]", .badName),
            ("[1:2:3:4:5:6:7:1.2.3.4]", .badName), ("[::1.2.3.4:5]", .badName), ("[::ffff:1..2.3]", .badName),
            (String(repeating: "a", count: 64), .badName),
        ] as [(String, NetworkHost.Fault)])
    func rejectsInvalidHosts(text: String, fault: NetworkHost.Fault) {
        #expect(throws: fault) { try NetworkHost(parsing: text) }
    }
}
