/// A fault in `stream.json` or one of its siblings, described so that the reader can repair it. Never contains a
/// secret's value.
public struct DescriptionFault: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Not JSON, so nothing else could be checked.
        case syntax
        case missing
        case wrongType
        case invalidValue
        /// The same name twice in one object.
        case duplicate
        /// The file is correct, but the stream is disabled.
        case disabled
        /// An unknown name; the file still works.
        case unknownKey
        /// Allowed, but probably a mistake; the file still works.
        case suspicious
        /// Correct, but the file or device it names is missing or does not work.
        case unavailable
    }

    public let kind: Kind
    /// Dotted names from the root, as in `hosts.publish.rtmp`; empty for the file as a whole.
    public let keyPath: String
    public let position: TextPosition
    public let problem: String
    /// A correct entry, as written in the file.
    public let example: String?

    public init(kind: Kind, keyPath: String, position: TextPosition, problem: String, example: String? = nil) {
        self.kind = kind
        self.keyPath = Self.printable(keyPath)
        self.position = position
        self.problem = problem
        self.example = example
    }

    /// Names in a file are arbitrary: before printing, control characters are replaced and the length is limited.
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

    /// Whether the file works despite the fault.
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
