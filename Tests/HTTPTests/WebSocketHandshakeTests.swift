import Testing

@testable import HTTP

@Suite("WebSocket handshake")
struct WebSocketHandshakeTests {
    /// RFC 6455 section 1.3.
    private static let text = """
        GET /chat HTTP/1.1
        Host: server.example.com
        Upgrade: websocket
        Connection: keep-alive, Upgrade
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==
        Origin: http://example.com
        Sec-WebSocket-Protocol: chat, superchat
        Sec-WebSocket-Extensions: permessage-deflate
        Sec-WebSocket-Version: 13


        """

    /// The example's digest of the example's key.
    private func sha1(_ bytes: [UInt8]) -> [UInt8] {
        #expect(bytes == Array("dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8))
        return hex("b37a4f2cc0624f1690f64606cf385945b2bec4ea")
    }

    private func fault(replacing line: String, with other: String) throws -> WebSocketHandshake.Fault? {
        let lines = Self.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.contains(line[...]), "no such line")
        let changed = lines.map { $0 == line[...] ? other : String($0) }.joined(separator: "\n")
        let request = try request(changed)
        do throws(WebSocketHandshake.Fault) {
            _ = try WebSocketHandshake(request) { _ in [] }
            return nil
        } catch {
            return error
        }
    }

    @Test("The example of RFC 6455 section 1.3")
    func example() throws {
        let request = try request(Self.text)
        #expect(request.isWebSocketUpgrade)
        let handshake = try WebSocketHandshake(request, sha1: sha1)
        #expect(handshake.accept == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        let lines = """
            HTTP/1.1 101 Switching Protocols
            Upgrade: websocket
            Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=
            Connection: Upgrade


            """
        #expect(handshake.response.headBytes(for: .get, keepsAlive: true) == wire(lines))
        #expect(!handshake.response.sendsBody(for: .get))
    }

    @Test(
        "Keys",
        arguments: [
            "", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ==A",
            "dGhlIHNhbXBsZSBub25jZQAA==",
            "dGhlIHNhbXBsZSBub25jZQA=",
            "dGhlIHNhbXBsZSBub25j-_==", "dGhlIHNhbXBsZSBub25jZQ== x",
        ])
    func keys(key: String) throws {
        let fault = try fault(
            replacing: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", with: "Sec-WebSocket-Key: " + key)
        #expect(fault == .malformedKey && fault?.response.status == .badRequest)
    }

    @Test("Versions", arguments: ["8", "013", "13, 8", ""])
    func versions(version: String) throws {
        let fault = try fault(
            replacing: "Sec-WebSocket-Version: 13", with: "Sec-WebSocket-Version: " + version)
        #expect(fault == .unsupportedVersion && fault?.response.status == .upgradeRequired)
        #expect(fault?.response.headers["sec-websocket-version"] == "13")
    }

    @Test(
        "Requests that do not ask for an upgrade",
        arguments: [
            ("GET /chat HTTP/1.1", "POST /chat HTTP/1.1"), ("GET /chat HTTP/1.1", "GET /chat HTTP/1.0"),
            ("Upgrade: websocket", "Upgrade: h2c"), ("Connection: keep-alive, Upgrade", "Connection: keep-alive"),
        ])
    func notAnUpgrade(line: String, other: String) throws {
        #expect(try fault(replacing: line, with: other) == .notAnUpgrade)
    }

    @Test("Names are compared without case")
    func caseless() throws {
        #expect(try fault(replacing: "Upgrade: websocket", with: "UPGRADE: x, WebSocket") == nil)
    }
}
