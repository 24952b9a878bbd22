import Media

/// A stream of the Pili service: the publishing part of its stream object.
public struct PiliStreamDescription: Hashable, Sendable {
    public enum Security: Hashable, Sendable {
        /// The bare URL.
        case none
        /// `?key=` with the key itself.
        case `static`(key: Secret)
        /// `?nonce=&token=`, with a new signature for every connection. The default.
        case dynamic(key: Secret)
        /// `?expire=&token=`, valid for `lifetime` after signing.
        case expiring(key: Secret, lifetime: Duration)
    }

    /// Unique within the hub; 4...100 letters, digits, hyphens and underscores.
    public let title: String
    public let hub: String
    public let publishHost: NetworkHost
    public let security: Security
}

/// Why a connection's URL cannot be signed.
public enum SigningError: Error, Hashable, Sendable {
    /// An expiring signature needs the time of day.
    case clockNotSet(unixSeconds: Int64)
}

extension SigningError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .clockNotSet(let seconds):
            "the clock is not set (it says \(seconds) s since 1970), so the signature's expiry cannot be computed; wait for network time"
        }
    }
}

/// HMAC-SHA1 (RFC 2104) of a message: 20 bytes.
public typealias HMACSHA1Function = (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]

extension PiliStreamDescription {
    /// A clock before 2020, which is older than the product, has not been set.
    private static let earliestCredibleClock: Int64 = 1_577_836_800

    func publishURL(
        unixSeconds: Int64, nonces: inout NonceSequence, hmacSHA1: HMACSHA1Function
    ) throws(SigningError) -> RTMPURL {
        let query: String
        switch security {
        case .none: query = ""
        case .static(let key): query = "?key=\(key.revealed)"
        case .dynamic(let key):
            query = signed("?nonce=\(nonces.next(unixSeconds: unixSeconds))", with: key, hmacSHA1)
        case .expiring(let key, let lifetime):
            guard unixSeconds >= Self.earliestCredibleClock else { throw .clockNotSet(unixSeconds: unixSeconds) }
            query = signed("?expire=\(unixSeconds &+ lifetime.components.seconds)", with: key, hmacSHA1)
        }
        return RTMPURL(
            scheme: .rtmp, host: publishHost.name, port: publishHost.port, application: hub,
            streamName: Secret(title + query))
    }

    /// The token signs path and query, and is appended to the query. Its padding is not percent-encoded.
    private func signed(_ query: String, with key: Secret, _ hmacSHA1: HMACSHA1Function) -> String {
        let message = "/\(hub)/\(title)\(query)"
        let token = Base64URL.encode(hmacSHA1(Array(key.revealed.utf8), Array(message.utf8)))
        return "\(query)&token=\(token)"
    }
}

extension PiliStreamDescription {
    static let keyNames = ["id", "title", "hub", "publishKey", "publishSecurity", "publishLifetime", "hosts"]

    init?(reading reader: inout DescriptionReader) {
        Self.checkBookkeeping(&reader)
        let identity = Self.readIdentity(&reader)
        let security = Self.readSecurity(&reader)
        let host = reader.object(
            "hosts", required: true, example: #""hosts": {"publish": {"rtmp": "publish.example.com"}}"#
        ) {
            hosts -> NetworkHost? in
            hosts.objectOfTexts("play", example: #""play": {"hls": "play.example.com"}"#)
            hosts.objectOfTexts("live", example: #""live": {"hls": "live.example.com"}"#)
            hosts.objectOfTexts("playback", example: #""playback": {"hls": "playback.example.com"}"#)
            return hosts.object("publish", required: true, example: #""publish": {"rtmp": "publish.example.com"}"#) {
                Self.readHost(&$0)
            }
        }
        guard let identity, let security, let host else { return nil }
        self.init(title: identity.title, hub: identity.hub, publishHost: host, security: security)
    }

    /// Keys that the service keeps for itself: they are not used here, but mistakes in them are still reported.
    private static func checkBookkeeping(_ reader: inout DescriptionReader) {
        reader.moment("createdAt", example: #""createdAt": "2015-08-22T03:43:55.550Z""#)
        reader.moment("updatedAt", example: #""updatedAt": "2015-08-22T03:43:55.550Z""#)
        _ = reader.integer("disabledTill", in: -1...(1 << 53), example: #""disabledTill": 0"#)
        _ = reader.texts("profiles", example: #""profiles": ["480p"]"#)
    }

    /// Hub and title; if one is missing, it is taken from `id` (`zone.hub.title`).
    private static func readIdentity(_ reader: inout DescriptionReader) -> (hub: String, title: String)? {
        let id = reader.text("id", example: #""id": "z1.my-hub.front-door""#)
        let parts = id?.value.split(separator: ".", omittingEmptySubsequences: false).map(String.init) ?? []
        let fromID = parts.count == 3 ? (hub: parts[1], title: parts[2]) : nil
        if let id, fromID == nil {
            reader.report(
                .suspicious, "id", at: id.position, "should be zone, hub and title with dots between",
                example: #""id": "z1.my-hub.front-door""#)
        }
        let hub = reader.text("hub", required: fromID == nil, example: #""hub": "my-hub""#)
        let title = reader.text("title", required: fromID == nil, example: #""title": "front-door""#)
        if let id, let fromID, let hub, let title, fromID != (hub.value, title.value) {
            reader.report(
                .suspicious, "id", at: id.position,
                "contradicts \"hub\" and \"title\"; those are used")
        }
        // Each is checked separately, so that a fault in one does not hide a fault in the other.
        let hubName = hub?.value ?? fromID?.hub
        let hubIsValid = hubName.map { Self.isName($0, lengths: 1...100) } ?? false
        if hubName != nil, !hubIsValid {
            reader.report(
                .invalidValue, hub == nil ? "id" : "hub", at: (hub ?? id)?.position,
                "the hub may contain only letters, digits, hyphens and underscores", example: #""hub": "my-hub""#)
        }
        let titleName = title?.value ?? fromID?.title
        let titleIsValid = titleName.map { Self.isName($0, lengths: 4...100) } ?? false
        if titleName != nil, !titleIsValid {
            reader.report(
                .invalidValue, title == nil ? "id" : "title", at: (title ?? id)?.position,
                "the title must have 4 to 100 letters, digits, hyphens and underscores",
                example: #""title": "front-door""#)
        }
        guard let hubName, let titleName, hubIsValid, titleIsValid else { return nil }
        return (hubName, titleName)
    }

    private static func readSecurity(_ reader: inout DescriptionReader) -> Security? {
        let words = ["dynamic", "static", "expiring", "none"]
        let example = #""publishSecurity": "dynamic""#
        let isGiven = reader.has("publishSecurity")
        let word = reader.choice("publishSecurity", of: words, example: example)
        let keyExample = #""publishKey": "key-from-the-console""#
        let key = reader.text("publishKey", required: word != "none", example: keyExample)
        let lifetime = reader.integer(
            "publishLifetime", in: 10...604_800, unit: "seconds", example: #""publishLifetime": 3600"#)
        if lifetime != nil, word != "expiring" {
            reader.report(
                .suspicious, "publishLifetime", "only applies with \"publishSecurity\": \"expiring\"")
        }
        if word == "none" { return Security.none }
        guard let key else { return nil }
        guard !key.value.isEmpty, key.value.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            reader.report(
                .invalidValue, "publishKey", at: key.position,
                key.value.isEmpty ? "is empty" : "holds a space or control character", example: keyExample)
            return nil
        }
        let secret = Secret(key.value)
        switch word {
        case "static": return .static(key: secret)
        case "expiring": return .expiring(key: secret, lifetime: .seconds(lifetime?.value ?? 3600))
        case "dynamic": return .dynamic(key: secret)
        default: return isGiven ? nil : .dynamic(key: secret)
        }
    }

    private static func readHost(_ reader: inout DescriptionReader) -> NetworkHost? {
        let example = #""rtmp": "publish.example.com""#
        guard let text = reader.text("rtmp", required: true, example: example) else { return nil }
        do {
            return try NetworkHost(parsing: text.value)
        } catch {
            reader.report(.invalidValue, "rtmp", at: text.position, error.problem, example: example)
            return nil
        }
    }

    private static func isName(_ text: String, lengths: ClosedRange<Int>) -> Bool {
        lengths.contains(text.utf8.count)
            && text.utf8.allSatisfy {
                $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }
}
