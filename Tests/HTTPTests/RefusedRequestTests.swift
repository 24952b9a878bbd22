import Testing

@testable import HTTP

/// Requests that another implementation may read differently, and requests that no browser sends. Line feeds stand for CR
/// and LF, `␊` for LF alone and `␍` for CR alone.
@Suite("Refused HTTP requests")
struct RefusedRequestTests {
    private func expect(
        _ text: String, _ error: HTTPRequestError, _ status: Int, location: SourceLocation = #_sourceLocation
    ) {
        let bytes = wire(text).replacing([0xE2, 0x90, 0x8A], with: 0x0A).replacing(
            [0xE2, 0x90, 0x8D], with: 0x0D)
        let read = readRequests(bytes, location: location)
        #expect(read.error == error && read.requests.isEmpty, sourceLocation: location)
        #expect(error.status.rawValue == status && !"\(error)".isEmpty, sourceLocation: location)
    }

    private static let ambiguousLengths: [(String, HTTPRequestError, Int)] = [
        ("Content-Length: 4\nTransfer-Encoding: chunked", .contradictoryLengths, 400),
        ("Transfer-Encoding: chunked\nContent-Length: 4", .contradictoryLengths, 400),
        ("Transfer-Encoding: chunked", .chunkedBody, 411),
        ("Transfer-Encoding: Chunked", .chunkedBody, 411),
        ("Transfer-Encoding: gzip, chunked", .unknownTransferCoding, 501),
        ("Transfer-Encoding: xchunked", .unknownTransferCoding, 501),
        ("Transfer-Encoding: identity", .unknownTransferCoding, 501),
        ("Transfer-Encoding:", .unknownTransferCoding, 501),
        ("Transfer-Encoding: chunked\nTransfer-Encoding: x", .repeatedHeader("transfer-encoding"), 400),
        ("Transfer-Encoding : chunked", .malformedHeader, 400),
        ("Transfer-Encoding\t: chunked", .malformedHeader, 400),
        ("Transfer_Encoding\u{B}: chunked", .controlCharacter, 400),
        ("Content-Length: 4\nContent-Length: 4", .repeatedHeader("content-length"), 400),
        ("Content-Length: 4\ncontent-length: 5", .repeatedHeader("content-length"), 400),
        ("Content-Length: 4, 4", .malformedContentLength, 400),
        ("Content-Length: +4", .malformedContentLength, 400),
        ("Content-Length: -4", .malformedContentLength, 400),
        ("Content-Length: 0x4", .malformedContentLength, 400),
        ("Content-Length: 4.0", .malformedContentLength, 400),
        ("Content-Length: 4 4", .malformedContentLength, 400),
        ("Content-Length: ٤", .malformedContentLength, 400),
        ("Content-Length:", .malformedContentLength, 400),
        ("Content-Length : 4", .malformedHeader, 400),
        (" Content-Length: 4", .foldedHeader, 400),
        ("X: y\n Content-Length: 4", .foldedHeader, 400),
        ("X: y\n\tz", .foldedHeader, 400),
        ("X: y␊Content-Length: 4", .bareLineEnd, 400),
        ("X: y␍Content-Length: 4", .bareLineEnd, 400),
        ("X: y␍", .bareLineEnd, 400),
        ("␍X: y", .bareLineEnd, 400),
        ("X: y␊", .bareLineEnd, 400),
        ("Content-Length: 65537", .bodyTooLong(limit: 65_536), 413),
        ("Content-Length: 18446744073709551616", .bodyTooLong(limit: 65_536), 413),
        ("Content-Length: 99999999999999999999999999999999999999", .bodyTooLong(limit: 65_536), 413),
    ]

    @Test("Where a body ends has one meaning", arguments: ambiguousLengths)
    func smuggling(headers: String, error: HTTPRequestError, status: Int) {
        expect("POST / HTTP/1.1\nHost: a\n\(headers)\n\nGET /hidden HTTP/1.1\nHost: a\n\n", error, status)
    }

    private static let malformedLines: [(String, HTTPRequestError, Int)] = [
        ("GET  / HTTP/1.1", .malformedRequestLine, 400), (" GET / HTTP/1.1", .malformedRequestLine, 400),
        ("GET / HTTP/1.1 ", .malformedRequestLine, 400), ("GET\t/\tHTTP/1.1", .malformedRequestLine, 400),
        ("GET /", .malformedRequestLine, 400), ("GET", .malformedRequestLine, 400),
        ("GET /a b HTTP/1.1", .malformedRequestLine, 400), ("G(T / HTTP/1.1", .malformedRequestLine, 400),
        ("GÉT / HTTP/1.1", .malformedRequestLine, 400), ("GET / http/1.1", .malformedRequestLine, 400),
        ("GET / HTTP/1", .malformedRequestLine, 400), ("GET / HTTP/1.1.1", .malformedRequestLine, 400),
        ("GET / HTTP/1.10", .malformedRequestLine, 400), ("GET / HTTP/11", .malformedRequestLine, 400),
        ("GET / ICAP/1.0", .malformedRequestLine, 400), ("GET / HTTP/2.0", .unsupportedVersion, 505),
        ("PRI * HTTP/2.0", .unsupportedVersion, 505), ("GET / HTTP/0.9", .unsupportedVersion, 505),
        ("GET / HTTP/1.1␊X: y", .bareLineEnd, 400), ("GET /␍ HTTP/1.1", .bareLineEnd, 400),
        ("\u{16}\u{3}\u{1}", .controlCharacter, 400), ("GET /\0 HTTP/1.1", .controlCharacter, 400),
        ("GET /\u{7F} HTTP/1.1", .controlCharacter, 400),
    ]

    @Test("Request lines", arguments: malformedLines)
    func requestLines(line: String, error: HTTPRequestError, status: Int) {
        expect("\(line)\nHost: a\n\n", error, status)
    }

    @Test(
        "Targets",
        arguments: [
            "/..", "/../etc/passwd", "/a/../b", "/a/..", "/.", "/./a", "/%2e%2E/a", "/.%2e", "/a%2Fb", "/a%2fb",
            "/a%5Cb",
            "/a\\b", "/%00", "/%0d%0aSet-Cookie:x", "/%7F", "/%C2%85", "/%", "/%4", "/%zz", "/%+1", "/%C0%AE",
            "/%ED%A0%80",
            "/%F5%80%80%80", "/%FF", "/é", "/#a", "a", "?a", "*", "a:80", "//..", "/?%00", "/?a=%FF", "/?a=%", "/?#",
            "ftp://a/", "http:/a", "javascript:x",
        ])
    func targets(target: String) { expect("GET \(target) HTTP/1.1\nHost: a\n\n", .malformedTarget, 400) }

    @Test("Hosts in targets", arguments: ["http://", "http:///", "http://a:b@c/", "http://a:0/", "https://a%20/"])
    func targetHosts(target: String) { expect("GET \(target) HTTP/1.1\nHost: a\n\n", .malformedHost, 400) }

    @Test("A target with another host than the header", arguments: ["http://b/", "http://a:81/", "https://a.b/"])
    func otherHosts(target: String) { expect("GET \(target) HTTP/1.1\nHost: a\n\n", .contradictoryHosts, 400) }

    @Test(
        "Hosts",
        arguments: [
            "", "a b", "a/b", "http://a", "a@b", "a:", "a:0", "a:65536", "a:80:80", "a:+80", "a:8o", "-a", "a..b",
            "[::1",
            "::1", "[::1]x", "[fe80::1%eth0]", "[g::]", "256.1.1.1", "1.2.3", "a,b", "a?b", "a#b", "ä", "a\\b", "%61",
            "*",
        ])
    func hosts(host: String) { expect("GET / HTTP/1.1\nHost: \(host)\n\n", .malformedHost, 400) }

    private static let malformedHeaders: [(String, HTTPRequestError, Int)] = [
        ("Host: b", .repeatedHeader("host"), 400), ("HOST: a", .repeatedHeader("host"), 400),
        ("Origin: http://a\nOrigin: http://b", .repeatedHeader("origin"), 400),
        ("Authorization: Bearer a\nAuthorization: Bearer b", .repeatedHeader("authorization"), 400),
        ("Range: bytes=0-1\nRange: bytes=2-3", .repeatedHeader("range"), 400),
        ("Content-Type: text/plain\nContent-Type: application/json", .repeatedHeader("content-type"), 400),
        (": x", .malformedHeader, 400), ("x", .malformedHeader, 400), ("a b: c", .malformedHeader, 400),
        ("ä: c", .malformedHeader, 400), ("a\": c", .malformedHeader, 400), ("GET / HTTP/1.1", .malformedHeader, 400),
        ("a: b\0c", .controlCharacter, 400), ("a: \u{1B}[1m", .controlCharacter, 400),
        ("a\0: b", .controlCharacter, 400),
        ("Expect: 100-continue, x", .unknownExpectation, 417), ("Expect: 200-ok", .unknownExpectation, 417),
        ("Expect: 100-continue\nExpect: x", .repeatedHeader("expect"), 400),
    ]

    @Test("Headers", arguments: malformedHeaders)
    func headers(line: String, error: HTTPRequestError, status: Int) {
        expect("GET / HTTP/1.1\nHost: a\n\(line)\n\n", error, status)
    }

    @Test("A request without a host, whatever its version", arguments: ["1.0", "1.1"])
    func noHost(version: String) { expect("GET / HTTP/\(version)\n\n", .missingHost, 400) }
}

extension [UInt8] {
    /// Replaces each occurrence of `sequence`.
    fileprivate func replacing(_ sequence: [UInt8], with byte: UInt8) -> [UInt8] {
        var result: [UInt8] = []
        var rest = self[...]
        while let first = rest.first {
            if rest.starts(with: sequence) {
                result.append(byte)
                rest = rest.dropFirst(sequence.count)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}
