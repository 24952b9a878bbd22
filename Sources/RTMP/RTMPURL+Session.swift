import Media

extension RTMPURL {
    /// What `connect` names as `tcUrl`: the URL without credentials and stream.
    public var tcURL: String { "\(origin)/\(application)" }
}

extension RTMPURL {
    /// `text` with everything secret of this URL replaced, for words that a server said and that may repeat it.
    /// Control and format characters become blanks, and at most 200 Unicode scalars are kept: of characters,
    /// which may be combined of any number of scalars, one alone could fill the log.
    func redacted(_ text: String) -> String {
        var secrets = [streamName]
        for part in [streamName, application] {
            let halves = part.split(separator: "?", maxSplits: 1)
            if part == streamName, let name = halves.first { secrets.append(String(name)) }
            guard halves.count == 2 else { continue }
            secrets.append(String(halves[1]))
            for pair in halves[1].split(separator: "&") {
                if let value = pair.split(separator: "=", maxSplits: 1).dropFirst().first {
                    secrets.append(String(value))
                }
            }
        }
        if let credentials { secrets.append(credentials.password) }
        var result = Array(text.utf8)
        // Very short values would blot out ordinary words; they protect nothing either.
        for secret in secrets.sorted(by: { $0.utf8.count > $1.utf8.count }) where secret.utf8.count >= 4 {
            result.replaceOccurrences(of: Array(secret.utf8), with: Array("***".utf8))
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
}

extension [UInt8] {
    mutating func replaceOccurrences(of pattern: [UInt8], with replacement: [UInt8]) {
        guard !pattern.isEmpty, count >= pattern.count else { return }
        var result: [UInt8] = []
        var position = 0
        while position < count {
            if count - position >= pattern.count, self[position..<position + pattern.count].elementsEqual(pattern) {
                result += replacement
                position += pattern.count
            } else {
                result.append(self[position])
                position += 1
            }
        }
        self = result
    }
}
