/// A host name or address with an optional port, as in URLs (RFC 3986 section 3.2.2).
public struct NetworkHost: Hashable, Sendable {
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    public let name: String
    /// Not 0.
    public let port: UInt16?

    public enum Fault: Error, Hashable, Sendable {
        case empty
        /// A whole URL or a path instead of a host.
        case hasSchemeOrPath
        case badName
        case badPort

        public var problem: String {
            switch self {
            case .empty: "the host is empty"
            case .hasSchemeOrPath: "must be only a host, without rtmp:// or a path"
            case .badName:
                "must be a host name (letters, digits, hyphens and dots), an IPv4 address, or an IPv6 address in square brackets"
            case .badPort: "the port after the colon must be a number from 1 to 65535"
            }
        }
    }

    public init(parsing text: String) throws(Fault) {
        guard !text.isEmpty else { throw .empty }
        guard !text.utf8.contains(UInt8(ascii: "/")) else { throw .hasSchemeOrPath }
        let portText: Substring?
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { throw .badName }
            name = String(text[text.index(after: text.startIndex)..<close])
            guard Self.isIPv6Address(name) else { throw .badName }
            let rest = text[text.index(after: close)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { throw .badName }
            portText = rest.isEmpty ? nil : rest.dropFirst()
        } else {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            name = Self.withoutFinalDot(parts.first ?? "")
            // Several colons mean an IPv6 address without brackets.
            if name.isEmpty, parts.last?.first != ":" { throw .empty }
            guard Self.isHostName(name) else { throw .badName }
            portText = parts.count > 1 ? parts.last : nil
        }
        guard let portText else {
            port = nil
            return
        }
        guard portText.utf8.count <= 5, portText.utf8.allSatisfy(\.isASCIIDigit), let number = UInt16(portText),
            number > 0
        else { throw .badPort }
        port = number
    }

    /// A final dot marks a name as complete (RFC 1034 section 3.1). Certificates and services use the name without it.
    private static func withoutFinalDot(_ text: Substring) -> String {
        String(text.utf8.last == UInt8(ascii: ".") ? text.dropLast() : text)
    }

    /// RFC 1123 section 2.1; like resolvers, it accepts underscores. Digits alone must be an IPv4 address.
    private static func isHostName(_ text: String) -> Bool {
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= 253, labels.allSatisfy({ isLabel($0) }) else { return false }
        guard labels.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) }) else { return true }
        return isIPv4Address(text[...])
    }

    private static func isIPv4Address(_ text: Substring) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy {
                (1...3).contains($0.count) && $0.allSatisfy(\.isASCIIDigit)
                    && (Int(String(Substring($0))) ?? 256) <= 255
            }
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
            && label.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == hyphen || $0 == UInt8(ascii: "_") }
    }

    /// RFC 4291 section 2.2 with an IPv4 tail in dots, and with a zone (RFC 4007 section 11) after a percent sign.
    private static func isIPv6Address(_ text: String) -> Bool {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard var address = parts.first, parts.count == 1 || isZone(parts[1]) else { return false }
        if let colon = address.lastIndex(of: ":") {
            let tail = address[address.index(after: colon)...]
            // The tail counts as two groups.
            if isIPv4Address(tail) { address = address[...colon] + "0:0" }
        }
        // At most one "::" replaces one or more groups of zeros.
        var halves: [Substring] = [address]
        if let gap = address.indices.first(where: { address[$0...].hasPrefix("::") }) {
            halves = [address[..<gap], address[address.index(gap, offsetBy: 2)...]]
        }
        let groups = halves.flatMap { $0.isEmpty ? [] : $0.split(separator: ":", omittingEmptySubsequences: false) }
        return (halves.count == 2 ? groups.count <= 7 : groups.count == 8)
            && groups.allSatisfy { (1...4).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isASCIIHexDigit) }
    }

    /// The name or number of a link.
    private static func isZone(_ text: Substring) -> Bool {
        (1...15).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "-_.".utf8.contains($0) }
    }
}

extension NetworkHost: CustomStringConvertible {
    /// As in a URL, with brackets and port.
    public var description: String {
        let host = name.utf8.contains(UInt8(ascii: ":")) ? "[\(name)]" : name
        return port.map { "\(host):\($0)" } ?? host
    }
}
