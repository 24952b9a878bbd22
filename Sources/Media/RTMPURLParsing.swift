extension RTMPURL {
    /// Parses a whole publish URL.
    public init(parsing text: String) throws(RTMPURLError) {
        let parts = try URLParts(text)
        let (application, query, streamName) = try Self.split(path: parts.path, query: parts.query)
        self.init(
            scheme: parts.scheme, host: parts.host, port: parts.port, application: application,
            applicationQuery: query.map { Secret($0) }, streamName: Secret(streamName), credentials: parts.credentials)
    }

    /// Parses a server URL whose whole path is the application, with a separate stream name, as provided by streaming
    /// services.
    public init(parsingServer text: String, streamName: Secret) throws(RTMPURLError) {
        let parts = try URLParts(text)
        guard !parts.path.isEmpty else { throw .missingApplication }
        guard !streamName.revealed.isEmpty else { throw .missingStreamName }
        try URLParts.refuseForbiddenCharacters(streamName.revealed)
        self.init(
            scheme: parts.scheme, host: parts.host, port: parts.port, application: parts.path.joined(separator: "/"),
            applicationQuery: parts.query.map { Secret($0) }, streamName: streamName, credentials: parts.credentials)
    }

    private static func split(
        path: [String], query: String?
    ) throws(RTMPURLError) -> (application: String, query: String?, streamName: String) {
        guard let last = path.last else { throw .missingApplication }
        if path.count > 1 {
            // `joined` would make the standard library look up the slice's types at run time.
            let application = path[1..<path.count - 1].reduce(path[0]) { $0 + "/" + $1 }
            return (application, nil, last + (query.map { "?" + $0 } ?? ""))
        }
        // rtmp://host/app?vhost=name/stream: the query belongs to the application.
        guard let query, let slash = query.lastIndex(of: "/"), slash < query.index(before: query.endIndex) else {
            throw .missingStreamName
        }
        return (last, String(query[..<slash]), String(query[query.index(after: slash)...]))
    }
}

/// The parts of a URL, before the path is divided (RFC 3986 section 3).
struct URLParts {
    let scheme: RTMPURL.Scheme
    let credentials: Credentials?
    let host: String
    let port: UInt16?
    /// Without empty components.
    let path: [String]
    let query: String?

    init(_ text: String) throws(RTMPURLError) {
        try Self.refuseForbiddenCharacters(text)
        let (scheme, rest) = try Self.splitScheme(text)
        let pathStart = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<pathStart]
        let at = authority.lastIndex(of: "@")
        let hostAndPort = at.map { authority[authority.index(after: $0)...] } ?? authority
        self.scheme = scheme
        credentials = at.flatMap { Self.credentials(authority[..<$0]) }
        (host, port) = try Self.splitHost(hostAndPort)
        let pathAndQuery = rest[pathStart...].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = pathAndQuery[0].split(separator: "/").map(String.init)
        query = pathAndQuery.count > 1 ? String(pathAndQuery[1]) : nil
    }

    static func refuseForbiddenCharacters(_ text: String) throws(RTMPURLError) {
        let forbidden = text.unicodeScalars.indices.first { index in
            let properties = text.unicodeScalars[index].properties
            return switch properties.generalCategory {
            case .control, .format: true
            default: properties.isWhitespace
            }
        }
        if let forbidden { throw .forbiddenCharacter(at: text.utf8.distance(from: text.startIndex, to: forbidden)) }
    }

    private static func splitScheme(_ text: String) throws(RTMPURLError) -> (RTMPURL.Scheme, Substring) {
        guard !text.isEmpty else { throw .empty }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { throw .unknownScheme("") }
        let name = text[..<colon]
        guard let scheme = RTMPURL.Scheme(rawValue: name.lowercased()) else {
            // Any other word may be a misplaced secret.
            let familiar = ["http", "https", "rtmpt", "rtmpe", "rtmpts", "rtsp", "rtsps", "srt", "rist", "hls", "file"]
            throw .unknownScheme(familiar.contains(name.lowercased()) ? name.lowercased() : "")
        }
        return (scheme, text[text.index(colon, offsetBy: 3)...])
    }

    private static func splitHost(_ text: Substring) throws(RTMPURLError) -> (String, UInt16?) {
        do {
            let host = try NetworkHost(parsing: String(text))
            return (host.name, host.port)
        } catch {
            switch error {
            case .empty: throw .missingHost
            case .hasSchemeOrPath, .badName: throw .invalidHost
            case .badPort: throw .invalidPort
            }
        }
    }

    /// `user[:password]`, percent-decoded.
    private static func credentials(_ text: Substring) -> Credentials? {
        let pieces = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let user = pieces.first, !user.isEmpty else { return nil }
        return Credentials(
            user: percentDecoded(user), password: pieces.count > 1 ? percentDecoded(pieces[1]) : "")
    }

    private static func percentDecoded(_ text: Substring) -> String {
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var position = 0
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "%"), position + 2 < bytes.count,
                let high = hexDigit(bytes[position + 1]), let low = hexDigit(bytes[position + 2])
            {
                result.append(high << 4 | low)
                position += 3
            } else {
                result.append(bytes[position])
                position += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
