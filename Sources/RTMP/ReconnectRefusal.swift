import Media

/// Why a server's reconnect request cannot be followed.
public enum ReconnectRefusal: Error, Equatable, Sendable {
    case unusable(RTMPURLError)
    case givesUpEncryption
}

extension ReconnectRefusal: CustomStringConvertible {
    /// Does not contain the address, since the server may have put a secret in it.
    public var description: String {
        switch self {
        case .unusable(let error): "the new address from the server is \(error)"
        case .givesUpEncryption: "the new address from the server is not encrypted, unlike this connection"
        }
    }
}

extension RTMPURL {
    /// The target of a server's reconnect request (Enhanced RTMP v2, "Reconnect Request"). Its `tcUrl` may be absolute,
    /// relative to the present one, or missing. The stream name stays the same.
    func reconnectTarget(tcURL reference: String?) throws(ReconnectRefusal) -> RTMPURL {
        guard let reference, !reference.isEmpty else { return self }
        let absolute: String
        if reference.prefix(while: { $0 != "/" }).contains(":") {
            absolute = reference
        } else if reference.hasPrefix("//") {
            absolute = scheme.rawValue + ":" + reference
        } else if reference.hasPrefix("/") {
            absolute = origin + reference
        } else {
            let folder = application.split(separator: "/").dropLast().joined(separator: "/")
            absolute = origin + "/" + (folder.isEmpty ? "" : folder + "/") + reference
        }
        var target: RTMPURL
        do {
            target = try RTMPURL(parsingServer: absolute, streamName: streamName)
        } catch {
            throw .unusable(error)
        }
        guard scheme == .rtmp || target.scheme == .rtmps else { throw .givesUpEncryption }
        target.credentials = target.credentials ?? credentials
        target.hidesApplicationPath = hidesApplicationPath
        return target
    }
}
