import Media

/// A stream to any RTMP service: the server's URL, and the stream key unless the URL contains it.
public struct PlainStreamDescription: Hashable, Sendable {
    public let url: RTMPURL
    /// A PEM file of certificates to trust instead of the system's. A relative path starts at the stream file's
    /// directory.
    public internal(set) var caFile: String?
}

extension PlainStreamDescription {
    static let keyNames = ["url", "key", "caFile"]

    private static let urlExample = #""url": "rtmps://live.example.com/app", "key": "ab12-cd34-ef56""#

    init?(reading reader: inout DescriptionReader) {
        let urlText = reader.text("url", required: true, example: Self.urlExample)
        let keyIsGiven = reader.has("key")
        let key = Self.readKey(&reader)
        let caFile = reader.text("caFile", example: #""caFile": "ca.pem""#)
        if let caFile, caFile.value.isEmpty || caFile.value.utf8.contains(0) {
            reader.report(
                .invalidValue, "caFile", at: caFile.position, "must be a file name", example: #""caFile": "ca.pem""#)
        }
        guard let urlText, !keyIsGiven || key != nil else { return nil }
        var url: RTMPURL
        do {
            url =
                if let key { try RTMPURL(parsingServer: urlText.value, streamName: key) } else {
                    try RTMPURL(parsing: urlText.value)
                }
        } catch {
            let advice = error == .missingStreamName ? ", or give the stream's name as \"key\"" : ""
            reader.report(.invalidValue, "url", at: urlText.position, "\(error)\(advice)", example: Self.urlExample)
            return nil
        }
        // People also paste the key after the application.
        url.hidesApplicationPath = keyIsGiven
        let platform = PlatformProfile(host: url.host)
        if platform.requiresTLS, url.scheme != .rtmps {
            reader.report(
                .invalidValue, "url", at: urlText.position,
                "\(platform.name) accepts only RTMPS; use a URL that starts with rtmps://", example: Self.urlExample)
        }
        if !url.hiddenApplicationParts.isEmpty {
            reader.report(
                .suspicious, "url", at: urlText.position,
                "its path continues after the application; if that is the stream key, remove it: \"key\" gives it",
                example: Self.urlExample)
        }
        if caFile != nil, url.scheme != .rtmps {
            reader.report(.suspicious, "caFile", at: caFile?.position, "only applies to an rtmps:// URL")
        }
        self.init(url: url, caFile: caFile?.value)
    }

    private static func readKey(_ reader: inout DescriptionReader) -> Secret? {
        let example = #""key": "ab12-cd34-ef56""#
        guard let key = reader.text("key", example: example) else { return nil }
        guard !key.value.isEmpty, key.value.utf8.allSatisfy(\.isVisibleASCII) else {
            reader.report(
                .invalidValue, "key", at: key.position,
                key.value.isEmpty ? "is empty" : "contains a space or a non-ASCII character", example: example)
            return nil
        }
        return Secret(key.value)
    }
}
