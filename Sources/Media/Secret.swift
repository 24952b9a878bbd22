/// Text that must not be seen: a key, a password, a signed stream name.
///
/// It prints, dumps and mirrors as `<redacted>`, so that a type that holds it is safe to log.
public struct Secret: Hashable, Sendable {
    /// The text itself, for the one place that sends it or computes with it.
    public let revealed: String

    public init(_ text: String) { revealed = text }
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
