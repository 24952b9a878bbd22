/// A JSON value (RFC 8259) with its position in the file.
///
/// It prints as its kind and position, never as its content, which may be a secret.
public struct JSONValue: Sendable {
    public enum Content: Sendable {
        case null
        case bool(Bool)
        /// A number without fraction or exponent that fits.
        case integer(Int64)
        /// Any other number; always finite.
        case number(Double)
        case string(String)
        case array([JSONValue])
        /// In file order, including duplicates.
        case object([Member])
    }

    public struct Member: Sendable {
        public let name: String
        public let namePosition: TextPosition
        public let value: JSONValue

        public init(name: String, namePosition: TextPosition, value: JSONValue) {
            self.name = name
            self.namePosition = namePosition
            self.value = value
        }
    }

    public let content: Content
    public let position: TextPosition

    public init(_ content: Content, at position: TextPosition = .start) {
        self.content = content
        self.position = position
    }

    /// The members of an object; `nil` for other kinds.
    public var members: [Member]? {
        if case .object(let members) = content { members } else { nil }
    }

    /// The value of the first member with this name; `nil` if there is no such member.
    public subscript(name: String) -> JSONValue? {
        members?.first { $0.name == name }?.value
    }

    /// The kind for messages: "text", "a number".
    public var kind: String {
        switch content {
        case .null: "null"
        case .bool: "true or false"
        case .integer, .number: "a number"
        case .string: "text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

extension JSONValue {
    /// A name that occurs twice in an object.
    public struct DuplicateMember: Hashable, Sendable {
        /// Dotted names from the root; list elements as `[0]`.
        public let path: String
        public let position: TextPosition
        public let firstPosition: TextPosition
    }

    /// Second and later uses of a name within one object, anywhere in the tree, in file order.
    /// - Parameter limit: the most to report. Garbage may contain very many, with paths of any length.
    public func duplicateMembers(limit: Int = 20) -> [DuplicateMember] {
        duplicateMembers(limit: limit, shownName: JSONValue.shownName)
    }

    /// - Parameter shownName: the printable form of a name.
    func duplicateMembers(limit: Int = 20, shownName: (String) -> String) -> [DuplicateMember] {
        withoutActuallyEscaping(shownName) { shownName in
            var search = DuplicateSearch(limit: limit, shownName: shownName)
            search.visit(self)
            return search.found
        }
    }
}

extension JSONValue {
    /// The printable form of an unknown member's name. A secret may have been written in its place, and most secrets
    /// contain digits or are long.
    static func shownName(_ name: String) -> String {
        let isWord = name.utf8.count <= 24 && name.utf8.allSatisfy { $0.isASCIILetter || $0 == UInt8(ascii: "_") }
        return isWord ? name : "***"
    }
}

/// Walks the tree, and formats a path only for duplicates.
private struct DuplicateSearch {
    private enum Step {
        case name(String)
        case index(Int)
    }

    let limit: Int
    let shownName: (String) -> String
    private(set) var found: [JSONValue.DuplicateMember] = []
    private var steps: [Step] = []

    init(limit: Int, shownName: @escaping (String) -> String) {
        self.limit = limit
        self.shownName = shownName
    }

    mutating func visit(_ value: JSONValue) {
        switch value.content {
        case .null, .bool, .integer, .number, .string: break
        case .array(let elements):
            for (index, element) in elements.enumerated() { visit(element, at: .index(index)) }
        case .object(let members):
            var firstPositions: [String: TextPosition] = [:]
            for member in members {
                if let first = firstPositions[member.name] {
                    report(member, firstPosition: first)
                } else {
                    firstPositions[member.name] = member.namePosition
                }
                visit(member.value, at: .name(member.name))
            }
        }
    }

    private mutating func visit(_ value: JSONValue, at step: Step) {
        guard found.count < limit else { return }
        steps.append(step)
        visit(value)
        steps.removeLast()
    }

    private mutating func report(_ member: JSONValue.Member, firstPosition: TextPosition) {
        guard found.count < limit else { return }
        let path = (steps + [.name(member.name)]).reduce(into: "") { path, step in
            switch step {
            case .name(let name): path += (path.isEmpty ? "" : ".") + shownName(name)
            case .index(let index): path += "[\(index)]"
            }
        }
        found.append(
            JSONValue.DuplicateMember(path: path, position: member.namePosition, firstPosition: firstPosition))
    }
}

extension JSONValue: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(kind) at \(position)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension JSONValue.Member: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String { "\(name): \(value)" }
    public var debugDescription: String { description }
}
