import Media

/// The name of one version of a resource (RFC 9110 section 8.8.3).
package struct HTTPEntityTag: Hashable, Sendable {
    /// Without the quotes.
    package let text: String
    /// A weak tag means the same content, but not the same bytes.
    package let isWeak: Bool

    /// - Parameter text: printable ASCII without quotes and spaces; other characters are left out.
    package init(_ text: String, isWeak: Bool = false) {
        self.text = String(decoding: text.utf8.filter { $0.isVisibleASCII && $0 != .quote }, as: UTF8.self)
        self.isWeak = isWeak
    }

    /// As ETag carries it.
    package var headerValue: String { (isWeak ? "W/" : "") + "\"\(text)\"" }
}

/// The value of If-Match, If-None-Match or If-Range.
package enum HTTPTagCondition: Hashable, Sendable {
    /// `*`: any version.
    case any
    /// Empty if the header is malformed: it matches nothing, so a change that If-Match protects is refused.
    case tags([HTTPEntityTag])

    init(_ value: String) {
        let bytes = Array(value.utf8)[...].trimmed
        self = bytes.isCaseless("*") ? .any : .tags(Self.tags(bytes) ?? [])
    }

    /// For If-Match: the bytes must be the same (RFC 9110 section 13.1.1).
    ///
    /// - Parameter current: `nil` if the resource does not exist.
    package func matchesStrongly(_ current: HTTPEntityTag?) -> Bool {
        guard let current else { return false }
        return switch self {
        case .any: true
        case .tags(let tags): !current.isWeak && tags.contains(current)
        }
    }

    /// For If-None-Match: the content must be the same (RFC 9110 section 13.1.2).
    ///
    /// - Parameter current: `nil` if the resource does not exist.
    package func matchesWeakly(_ current: HTTPEntityTag?) -> Bool {
        guard let current else { return false }
        return switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.text == current.text }
        }
    }

    private static func tags(_ bytes: ArraySlice<UInt8>) -> [HTTPEntityTag]? {
        var tags: [HTTPEntityTag] = []
        var rest = bytes
        while !rest.isEmpty {
            let isWeak = rest.starts(with: "W/".utf8)
            if isWeak { rest = rest.dropFirst(2) }
            guard rest.popFirst() == .quote, let end = rest.firstIndex(of: .quote) else { return nil }
            let text = rest[..<end]
            guard text.allSatisfy({ $0.isVisibleASCII || $0 >= 0x80 }) else { return nil }
            if text.allSatisfy(\.isVisibleASCII) {
                tags.append(HTTPEntityTag(String(decoding: text, as: UTF8.self), isWeak: isWeak))
            }
            rest = rest[end...].dropFirst().trimmed
            guard rest.isEmpty || rest.popFirst() == .comma else { return nil }
            rest = rest.trimmed
        }
        return tags
    }
}
