import Media

extension RTMPURL {
    /// What `connect` names as `tcUrl`: the URL without credentials and stream.
    public var tcURL: Secret { Secret("\(origin)/\(applicationWithQuery.revealed)") }

    /// What `connect` names as `app`.
    var applicationWithQuery: Secret { Secret(application + (applicationQuery.map { "?" + $0.revealed } ?? "")) }
}

extension RTMPURL {
    /// Nothing shorter is taken for a part of a secret: it would blot out ordinary words.
    private static let shortestPart = 8
    /// What of a server's words is looked at, in bytes; more than is shown.
    private static let longestText = 4096

    /// `text` with everything secret of this URL replaced, for words that a server said and that may repeat it: as it
    /// is, in other case, percent-encoded, or cut short. Control and format characters become blanks, and at most
    /// 200 Unicode scalars are kept: of characters, which may be combined of any number of scalars, one alone could
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

    /// Stream name, queries, their values, the password and what the application hides, each as it is and percent-encoded.
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
        // Very short values would blot out ordinary words; they protect nothing either.
        return plain.filter { $0.utf8.count >= 4 }.flatMap { [$0, Self.percentEncoded($0)] }
    }

    /// How many bytes from `position` on are the secret's, from its start; 0 when they are too few.
    private static func length(of secret: [UInt8], at position: Int, in bytes: [UInt8]) -> Int {
        let length = zip(secret, bytes[position...]).prefix { lowercased($0) == lowercased($1) }.count
        return length == secret.count || length >= shortestPart ? length : 0
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// All but the unreserved characters (RFC 3986 section 2.3).
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
