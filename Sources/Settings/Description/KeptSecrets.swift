/// The secrets in a description file's text, for someone who may edit the file without seeing them.
///
/// Reads the text word by word, not as JSON: a file with an error must be repaired without showing its secrets.
public struct KeptSecrets: Sendable {
    /// Names whose values are secret as a whole.
    private static let names: Set<String> = ["key", "publishKey", "password"]
    /// The path of a URL holds the stream's key.
    private static let urlName = "url"

    private let text: [UInt8]
    /// The places of the secrets, in order.
    private let places: [Range<Int>]

    public init(in text: [UInt8]) {
        self.text = text
        places = SecretSearch(text).places
    }

    /// The text with `(kept 1)`, `(kept 2)` and so on in place of its secrets.
    public var masked: [UInt8] {
        replacing(places) { number, _ in Self.placeholder(number) }
    }

    /// Puts secrets back into an edited text. A placeholder counts only as a secret's whole value; elsewhere it stays text.
    /// - Parameter edited: a masked text as someone has changed it.
    public func restored(in edited: [UInt8]) -> [UInt8] {
        let other = KeptSecrets(in: edited)
        let known = Dictionary(
            uniqueKeysWithValues: places.enumerated().map { (Self.placeholder($0.offset + 1), $0.element) })
        return other.replacing(other.places) { _, value in known[value].map { Array(text[$0]) } ?? value }
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

    /// - Returns: what of a value is secret; `nil` if nothing is.
    fileprivate static func secret(in value: Range<Int>, of name: ArraySlice<UInt8>, _ text: [UInt8]) -> Range<Int>? {
        guard !value.isEmpty else { return nil }
        let name = String(decoding: name, as: UTF8.self)
        if names.contains(name) { return value }
        return name == urlName ? secret(ofURL: value, text) : nil
    }

    /// Everything behind the application: the key, and a query with it. A user and password before the host make the whole
    /// address secret.
    private static func secret(ofURL value: Range<Int>, _ text: [UInt8]) -> Range<Int>? {
        let url = text[value]
        if url.contains(UInt8(ascii: "@")) { return value }
        let slashes = url.indices.filter { url[$0] == UInt8(ascii: "/") }
        let query = url.firstIndex(of: UInt8(ascii: "?"))
        let key = slashes.count >= 4 ? slashes[3] + 1 : value.upperBound
        let start = min(key, query.map { $0 + 1 } ?? value.upperBound)
        return start < value.upperBound ? start..<value.upperBound : nil
    }
}

/// Finds `"name": value` pairs in text that need not be correct JSON.
private struct SecretSearch {
    private let text: [UInt8]
    private var position = 0
    private(set) var places: [Range<Int>] = []

    init(_ text: [UInt8]) {
        self.text = text
        while let name = nextString() {
            // A missing colon must not show a secret either.
            let isNamed = skip(over: UInt8(ascii: ":"))
            guard skip(over: UInt8(ascii: "\"")) else {
                if isNamed, let secret = KeptSecrets.secret(in: restOfWord(), of: text[name], text) {
                    places.append(secret)
                }
                continue
            }
            let value = restOfString()
            if let secret = KeptSecrets.secret(in: value, of: text[name], text) { places.append(secret) }
        }
    }

    /// - Returns: what stands between the next quotes.
    private mutating func nextString() -> Range<Int>? {
        while position < text.count, text[position] != UInt8(ascii: "\"") { position += 1 }
        guard position < text.count else { return nil }
        position += 1
        return restOfString()
    }

    /// Up to the closing quote, or to the end of the line if it is missing. The quote is skipped.
    private mutating func restOfString() -> Range<Int> {
        let start = position
        while position < text.count, text[position] != UInt8(ascii: "\""), text[position] != 0x0A {
            position += text[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(position, text.count)
        defer { if position < text.count { position += 1 } }
        return start..<position
    }

    /// A value without its opening quote, up to the end of the line.
    private mutating func restOfWord() -> Range<Int> {
        let start = position
        while position < text.count, !"\",{}[]\n".utf8.contains(text[position]) { position += 1 }
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
