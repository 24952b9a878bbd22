/// Text that must stay hidden: a key, a password, a signed stream name.
///
/// It prints, dumps and mirrors as `<redacted>`, so types that contain it are safe to log.
public struct Secret: Hashable, Sendable {
    /// The text itself, only for the code that sends it or computes with it.
    public let revealed: String

    public init(_ text: String) { revealed = text }
}

/// A person's input in quotes, for messages that may be stored. A URL may contain a misplaced key, so only its scheme
/// remains. Control characters, which a terminal would act on, become question marks.
public func quoted(_ typed: some StringProtocol) -> String {
    guard typed.unicodeScalars.allSatisfy({ !$0.isControl }) else {
        return quoted(String(String.UnicodeScalarView(typed.unicodeScalars.map { $0.isControl ? "?" : $0 })))
    }
    let bytes = typed.utf8
    guard let mark = bytes.indices.first(where: { bytes[$0...].starts(with: "://".utf8) }) else {
        return "\"\(typed)\""
    }
    return "\"\(typed[..<mark])://***\""
}

/// Literals in the source are not secret.
extension Secret: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
