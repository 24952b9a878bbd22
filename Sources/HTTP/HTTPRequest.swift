import Media

package enum HTTPMethod: String, Hashable, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case options = "OPTIONS"
    /// Any other: the answer is 501.
    case other = ""
}

/// A request that a client has sent. It prints as method and path; headers, query and body may contain secrets.
package struct HTTPRequest: Hashable, Sendable {
    package let method: HTTPMethod
    /// Percent-decoded: starts with `/`, without control characters and without `.` and `..` as segments. `*` only with OPTIONS.
    package let path: String
    /// The parts of the path between its slashes; empty for `/` and `*`. Compare and split by these: a character that
    /// combines with the slash before it hides that slash from searches in `path`.
    package let segments: [String]
    /// Percent-decoded, in their order; a name may occur several times.
    package let query: [HTTPField]
    package let headers: HTTPHeaders
    /// The header Host, with the name in lowercase. IPv6 addresses are as the client wrote them, in lowercase.
    package let host: NetworkHost
    /// HTTP/1.0 has no persistent connections here.
    package let isVersion10: Bool
    package internal(set) var body: [UInt8] = []

    init(method: HTTPMethod, target: HTTPTarget, host: NetworkHost, headers: HTTPHeaders, isVersion10: Bool) {
        self.method = method
        segments = target.segments ?? []
        path = target.segments.map { $0.isEmpty ? "/" : $0.reduce("") { $0 + "/" + $1 } } ?? "*"
        query = target.query
        self.host = host
        self.headers = headers
        self.isVersion10 = isVersion10
    }

    /// The first value of a name in the query.
    package func query(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(method == .other ? "another method" : method.rawValue) \(path)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

// Connection.
extension HTTPRequest {
    /// Whether another request may follow on this connection.
    package var keepsAlive: Bool { !isVersion10 && !connectionOptions.contains("close") }

    private var connectionOptions: [String] { headers.list("connection") }

    /// A request to switch to WebSocket, well-formed or not; `WebSocketHandshake` examines it.
    package var isWebSocketUpgrade: Bool {
        method == .get && !isVersion10 && headers.list("upgrade").contains("websocket")
            && connectionOptions.contains("upgrade")
    }
}

// The client: cookies, token, origin.
extension HTTPRequest {
    /// The values of the cookies with this name. There can be several: cookies do not distinguish ports, so any other server
    /// on the device's address can add one.
    package func cookies(named name: String) -> [Secret] {
        let pairs = Array((headers["cookie"] ?? "").utf8).split(separator: .semicolon).map(\.trimmed)
        return pairs.compactMap { pair in
            guard let equals = pair.firstIndex(of: .equals), pair[..<equals].elementsEqual(name.utf8) else {
                return nil
            }
            return Secret(String(decoding: pair[equals...].dropFirst(), as: UTF8.self))
        }
    }

    /// The token of `Authorization: Bearer` (RFC 6750 section 2.1).
    package var bearerToken: Secret? {
        let value = Array((headers["authorization"] ?? "").utf8)[...]
        guard value.hasCaselessPrefix("bearer ") else { return nil }
        let token = value.dropFirst("bearer ".utf8.count).trimmed
        guard !token.isEmpty, token.allSatisfy(\.isVisibleASCII) else { return nil }
        return Secret(String(decoding: token, as: UTF8.self))
    }

    /// Whether the header Origin names the server that this request came to. A request without it, or from a sandboxed
    /// page (`null`), does not.
    ///
    /// - Parameter scheme: of this server.
    package func isFromOwnOrigin(_ scheme: HTTPScheme) -> Bool {
        let origin = Array((headers["origin"] ?? "").utf8)[...]
        let start = "\(scheme)://"
        guard origin.hasCaselessPrefix(start), let from = NetworkHost(strictly: origin.dropFirst(start.utf8.count))
        else { return false }
        return from.name == host.name && (from.port ?? scheme.defaultPort) == (host.port ?? scheme.defaultPort)
    }
}

// The form and version of the resource.
extension HTTPRequest {
    /// Whether the client takes a body that is compressed with gzip (RFC 9110 section 12.5.3).
    package var acceptsGzip: Bool {
        var acceptsAny = false
        for member in headers.list("accept-encoding") {
            let parts = Array(member.utf8).split(separator: .semicolon).map(\.trimmed)
            guard let coding = parts.first else { continue }
            let isRefused = parts.dropFirst().contains { Self.isZeroWeight($0) }
            if coding.isCaseless("gzip") || coding.isCaseless("x-gzip") { return !isRefused }
            if coding.isCaseless("*") { acceptsAny = !isRefused }
        }
        return acceptsAny
    }

    private static func isZeroWeight(_ parameter: ArraySlice<UInt8>) -> Bool {
        guard parameter.hasCaselessPrefix("q=") else { return false }
        return parameter.dropFirst(2).allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
    }

    package var ifMatch: HTTPTagCondition? { headers["if-match"].map { HTTPTagCondition($0) } }

    package var ifNoneMatch: HTTPTagCondition? { headers["if-none-match"].map { HTTPTagCondition($0) } }

    /// The one range that the client asks for; `nil` if it asks for everything, or for something that a server may answer with
    /// everything: several ranges, another unit, or a range of another version (If-Range).
    ///
    /// - Parameter tag: of the current version.
    package func range(of tag: HTTPEntityTag?) -> HTTPByteRange? {
        guard method == .get, let range = headers["range"].flatMap({ HTTPByteRange($0) }) else { return nil }
        guard let condition = headers["if-range"] else { return range }
        return HTTPTagCondition(condition).matchesStrongly(tag) ? range : nil
    }
}
