import Media

/// The browsers that may use the page. Only hashes of their keys are kept.
package struct BrowserKeys: Hashable, Sendable {
    /// The oldest makes room for a sixth one.
    package static let limit = 5
    /// Bytes of a key, and of its hash (SHA-256).
    package static let byteCount = 32

    package struct Key: Hashable, Sendable {
        /// The SHA-256 of the key.
        package let hash: [UInt8]
        /// Seconds since 1970; 0 if the time was not known.
        package let created: Int
        /// For people, such as "Firefox on Android".
        package let name: String

        /// Names the key without telling it.
        package var id: String { Array(hash.prefix(4)).hexadecimal }

        package init(hash: [UInt8], created: Int, name: String) {
            self.hash = hash
            self.created = created
            self.name = name
        }
    }

    /// In the order of their pairing.
    package private(set) var keys: [Key] = []

    package init() {}

    /// - Returns: the key that had to make room.
    package mutating func add(_ key: Key) -> Key? {
        let replaced = keys.count >= Self.limit ? keys.removeFirst() : nil
        keys.append(key)
        return replaced
    }

    /// - Returns: the key; `nil` if no key has this id.
    package mutating func revoke(id: String) -> Key? {
        keys.firstIndex { $0.id == id }.map { keys.remove(at: $0) }
    }

    /// - Parameter hash: of the key that a browser has sent.
    package func key(hashedTo hash: [UInt8]) -> Key? {
        var found: Key?
        // Looks at all of them whichever is right.
        for key in keys where key.hash.isEqualInConstantTime(to: hash) { found = key }
        return found
    }
}

// The file of the state partition: a line for each key with hash, time and name.
extension BrowserKeys {
    package var text: String {
        keys.map { "\($0.hash.hexadecimal) \($0.created) \($0.name)\n" }.joined()
    }

    /// Leaves out lines that are damaged.
    package init(parsing text: String) {
        for line in text.split(separator: "\n").prefix(Self.limit) {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            guard words.count == 3, let hash = [UInt8](hexadecimal: words[0]), hash.count == Self.byteCount,
                let created = Int(words[1])
            else { continue }
            keys.append(Key(hash: hash, created: created, name: words[2]))
        }
    }
}
