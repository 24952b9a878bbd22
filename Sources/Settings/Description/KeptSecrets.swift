/// The secrets in a description file's text, for someone who may edit the file without seeing them.
///
/// A file that is not JSON must be repaired without showing its secrets: there, every line that may hold one is hidden from the name on.
public struct KeptSecrets: Sendable {
    /// What names of secrets have in them, in lower case. A file that needs help may call them "streamKey" or "psk".
    private static let parts = ["key", "pass", "psk", "secret", "token"]
    /// The path of a URL holds the stream's key.
    private static let urlName = "url"
    fileprivate static let words = (parts + [urlName, "://"]).map { Array($0.utf8) }

    private let text: [UInt8]
    /// The places of the secrets, in order.
    private let places: [Range<Int>]

    /// - Parameter isCorrect: whether it is JSON.
    public init(in text: [UInt8], isCorrect: Bool) {
        self.text = text
        places = SecretSearch(text, isCorrect: isCorrect).places
    }

    /// The text with `(kept 1)`, `(kept 2)` and so on in place of its secrets.
    public var masked: [UInt8] {
        replacing(places) { number, _ in Self.placeholder(number) }
    }

    /// Puts secrets back into an edited text. A placeholder counts only as a secret's whole value; elsewhere it stays text.
    /// - Parameter edited: a masked text as someone has changed it; it is searched like this one.
    public func restored(in edited: [UInt8], isCorrect: Bool) -> [UInt8] {
        let other = KeptSecrets(in: edited, isCorrect: isCorrect)
        let known = Dictionary(
            uniqueKeysWithValues: places.enumerated().map { (Self.placeholder($0.offset + 1), $0.element) })
        return other.replacing(other.places) { _, value in known[value].map { Array(text[$0]) } ?? value }
    }

    /// Another text without these secrets, which it should not have. Short ones could be any word.
    public func removed(from other: [UInt8]) -> [UInt8] {
        let secrets = places.map { text[$0] }.filter { $0.count >= 6 }
        var (result, rest) = ([UInt8](), other[...])
        while let byte = rest.first {
            if let secret = secrets.first(where: { $0.first == byte && rest.starts(with: $0) }) {
                result += "(kept)".utf8
                rest = rest.dropFirst(secret.count)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    private static func placeholder(_ number: Int) -> [UInt8] { Array("(kept \(number))".utf8) }

    private func replacing(_ places: [Range<Int>], with replacement: (Int, [UInt8]) -> [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var end = 0
        for (index, place) in places.enumerated() {
            result += text[end..<place.lowerBound] + replacement(index + 1, Array(text[place]))
            end = place.upperBound
        }
        return result + text[end...]
    }

    fileprivate static func isSecret(_ name: ArraySlice<UInt8>) -> Bool {
        let lower = name.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
        // An escaped name may be any.
        return lower.contains(UInt8(ascii: "\\")) || parts.contains { find(Array($0.utf8), in: lower[...]) != nil }
    }

    /// - Returns: the index behind the word.
    fileprivate static func find(_ word: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        guard text.count >= word.count else { return nil }
        return (text.startIndex...text.endIndex - word.count).first { text[$0...].starts(with: word) }
            .map { $0 + word.count }
    }

    /// - Returns: what of a value is secret; `nil` if nothing is.
    fileprivate static func secret(in value: Range<Int>, of name: ArraySlice<UInt8>, _ text: [UInt8]) -> Range<Int>? {
        guard !value.isEmpty else { return nil }
        if isSecret(name) { return value }
        let isURL = String(decoding: name, as: UTF8.self).lowercased() == urlName
        // A user and password before the host make the whole address secret, and so do escapes. A URL under another name, or
        // in a list, is one all the same; other text may have an "@" beside it.
        guard let host = find(Array("://".utf8), in: text[value]) else { return isURL ? value : nil }
        let authority = text[host..<value.upperBound].prefix { !"/ ".utf8.contains($0) }
        let isHidden = isURL ? text[value].contains { "@\\".utf8.contains($0) } : authority.contains(UInt8(ascii: "@"))
        return isHidden ? value : secret(ofURL: value, text)
    }

    /// Everything behind the application: the key, and a query with it.
    private static func secret(ofURL value: Range<Int>, _ text: [UInt8]) -> Range<Int>? {
        let url = text[value]
        let slashes = url.indices.filter { url[$0] == UInt8(ascii: "/") }
        let query = url.firstIndex(of: UInt8(ascii: "?"))
        let key = slashes.count >= 4 ? slashes[3] + 1 : value.upperBound
        let start = min(key, query.map { $0 + 1 } ?? value.upperBound)
        return start < value.upperBound ? start..<value.upperBound : nil
    }
}

/// Finds `"name": value` pairs in JSON. In other text, everything behind a name that may be a secret's.
private struct SecretSearch {
    private let text: [UInt8]
    private var position = 0
    private(set) var places: [Range<Int>] = []

    init(_ text: [UInt8], isCorrect: Bool) {
        self.text = text
        // Another encoding hides names from this search.
        guard String(validating: text, as: UTF8.self) != nil, !text.contains(0) else {
            places = text.isEmpty ? [] : [0..<text.count]
            return
        }
        if isCorrect { searchValues() } else { searchLines() }
    }

    private mutating func searchValues() {
        while let name = nextString() {
            guard skip(over: UInt8(ascii: ":")) else {
                // In a list.
                if let secret = KeptSecrets.secret(in: name, of: [], text) { places.append(secret) }
                continue
            }
            guard skip(over: UInt8(ascii: "\"")) else {
                // Not text, which is an error, but may show the secret.
                guard KeptSecrets.isSecret(text[name]), position < text.count else { continue }
                let start = position
                skipLines()
                if start < position { places.append(start..<position) }
                continue
            }
            if let secret = KeptSecrets.secret(in: nextRest(), of: text[name], text) { places.append(secret) }
        }
    }

    /// From the first such name to the end of its line; a value that does not end there goes on in the next one.
    private mutating func searchLines() {
        var isOpen = false
        for line in text.indices.split(whereSeparator: { text[$0] == 0x0A }) {
            let lower = text[line].map { (65...90).contains($0) ? $0 | 0x20 : $0 }
            let ends = KeptSecrets.words.compactMap { KeptSecrets.find($0, in: lower[...]) }
            guard isOpen || !ends.isEmpty else { continue }
            let start = line.startIndex + (isOpen ? 0 : ends.min() ?? 0)
            let last = text[start..<line.endIndex].last { !" \t\r".utf8.contains($0) }
            let quotes = text[start..<line.endIndex].count { $0 == UInt8(ascii: "\"") }
            if start < line.endIndex { places.append(start..<line.endIndex) }
            isOpen = !ends.isEmpty && (quotes % 2 == 0 || last.map { ":=[".utf8.contains($0) } ?? true)
        }
    }

    /// To the end of the line in which all brackets are closed.
    private mutating func skipLines() {
        var depth = 0
        while position < text.count, depth > 0 || text[position] != 0x0A {
            switch text[position] {
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: "\""):
                position += 1
                _ = nextRest()
                continue
            default: break
            }
            position += 1
        }
    }

    /// - Returns: what stands between the next quotes.
    private mutating func nextString() -> Range<Int>? {
        while position < text.count, text[position] != UInt8(ascii: "\"") { position += 1 }
        guard position < text.count else { return nil }
        position += 1
        return nextRest()
    }

    /// Up to the closing quote, which is skipped.
    private mutating func nextRest() -> Range<Int> {
        let start = position
        while position < text.count, text[position] != UInt8(ascii: "\"") {
            position += text[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(position, text.count)
        defer { if position < text.count { position += 1 } }
        return start..<position
    }

    /// Skips white space, and the character if it follows.
    private mutating func skip(over character: UInt8) -> Bool {
        while position < text.count, " \t\r\n".utf8.contains(text[position]) { position += 1 }
        guard position < text.count, text[position] == character else { return false }
        position += 1
        return true
    }
}
