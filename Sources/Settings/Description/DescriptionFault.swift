/// One thing that is wrong in `stream.json` or one of its siblings, said so that the reader can repair it.
/// Never holds the value of a secret.
public struct DescriptionFault: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// No JSON at all, so that nothing else could be checked.
        case syntax
        case missing
        case wrongType
        case invalidValue
        /// The same name twice in one object.
        case duplicate
        /// All is right, but the stream is switched off.
        case disabled
        /// A name that means nothing here; the file still works.
        case unknownKey
        /// Allowed, yet likely a mistake; the file still works.
        case suspicious
        /// Right in itself, but what it names is not there or does not work.
        case unavailable
    }

    public let kind: Kind
    /// Dotted names from the root, as in `hosts.publish.rtmp`; empty for the file as a whole.
    public let keyPath: String
    public let position: TextPosition
    public let problem: String
    /// What would be right, as it is written in the file.
    public let example: String?

    public init(kind: Kind, keyPath: String, position: TextPosition, problem: String, example: String? = nil) {
        self.kind = kind
        self.keyPath = Self.printable(keyPath)
        self.position = position
        self.problem = problem
        self.example = example
    }

    /// A file may hold any name; one that is to be printed has no control characters and an end.
    private static func printable(_ name: String) -> String {
        var text = String(
            String.UnicodeScalarView(
                name.unicodeScalars.prefix(120).map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                        "?"
                    default: scalar
                    }
                }))
        if name.unicodeScalars.count > 120 { text += "..." }
        return text
    }

    /// Whether the file works in spite of it.
    public var isWarning: Bool { kind == .unknownKey || kind == .suspicious }
}

extension DescriptionFault: CustomStringConvertible {
    /// `3:14: hosts.publish.rtmp: what is wrong; for example: "rtmp": "publish.example.com"`
    public var description: String {
        let place = keyPath.isEmpty ? "\(position)" : "\(position): \(keyPath)"
        let warning = isWarning ? "warning: " : ""
        guard let example else { return "\(place): \(warning)\(problem)" }
        return "\(place): \(warning)\(problem); for example: \(example)"
    }
}
