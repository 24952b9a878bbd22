import Media
import Testing

@testable import HTTP

@Suite("HTTP responses")
struct HTTPResponseTests {
    private func head(
        _ response: HTTPResponse, for method: HTTPMethod = .get, keepsAlive: Bool = true
    ) -> String {
        String(decoding: response.headBytes(for: method, keepsAlive: keepsAlive), as: UTF8.self)
    }

    @Test("A page")
    func page() {
        var response = HTTPResponse(.ok, contentType: "text/html; charset=utf-8", Array("<p>".utf8))
        response.set("ETag", HTTPEntityTag("a1").headerValue)
        response.set("etag", HTTPEntityTag("b2").headerValue)
        let lines = "HTTP/1.1 200 OK\nContent-Type: text/html; charset=utf-8\netag: \"b2\"\nContent-Length: 3\n"
        #expect(head(response) == String(decoding: wire(lines + "\n"), as: UTF8.self))
        #expect(
            head(response, keepsAlive: false)
                == String(decoding: wire(lines + "Connection: close\n\n"), as: UTF8.self))
        #expect(response.sendsBody(for: .get) && response.sendsBody(for: .post) && !response.sendsBody(for: .head))
        #expect(head(response, for: .head) == head(response))
    }

    @Test("A file's bytes follow")
    func following() {
        var response = HTTPResponse(.partialContent, body: .following(byteCount: 3_000_000_000))
        response.set("Content-Range", HTTPByteRange.contentRange(1..<3_000_000_001, of: 4_000_000_000))
        #expect(
            head(response)
                == "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 1-3000000000/4000000000\r\n"
                + "Content-Length: 3000000000\r\n\r\n")
    }

    @Test("Responses without a body announce no length", arguments: [HTTPStatus.noContent, .notModified])
    func noBody(status: HTTPStatus) {
        let response = HTTPResponse(status, body: .bytes([1, 2, 3]))
        #expect(!response.sendsBody(for: .get))
        #expect(head(response) == "HTTP/1.1 \(status.rawValue) \(status.reason)\r\n\r\n")
    }

    @Test("An empty body has a length")
    func emptyBody() {
        #expect(head(HTTPResponse(.notFound)) == "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
    }

    @Test(
        "A value cannot begin another header or the body",
        arguments: ["a\r\nX: y", "a\nX: y", "a\rX: y", "\r\n\r\n<p>", "a\0b", "a\u{7F}b", "a\u{8}"])
    func splitting(value: String) {
        var response = HTTPResponse(.ok)
        response.set("X-Name", value)
        let bytes = response.headBytes(for: .get, keepsAlive: true)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.count == 5 && lines[2] == "Content-Length: 0", "\(lines)")
        let controls = bytes.filter { $0 < 0x20 || $0 == 0x7F }
        #expect(controls == Array("\r\n\r\n\r\n\r\n".utf8))
    }

    @Test("The framing is the response's own")
    func framing() {
        var response = HTTPResponse(.ok, body: .bytes([1]))
        response.set("content-length", "2")
        response.add("CONTENT-LENGTH", "2")
        response.set("Transfer-Encoding", "chunked")
        response.set("connection", "close")
        #expect(head(response) == "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n")
    }

    @Test("Cookies stay separate headers, and are for the server alone")
    func cookies() {
        var response = HTTPResponse(.noContent)
        response.setCookie("key", "0a-1b_", maxAge: 31_536_000, isSecure: false)
        response.setCookie("attempt", "x; Domain=evil\r\n,\"\\ é", maxAge: nil, isSecure: true)
        response.setCookie("old", "", maxAge: 0, isSecure: false)
        let lines = """
            HTTP/1.1 204 No Content
            Set-Cookie: key=0a-1b_; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000
            Set-Cookie: attempt=xDomain=evil; Path=/; HttpOnly; SameSite=Strict; Secure
            Set-Cookie: old=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0


            """
        #expect(head(response) == String(decoding: wire(lines), as: UTF8.self))
        #expect(!String(reflecting: response).contains("0a-1b_"))
    }

    @Test("Each status has its own reason", arguments: HTTPStatus.allCases)
    func reasons(status: HTTPStatus) {
        let same = HTTPStatus.allCases.filter { $0.reason == status.reason }
        #expect(same == [status])
    }

    @Test("The body is expected")
    func continues() {
        #expect(HTTPResponse.continueBytes == wire("HTTP/1.1 100 Continue\n\n"))
    }
}
