import Media

/// The two schemes by which servers ask publishers for a password, in their refusal of `connect`.
///
/// On the first connection the refusal names the scheme. On the second, it answers the user name with a challenge. On
/// the third, `connect` contains the response. Each step needs a new connection, and only a query after the
/// application's name changes.
struct Authentication: Sendable {
    enum Scheme: String, Sendable {
        /// Adobe's AccessManager: base64 of MD5.
        case adobe
        /// Limelight's: HTTP digest (RFC 2617) with a fixed realm and method.
        case llnw
    }

    enum Outcome: Equatable {
        /// The refusal is unrelated to passwords.
        case notAsked
        /// Connect again with `query`.
        case tryAgain
        case refused(PublishError)
    }

    private enum Stage {
        case unasked
        case named
        case answered
    }

    /// MD5 of some bytes: 16 bytes.
    typealias Digest = @Sendable ([UInt8]) -> [UInt8]

    private let credentials: Credentials?
    private let application: String
    /// Eight hexadecimal digits, different for each session.
    private let clientNonce: String
    private let digest: Digest?
    private var stage = Stage.unasked
    /// Query to append to the application's name in `connect`; empty until a server has asked.
    private(set) var query = ""

    init(credentials: Credentials?, application: String, randomBytes: ArraySlice<UInt8>, digest: Digest?) {
        self.credentials = credentials
        // The digest covers only the name, without its query.
        self.application = application
        clientNonce = Array((randomBytes.prefix(4) + [0, 0, 0, 0]).prefix(4)).hexadecimal
        self.digest = digest
    }

    mutating func connectRefused(_ description: String) -> Outcome {
        guard let scheme = Self.scheme(in: description) else { return .notAsked }
        guard let credentials, let digest else { return .refused(.credentialsMissing) }
        let fields = Self.fields(in: description)
        if let reason = fields["reason"], reason != "needauth" {
            return .refused(.credentialsRefused(description: String(reason.prefix(40))))
        }
        switch (stage, fields["reason"]) {
        case (.unasked, _):
            stage = .named
            query = "authmod=\(scheme.rawValue)&user=\(credentials.user)"
        case (.named, "needauth"):
            stage = .answered
            query += response(scheme, credentials, fields, digest)
        case (.named, _), (.answered, _):
            return .refused(.credentialsRefused(description: "it asked again after it was answered"))
        }
        return .tryAgain
    }

    private static func scheme(in description: String) -> Scheme? {
        description.containsText("authmod=adobe") ? .adobe : description.containsText("authmod=llnw") ? .llnw : nil
    }

    /// The `name=value` pairs after the question mark.
    private static func fields(in description: String) -> [String: String] {
        guard let mark = description.firstIndex(of: "?") else { return [:] }
        var fields: [String: String] = [:]
        for pair in description[description.index(after: mark)...].split(whereSeparator: { $0 == "&" || $0 == " " }) {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if halves.count == 2 { fields[String(halves[0])] = String(halves[1]) }
        }
        return fields
    }

    private func response(
        _ scheme: Scheme, _ credentials: Credentials, _ fields: [String: String], _ digest: Digest
    ) -> String {
        switch scheme {
        case .adobe: adobeResponse(credentials, fields, digest)
        case .llnw: llnwResponse(credentials, fields, digest)
        }
    }

    private func adobeResponse(_ credentials: Credentials, _ fields: [String: String], _ digest: Digest) -> String {
        let opaque = fields["opaque"] ?? ""
        let seed = opaque.isEmpty ? fields["challenge"] ?? "" : opaque
        let secret = Self.base64(digest, credentials.user + (fields["salt"] ?? "") + credentials.password)
        let response = Self.base64(digest, secret + seed + clientNonce)
        return "&challenge=\(clientNonce)&response=\(response)" + (opaque.isEmpty ? "" : "&opaque=\(opaque)")
    }

    private func llnwResponse(_ credentials: Credentials, _ fields: [String: String], _ digest: Digest) -> String {
        let nonce = fields["nonce"] ?? ""
        let count = "00000001"
        // An application without an instance uses the default one.
        let path = "/" + application + (application.contains("/") ? "" : "/_definst_")
        let secret = Self.hexadecimal(digest, "\(credentials.user):live:\(credentials.password)")
        let call = Self.hexadecimal(digest, "publish:\(path)")
        let response = Self.hexadecimal(digest, "\(secret):\(nonce):\(count):\(clientNonce):auth:\(call)")
        return "&nonce=\(nonce)&cnonce=\(clientNonce)&nc=\(count)&response=\(response)"
    }

    private static func base64(_ digest: Digest, _ text: String) -> String { digest(Array(text.utf8)).base64 }
    private static func hexadecimal(_ digest: Digest, _ text: String) -> String { digest(Array(text.utf8)).hexadecimal }
}

extension String {
    /// Whether `pattern` occurs. The standard library's search compares characters, which text from a server may
    /// combine.
    fileprivate func containsText(_ pattern: String) -> Bool {
        let bytes = Array(utf8)
        let wanted = Array(pattern.utf8)
        guard bytes.count >= wanted.count else { return false }
        return (0...bytes.count - wanted.count).contains { bytes[$0..<$0 + wanted.count].elementsEqual(wanted) }
    }
}
