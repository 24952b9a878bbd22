import Media

extension RTMPURL {
    /// Where a server's reconnect request leads (Enhanced RTMP v2, "Reconnect Request"): its `tcUrl` may
    /// be absolute, relative to the present one, or missing. The stream name stays.
    /// - Returns: `nil` when the text makes no RTMP URL, or would give up encryption.
    func reconnectTarget(tcURL reference: String?) -> RTMPURL? {
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
        guard var target = try? RTMPURL(parsingServer: absolute, streamName: streamName) else { return nil }
        guard scheme == .rtmp || target.scheme == .rtmps else { return nil }
        target.credentials = target.credentials ?? credentials
        return target
    }
}
