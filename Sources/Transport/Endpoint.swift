/// A host and a TCP port, as people write them.
public struct Endpoint: Hashable, Sendable {
    /// A host name, an IPv4 address, or an IPv6 address without brackets; empty stands for all addresses.
    public let host: String
    public let port: UInt16

    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Parses `HOST:PORT`. An IPv6 address needs brackets: `[::1]:1935`.
    /// - Parameter defaultPort: used if `:PORT` is missing; `nil` makes the port mandatory.
    public init(parsing text: String, defaultPort: UInt16? = nil) throws(EndpointError) {
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7f || "/?#@".utf8.contains($0) })
        else { throw .invalidHost(Self.withoutSecrets(text)) }
        let (host, portText) = try Self.split(text)
        guard !host.contains(where: { "[]".contains($0) }) else { throw .invalidHost(text) }
        if let portText {
            guard portText.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(portText) else {
                throw .invalidPort(portText, in: text)
            }
            self.init(host: host, port: port)
        } else {
            guard let defaultPort else { throw .missingPort(text) }
            self.init(host: host, port: defaultPort)
        }
    }

    /// The part of an invalid `HOST:PORT` that may be shown: a URL's path and user hold secrets.
    private static func withoutSecrets(_ text: String) -> String {
        guard !text.contains("@") else { return "…" }
        let shown = text.prefix { !"/?#".contains($0) }
        return shown.count == text.count ? text : shown + "…"
    }

    private static func split(_ text: String) throws(EndpointError) -> (host: String, port: String?) {
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw .missingBracket(text) }
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { throw .invalidHost(text) }
            return (
                String(text[text.index(after: text.startIndex)..<end]), rest.isEmpty ? nil : String(rest.dropFirst())
            )
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2 else { throw .missingBracket(text) }
        return (String(parts[0]), parts.count == 2 ? String(parts[1]) : nil)
    }
}

extension Endpoint: CustomStringConvertible {
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Why a text is not a valid `HOST:PORT`.
public enum EndpointError: Error, Hashable, Sendable, CustomStringConvertible {
    case missingPort(String)
    case invalidPort(String, in: String)
    case missingBracket(String)
    case invalidHost(String)

    public var description: String {
        switch self {
        case .missingPort(let text): "\"\(text)\" has no port: write HOST:PORT, for example 127.0.0.1:1935"
        case .invalidPort(let port, let text):
            "\"\(port)\" in \"\(text)\" is not a port; a port is a number from 0 to 65535"
        case .missingBracket(let text):
            "\"\(text)\": write an IPv6 address in brackets, for example [::1]:1935"
        case .invalidHost(let text): "\"\(text)\" is not in the form HOST:PORT, for example 127.0.0.1:1935"
        }
    }
}
