import Media

/// The server's side of the opening handshake (RFC 6455 section 4.2), without extensions and subprotocols.
package struct WebSocketHandshake: Sendable {
    package enum Fault: Error, Hashable, Sendable {
        case notAnUpgrade
        /// Only version 13 exists.
        case unsupportedVersion
        /// Sec-WebSocket-Key is not the base64 of 16 bytes.
        case malformedKey

        package var response: HTTPResponse {
            switch self {
            case .notAnUpgrade, .unsupportedVersion:
                var response = HTTPResponse(.upgradeRequired)
                response.set("Upgrade", "websocket")
                response.set("Sec-WebSocket-Version", "13")
                return response
            case .malformedKey: return HTTPResponse(.badRequest)
            }
        }
    }

    /// Sec-WebSocket-Accept of the response.
    package let accept: String

    /// - Parameters:
    ///   - request: the server has examined its Origin and its rights: browsers send WebSocket requests from any page.
    ///   - sha1: SHA-1 of bytes.
    package init(_ request: HTTPRequest, sha1: ([UInt8]) -> [UInt8]) throws(Fault) {
        guard request.isWebSocketUpgrade, request.body.isEmpty else { throw .notAnUpgrade }
        guard request.headers["sec-websocket-version"] == "13" else { throw .unsupportedVersion }
        guard let key = request.headers["sec-websocket-key"], Self.isKey(Array(key.utf8)) else {
            throw .malformedKey
        }
        accept = sha1(Array((key + Self.identifier).utf8)).base64
    }

    /// 101; afterwards the connection speaks WebSocket.
    package var response: HTTPResponse {
        var response = HTTPResponse(.switchingProtocols)
        response.set("Upgrade", "websocket")
        response.set("Sec-WebSocket-Accept", accept)
        return response
    }

    /// The same for all servers (RFC 6455 section 1.3).
    private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    private static func isKey(_ text: [UInt8]) -> Bool {
        text.count == 24 && text.hasSuffixOfPadding
            && text.prefix(22).allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "+") || $0 == .slash
            }
    }
}

extension [UInt8] {
    fileprivate var hasSuffixOfPadding: Bool { suffix(2).elementsEqual("==".utf8) }
}
