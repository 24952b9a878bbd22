/// A header, or a pair of a query.
package struct HTTPField: Hashable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// Header fields in their order. Names are compared without case. Printed without the values: some are keys.
package struct HTTPHeaders: Hashable, Sendable {
    package private(set) var fields: [HTTPField] = []

    package init(_ fields: [HTTPField] = []) { self.fields = fields }

    package var count: Int { fields.count }

    /// The value of a header. Several headers of the same name are one list (RFC 9110 section 5.3).
    package subscript(name: String) -> String? {
        let values = values(of: name)
        guard let first = values.first else { return nil }
        let separator = Self.isSame(name, "cookie") ? "; " : ", "
        return values.dropFirst().reduce(first) { $0 + separator + $1 }
    }

    package func values(of name: String) -> [String] {
        fields.filter { Self.isSame($0.name, name) }.map(\.value)
    }

    mutating func append(_ field: HTTPField) { fields.append(field) }

    mutating func remove(_ name: String) { fields.removeAll { Self.isSame($0.name, name) } }

    /// The members of a comma-separated list without quoted strings, in lowercase.
    func list(_ name: String) -> [String] {
        guard let value = self[name] else { return [] }
        return Array(value.utf8).split(separator: .comma).map(\.trimmed).filter { !$0.isEmpty }.map {
            String(decoding: $0.map(\.asciiLowercased), as: UTF8.self)
        }
    }

    static func isSame(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count
            && zip(one.utf8, other.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "\(fields.map(\.name))" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
