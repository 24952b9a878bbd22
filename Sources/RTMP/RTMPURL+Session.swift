import Media

extension RTMPURL {
    /// The `tcUrl` of `connect`: the URL without credentials and stream.
    public var tcURL: Secret { Secret("\(origin)/\(applicationWithQuery.revealed)") }

    /// The `app` of `connect`.
    var applicationWithQuery: Secret { Secret(application + (applicationQuery.map { "?" + $0.revealed } ?? "")) }
}

extension RTMPURL {
    /// Shorter matches do not count as parts of a secret, since they would hide ordinary words.
    private static let shortestPart = 8
    /// How much of a server's text is searched, in bytes; more than is shown.
    private static let longestText = 4096

    /// `text` with all secrets of this URL replaced, for text from a server that may repeat them: unchanged, in another
    /// case, percent-encoded, or truncated. Control and format characters become blanks, and at most 200 Unicode
    /// scalars are kept. Characters could not be counted instead: a single one may combine any number of scalars and
    /// fill the log.
    func redacted(_ text: String) -> String {
        let hidden = secrets.map { Array($0.utf8) }
        let bytes = Array(text.utf8.prefix(Self.longestText))
        var result: [UInt8] = []
        var position = 0
        while position < bytes.count {
            let length = hidden.map { Self.length(of: $0, at: position, in: bytes) }.max() ?? 0
            if length > 0 {
                result += "***".utf8
                position += length
            } else {
                result.append(bytes[position])
                position += 1
            }
        }
        return String(
            String.UnicodeScalarView(
                String(decoding: result, as: UTF8.self).unicodeScalars.prefix(200).map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator: " "
                    default: scalar
                    }
                }))
    }

    /// Stream name, queries, their values, the password and the application's hidden parts, both plain and
    /// percent-encoded.
    private var secrets: [String] {
        let halves = streamName.revealed.split(separator: "?", maxSplits: 1).map(String.init)
        var queries = Array(halves.dropFirst())
        if let applicationQuery { queries.append(applicationQuery.revealed) }
        var plain = [streamName.revealed]
        plain += halves.prefix(1)
        plain += queries
        for query in queries {
            for parameter in query.split(separator: "&") {
                plain += parameter.split(separator: "=", maxSplits: 1).dropFirst().map(String.init)
            }
        }
        if let credentials { plain.append(credentials.password) }
        plain += hiddenApplicationParts
        // Very short values would hide ordinary words and protect nothing.
        return plain.filter { $0.utf8.count >= 4 }.flatMap { [$0, Self.percentEncoded($0)] }
    }

    /// Length of the match between the start of the secret and the bytes from `position`; 0 if it is too short.
    private static func length(of secret: [UInt8], at position: Int, in bytes: [UInt8]) -> Int {
        let length = zip(secret, bytes[position...]).prefix { lowercased($0) == lowercased($1) }.count
        return length == secret.count || length >= shortestPart ? length : 0
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Encodes all but the unreserved characters (RFC 3986 section 2.3).
    private static func percentEncoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                [byte]
            default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
