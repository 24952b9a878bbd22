import Media

/// An answer. Whatever its headers are made of, they cannot end early: control characters in values become spaces.
package struct HTTPResponse: Hashable, Sendable {
    package enum Body: Hashable, Sendable {
        case bytes([UInt8])
        /// The server sends the bytes after the head, for example from a file.
        case following(byteCount: Int)

        package var byteCount: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .following(let byteCount): byteCount
            }
        }
    }

    package let status: HTTPStatus
    package private(set) var headers = HTTPHeaders()
    package let body: Body

    package init(_ status: HTTPStatus, body: Body = .bytes([])) {
        self.status = status
        self.body = body
    }

    /// - Parameter contentType: for example `application/json`.
    package init(_ status: HTTPStatus, contentType: String, _ body: [UInt8]) {
        self.init(status, body: .bytes(body))
        set("Content-Type", contentType)
    }

    /// Replaces a header. Content-Length, Connection and Transfer-Encoding are the response's own and stay unchanged.
    package mutating func set(_ name: StaticString, _ value: String) {
        headers.remove(name.description)
        add(name, value)
    }

    /// Adds a header beside others of the same name.
    package mutating func add(_ name: StaticString, _ value: String) {
        let name = name.description
        guard !Self.ownHeaders.contains(where: { HTTPHeaders.isSame($0, name) }) else { return }
        headers.append(HTTPField(name, value))
    }

    /// Adds a cookie that no script can read, and that no other site's page can make a browser send.
    ///
    /// - Parameters:
    ///   - value: letters, digits, `-` and `_`.
    ///   - maxAge: in seconds; 0 removes the cookie, `nil` keeps it until the browser closes.
    ///   - isSecure: for HTTPS only.
    package mutating func setCookie(_ name: StaticString, _ value: Secret, maxAge: Int?, isSecure: Bool) {
        let octets = value.revealed.utf8.filter { $0.isVisibleASCII && !Self.notInCookies.contains($0) }
        var text = "\(name)=\(String(decoding: octets, as: UTF8.self)); Path=/; HttpOnly; SameSite=Strict"
        if let maxAge { text += "; Max-Age=\(maxAge)" }
        if isSecure { text += "; Secure" }
        add("Set-Cookie", text)
    }

    private static let ownHeaders = ["Content-Length", "Connection", "Transfer-Encoding"]
    private static let notInCookies: [UInt8] = [.quote, .comma, .semicolon, UInt8(ascii: "\\")]
}

// Bytes.
extension HTTPResponse {
    /// Tells a client that its body is expected (RFC 9110 section 15.2.1).
    package static let continueBytes = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// Whether the body follows the head; not in the answer to HEAD, nor with 204 and 304.
    package func sendsBody(for method: HTTPMethod) -> Bool { method != .head && !status.neverHasBody }

    /// The status line and all headers. The body follows if `sendsBody`.
    ///
    /// - Parameters:
    ///   - method: of the request; `get` if it could not be read.
    ///   - keepsAlive: the connection stays open for another request.
    package func headBytes(for method: HTTPMethod, keepsAlive: Bool) -> [UInt8] {
        var bytes = Array("HTTP/1.1 \(status.rawValue) \(status.reason)\r\n".utf8)
        for field in headers.fields {
            bytes += field.name.utf8
            bytes += ": ".utf8
            bytes += field.value.utf8.map { $0.isControl ? .space : $0 }
            bytes += "\r\n".utf8
        }
        if !status.neverHasBody { bytes += "Content-Length: \(body.byteCount)\r\n".utf8 }
        if status == .switchingProtocols {
            bytes += "Connection: Upgrade\r\n".utf8
        } else if !keepsAlive {
            bytes += "Connection: close\r\n".utf8
        }
        return bytes + "\r\n".utf8
    }
}
