/// Why a text is not an RTMP URL. No case contains text after the host, since that may be secret.
public enum RTMPURLError: Error, Equatable, Sendable {
    case empty
    case unknownScheme(String)
    case missingHost
    case invalidHost
    case invalidPort
    case missingApplication
    case missingStreamName
    /// White space, or a control or format character, at this byte of the text.
    case forbiddenCharacter(at: Int)
}

extension RTMPURLError: CustomStringConvertible {
    public var description: String {
        let reason =
            switch self {
            case .empty: "it is empty"
            case .unknownScheme(""): "it does not start with rtmp:// or rtmps://"
            case .unknownScheme(let scheme): "its scheme is \(scheme), not rtmp or rtmps"
            case .missingHost: "the host is missing"
            case .invalidHost: "the host is neither a name nor an address (an IPv6 address needs brackets)"
            case .invalidPort: "the port is not a number from 1 to 65535"
            case .missingApplication: "the application is missing after the host"
            case .missingStreamName: "the stream name is missing after the application"
            case .forbiddenCharacter(let position): "byte \(position) is white space or a control character"
            }
        return "not an RTMP URL: \(reason); write rtmp://HOST[:PORT]/APPLICATION/STREAM"
    }
}

/// User name and password for a server that requires them.
public struct Credentials: Hashable, Sendable {
    public var user: String
    public var password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

/// Where to publish: `rtmp://[user:password@]host[:port]/application/stream[?query]`.
///
/// The last path component is the stream name, together with the query; all components before it are the application.
/// Only user and password are percent-decoded: servers expect the rest exactly as written.
///
/// The stream name, query and credentials are secret and do not appear in any description.
public struct RTMPURL: Hashable, Sendable {
    public enum Scheme: String, Sendable {
        case rtmp
        /// RTMP over TLS.
        case rtmps

        public var defaultPort: UInt16 { self == .rtmp ? 1935 : 443 }
    }

    public var scheme: Scheme
    /// A name or an address; IPv6 without brackets.
    public var host: String
    public var port: UInt16
    /// One or more path components, without a slash at either end and without the query.
    public var application: String
    /// Whether to show only the application's first component: the rest may be a stream key in the wrong place.
    public var hidesApplicationPath = false
    /// The query of the application, after a question mark.
    public var applicationQuery: Secret?
    /// The stream name with its query, as sent in `publish`.
    public var streamName: Secret
    public var credentials: Credentials?

    public init(
        scheme: Scheme, host: String, port: UInt16? = nil, application: String, applicationQuery: Secret? = nil,
        streamName: Secret, credentials: Credentials? = nil
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
        self.application = application
        self.applicationQuery = applicationQuery
        self.streamName = streamName
        self.credentials = credentials
    }

    /// The application without parts that may be secret.
    public var shownApplication: String {
        guard hidesApplicationPath else { return application }
        let parts = application.split(separator: "/")
        return (parts.prefix(1) + parts.dropFirst().map { _ in "***" }).joined(separator: "/")
    }

    /// The hidden components of the application.
    public var hiddenApplicationParts: [String] {
        hidesApplicationPath ? application.split(separator: "/").dropFirst().map(String.init) : []
    }

    /// `rtmp://host[:port]`, without the default port.
    public var origin: String {
        let host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return "\(scheme.rawValue)://\(host)" + (port == scheme.defaultPort ? "" : ":\(port)")
    }
}

extension RTMPURL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// For people and logs: without stream name, query and credentials.
    public var description: String {
        "\(origin)/\(shownApplication)\(applicationQuery == nil ? "" : "?***")/***"
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "***" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
