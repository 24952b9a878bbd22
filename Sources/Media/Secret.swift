/// Text that must not be seen: a key, a password, a signed stream name.
///
/// It prints, dumps and mirrors as `<redacted>`, so that a type that holds it is safe to log.
public struct Secret: Hashable, Sendable {
    /// The text itself, for the one place that sends it or computes with it.
    public let revealed: String

    public init(_ text: String) { revealed = text }
}

/// What a person has typed, in quotes, for a message that answers it and that may be kept: of a URL, which holds a key
/// where it was typed in the wrong place, only the scheme is left. Control characters, which a terminal would act on, are question marks.
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

/// What stands in the source is no secret of anybody.
extension Secret: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) { self.init(text) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
