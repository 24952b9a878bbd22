import HTTP
import Media

/// Why a request is refused before anything is done for it.
package enum PageRefusal: Error, Hashable, Sendable {
    /// The address that the browser believes to be talking to is not the camera's: DNS rebinding.
    case wrongHost
    case notPaired
    case tooManyAttempts(Duration)
    case unknownPath
    case wrongMethod(allowed: [HTTPMethod])
    /// The request changes something, and comes from another site's page.
    case wrongOrigin
    case notAWebSocket

    package var status: HTTPStatus {
        switch self {
        case .wrongHost: .misdirectedRequest
        case .notPaired: .unauthorized
        case .tooManyAttempts: .tooManyRequests
        case .unknownPath: .notFound
        case .wrongMethod: .methodNotAllowed
        case .wrongOrigin: .forbidden
        case .notAWebSocket: .upgradeRequired
        }
    }

    /// For programs; it never changes.
    package var name: String {
        switch self {
        case .wrongHost: "wrongHost"
        case .notPaired: "notPaired"
        case .tooManyAttempts: "tooManyAttempts"
        case .unknownPath: "unknownPath"
        case .wrongMethod: "wrongMethod"
        case .wrongOrigin: "wrongOrigin"
        case .notAWebSocket: "notAWebSocket"
        }
    }
}

extension PageRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .wrongHost: "this camera has another name; open it by its own name or address"
        case .notPaired: "this browser is not paired; open the page and press the button on the camera"
        case .tooManyAttempts(let wait): "too many attempts; try again in \(max(1, Int(wait.inSeconds))) seconds"
        case .unknownPath: "there is nothing under this path"
        case .wrongMethod(let allowed): "this path takes \(allowed.map(\.rawValue).joined(separator: ", "))"
        case .wrongOrigin: "the request comes from another site's page"
        case .notAWebSocket: "this path is a WebSocket"
        }
    }
}

/// Decides whether a request may be answered, in the one order that all requests go through: host, key, path, method, origin.
/// Nothing of a request without a key is looked at but its route.
package struct PageGate: Sendable {
    /// Cookie with the key, in hexadecimal digits.
    package static let keyCookie: StaticString = "tallycam-key"

    /// Names under which the camera may be reached, in lower case, besides the address that a connection was made to.
    package var names: Set<String>
    package var keys: BrowserKeys
    package let scheme: HTTPScheme
    private var wrongKeys = AttemptLimits()

    package init(_ scheme: HTTPScheme = .http, names: Set<String>, keys: BrowserKeys) {
        self.scheme = scheme
        self.names = names
        self.keys = keys
    }

    /// Where a request comes from.
    package struct Connection: Hashable, Sendable {
        /// The camera's address that the browser has connected to, and the browser's own.
        package let ownAddress: String
        package let peerAddress: String
        package let port: UInt16

        package init(ownAddress: String, peerAddress: String, port: UInt16) {
            self.ownAddress = ownAddress
            self.peerAddress = peerAddress
            self.port = port
        }
    }

    /// An admitted request.
    package struct Pass: Hashable, Sendable {
        package let route: PageRoute
        /// `nil` without a key.
        package let key: BrowserKeys.Key?
    }

    /// - Parameter hash: SHA-256.
    package mutating func admit(
        _ request: HTTPRequest, on connection: Connection, hash: ([UInt8]) -> [UInt8], now: MediaTimestamp
    ) throws(PageRefusal) -> Pass {
        guard isOwn(request.host, on: connection) else { throw .wrongHost }
        let routes = PageRoute.routes(to: request.segments)
        let key = holder(of: request, hash: hash)
        guard key != nil || !routes.isEmpty && routes.allSatisfy({ $0.right == .everyone }) else {
            throw refusal(of: request, from: connection, now: now)
        }
        guard !routes.isEmpty else { throw .unknownPath }
        let method = request.method == .head ? HTTPMethod.get : request.method
        guard let route = routes.first(where: { $0.method == method }) else {
            throw .wrongMethod(allowed: routes.map(\.method))
        }
        guard route.isWebSocket == request.isWebSocketUpgrade else { throw .notAWebSocket }
        // Programs that send their key as a header have no page; a browser never adds such a header by itself.
        if method != .get || route.isWebSocket, !request.isFromOwnOrigin(scheme),
            request.bearerToken == nil
        {
            throw .wrongOrigin
        }
        return Pass(route: route, key: key)
    }

    private func isOwn(_ host: NetworkHost, on connection: Connection) -> Bool {
        host.port ?? scheme.defaultPort == connection.port
            && (names.contains(host.name) || host.name == connection.ownAddress)
    }

    /// The keys that a request carries: a cookie may be there twice, since cookies do not distinguish ports.
    private func keys(in request: HTTPRequest) -> [Secret] {
        request.bearerToken.map { [$0] } ?? request.cookies(named: Self.keyCookie.description)
    }

    private func holder(of request: HTTPRequest, hash: ([UInt8]) -> [UInt8]) -> BrowserKeys.Key? {
        for text in keys(in: request).prefix(Self.mostCookies) {
            guard let key = [UInt8](hexadecimal: text.revealed), key.count == BrowserKeys.byteCount else { continue }
            if let holder = keys.key(hashedTo: hash(key)) { return holder }
        }
        return nil
    }

    /// Cookies of one name that are looked at.
    package static let mostCookies = 4

    private mutating func refusal(
        of request: HTTPRequest, from connection: Connection, now: MediaTimestamp
    ) -> PageRefusal {
        guard !keys(in: request).isEmpty, let wait = wrongKeys.attempted(from: connection.peerAddress, now: now) else {
            return .notPaired
        }
        return .tooManyAttempts(wait)
    }
}
