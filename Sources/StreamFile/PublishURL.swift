/// Where a stream is sent: an RTMP URL taken apart the way RTMP uses it.
///
/// Whatever may carry a key is a `Secret`; the whole prints without them.
public struct PublishURL: Hashable, Sendable {
    public enum Scheme: String, Hashable, Sendable {
        case rtmp
        /// RTMP within TLS.
        case rtmps

        public var defaultPort: Int {
            switch self {
            case .rtmp: 1935
            case .rtmps: 443
            }
        }
    }

    public let scheme: Scheme
    public let host: NetworkHost
    /// The application, with its instance and query if the URL has them; no slash at either end.
    public let application: Secret
    /// The name to publish under; a query, as in `title?nonce=...&token=...`, stays in it.
    public let streamName: Secret
    /// From `rtmp://user:password@host/`, percent-decoded, for servers that ask for it.
    public let user: String?
    public let password: Secret?

    public var port: Int { host.port ?? scheme.defaultPort }

    init(
        scheme: Scheme, host: NetworkHost, application: String, streamName: String, user: String? = nil,
        password: String? = nil
    ) {
        self.scheme = scheme
        self.host = host
        self.application = Secret(application)
        self.streamName = Secret(streamName)
        self.user = user
        self.password = password.map(Secret.init)
    }
}

extension PublishURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL without user, password, stream name and queries: `rtmp://host/app/...`
    public var description: String {
        let path =
            application.revealed.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        return "\(scheme.rawValue)://\(host)/\(path)/..."
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Why there is no URL to publish to. Never quotes the URL.
public enum PublishURLError: Error, Hashable, Sendable {
    case empty
    /// Spaces, control characters, or anything beyond ASCII.
    case forbiddenCharacter(offset: Int)
    case noScheme
    case unsupportedScheme(String)
    case badHost(NetworkHost.Fault)
    case noApplication
    case noStreamName
    /// An expiring signature needs the time of day.
    case clockNotSet(unixSeconds: Int64)
}

extension PublishURLError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "the URL is empty; write rtmp://host/application/name"
        case .forbiddenCharacter(let offset):
            "character \(offset + 1) of the URL is a space or not ASCII; remove it or write it as %20 and the like"
        case .noScheme: "the URL does not begin with rtmp:// or rtmps://"
        case .unsupportedScheme(let scheme): "\(scheme):// is not supported; use rtmp:// or rtmps://"
        case .badHost(let fault): "the URL's host: \(fault.problem)"
        case .noApplication: "the URL lacks the application; write rtmp://host/application/name"
        case .noStreamName: "the URL lacks the stream name; write rtmp://host/application/name, or give a key"
        case .clockNotSet(let seconds):
            "the clock is not set (it says \(seconds) s since 1970), so no expiring signature can be made; wait for network time"
        }
    }
}

extension PublishURL {
    /// Takes a URL apart. Without a key the last part of the path is the stream name, with its query;
    /// with a key the whole path and query are the application and the key is the name.
    public init(parsing text: String, key: Secret? = nil) throws(PublishURLError) {
        guard !text.isEmpty else { throw .empty }
        if let offset = Array(text.utf8).firstIndex(where: { !$0.isVisibleASCII }) {
            throw .forbiddenCharacter(offset: offset)
        }
        let (scheme, rest) = try Self.scheme(of: text)
        let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<authorityEnd]
        let at = authority.lastIndex(of: "@")
        let hostText = at.map { authority[authority.index(after: $0)...] } ?? authority
        let host: NetworkHost
        do { host = try NetworkHost(parsing: String(hostText)) } catch { throw .badHost(error) }
        let userInfo = at.map { authority[..<$0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) }
        let (application, name) = try Self.split(path: rest[authorityEnd...], key: key)
        self.init(
            scheme: scheme, host: host, application: application, streamName: name,
            user: userInfo?.first.map { percentDecoded($0) },
            password: userInfo.flatMap { $0.count > 1 ? percentDecoded($0[1]) : nil })
    }

    private static func scheme(of text: String) throws(PublishURLError) -> (Scheme, Substring) {
        let bytes = Array(text.utf8)
        let mark = Array("://".utf8)
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }), end > 0,
            bytes[..<end].allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit })
        else { throw .noScheme }
        let name = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
        guard let scheme = Scheme(rawValue: name) else { throw .unsupportedScheme(name) }
        return (scheme, text.dropFirst(end + mark.count))
    }

    private static func split(path: Substring, key: Secret?) throws(PublishURLError) -> (String, String) {
        let query = path.firstIndex(of: "?").map { path[$0...] } ?? ""
        let parts = path.prefix { $0 != "?" }.split(separator: "/")
        guard let last = parts.last else { throw .noApplication }
        if let key { return (parts.joined(separator: "/") + query, key.revealed) }
        if parts.count > 1 { return (parts.dropLast().joined(separator: "/"), "\(last)\(query)") }
        // rtmp://host/app?vhost=name/stream: the query belongs to the application.
        guard let slash = query.lastIndex(of: "/"), query.index(after: slash) < query.endIndex else {
            throw .noStreamName
        }
        return ("\(last)\(query[..<slash])", String(query[query.index(after: slash)...]))
    }
}

/// Undoes %XX; a percent sign without two digits behind it stays.
private func percentDecoded(_ text: Substring) -> String {
    let bytes = Array(text.utf8)
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
        let digits = bytes[(index + 1)...].prefix(2)
        if bytes[index] == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(\.isASCIIHexDigit),
            let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
        {
            decoded.append(byte)
            index += 3
        } else {
            decoded.append(bytes[index])
            index += 1
        }
    }
    return String(decoding: decoded, as: UTF8.self)
}
