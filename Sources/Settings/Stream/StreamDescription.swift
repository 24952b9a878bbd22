import Media

/// The contents of `stream.json`: where to publish, in one of two forms.
public struct StreamDescription: Hashable, Sendable {
    public enum Form: Hashable, Sendable {
        case pili(PiliStreamDescription)
        case plain(PlainStreamDescription)
    }

    public let form: Form
    /// A PNG or JPEG file to show while the stream is paused; `nil` for the last frame before the pause. A relative
    /// path starts at the stream file's directory.
    public private(set) var pauseImage: String?

    init(form: Form, pauseImage: String? = nil) {
        self.form = form
        self.pauseImage = pauseImage
    }

    public var platform: PlatformProfile {
        switch form {
        case .pili: .pili
        case .plain(let stream): PlatformProfile(host: stream.url.host)
        }
    }

    /// See `PlainStreamDescription.caFile`.
    public var caFile: String? {
        if case .plain(let stream) = form { stream.caFile } else { nil }
    }

    /// Certificates that a connection needs and that the system does not have: `caFile` of an `rtmps://` URL.
    public var neededCAFile: String? {
        if case .plain(let stream) = form, stream.url.scheme == .rtmps { stream.caFile } else { nil }
    }

    public var usesTLS: Bool {
        if case .plain(let stream) = form { stream.url.scheme == .rtmps } else { false }
    }

    /// Whether a connection needs the time of day, for its signature or for checking a certificate.
    public var needsClock: Bool {
        switch form {
        case .plain(let stream): stream.url.scheme == .rtmps
        case .pili(let stream):
            switch stream.security {
            case .dynamic, .expiring: true
            case .none, .static: false
            }
        }
    }

    /// The destination for people, without key, stream name and query.
    public var destination: String {
        switch form {
        case .pili(let stream): "rtmp://\(stream.publishHost)/\(stream.hub)/***"
        case .plain(let stream): "\(stream.url)"
        }
    }

    /// The same description with full paths for `caFile` and `pauseImage`.
    /// - Parameter directory: the stream file's directory.
    public func located(in directory: String) -> StreamDescription {
        func path(_ name: String) -> String { name.hasPrefix("/") ? name : "\(directory)/\(name)" }
        var form = form
        if case .plain(var stream) = form {
            stream.caFile = stream.caFile.map(path)
            form = .plain(stream)
        }
        return StreamDescription(form: form, pauseImage: pauseImage.map(path))
    }

    /// The URL for one connection. Call this for each connection, since a signature can be used only once. If a nonce
    /// is used, save `nonces.unsavedText` before connecting.
    /// - Parameter unixSeconds: the clock's value, in seconds since 1970.
    public func publishURL(
        unixSeconds: Int64, nonces: inout NonceSequence, hmacSHA1: HMACSHA1Function
    ) throws(SigningError) -> RTMPURL {
        switch form {
        case .pili(let stream):
            try stream.publishURL(unixSeconds: unixSeconds, nonces: &nonces, hmacSHA1: hmacSHA1)
        case .plain(let stream): stream.url
        }
    }
}

extension StreamDescription {
    /// A complete correct file.
    public static let example = #"{"url": "rtmp://live.example.com/app", "key": "ab12-cd34-ef56"}"#

    /// Checks the whole file and reports all faults.
    public static func decode(_ json: JSONValue) -> Decoded<StreamDescription> {
        json.decode(example: example, isConfidential: true) { reader in
            reader.recognize(names: PlainStreamDescription.keyNames + PiliStreamDescription.keyNames)
            if let disabled = reader.flag("disabled", example: #""disabled": false"#), disabled.value {
                reader.report(
                    .disabled, "disabled", at: disabled.position,
                    "the stream is disabled and will not be published; enable it at the service or set false",
                    example: #""disabled": false"#)
            }
            let pauseImage = readPauseImage(&reader)
            let plainNames = PlainStreamDescription.keyNames.filter { reader.has($0) }
            let piliNames = PiliStreamDescription.keyNames.filter { reader.has($0) }
            switch (plainNames.first, piliNames.first) {
            case (nil, nil):
                // Suggestions for misspelled keys of either form.
                reader.accept(names: PlainStreamDescription.keyNames + PiliStreamDescription.keyNames)
                reader.report(
                    .missing, "", "no destination: give \"url\", or the service's stream object",
                    example: example)
                return nil
            case (_?, let piliName?) where reader.has("url"):
                reader.accept(names: PiliStreamDescription.keyNames)
                reader.report(
                    .invalidValue, piliName, "cannot be combined with \"url\"; keep one form of stream description",
                    example: example)
                _ = PlainStreamDescription(reading: &reader)
                return nil
            case (_?, nil):
                return PlainStreamDescription(reading: &reader).map {
                    StreamDescription(form: .plain($0), pauseImage: pauseImage)
                }
            case (_, _?):
                return PiliStreamDescription(reading: &reader).map {
                    StreamDescription(form: .pili($0), pauseImage: pauseImage)
                }
            }
        }
    }

    /// Whether the image is usable is checked when a stream starts.
    private static func readPauseImage(_ reader: inout DescriptionReader) -> String? {
        let example = #""pauseImage": "slate.png""#
        guard let name = reader.text("pauseImage", example: example) else { return nil }
        guard !name.value.isEmpty, !name.value.utf8.contains(0) else {
            reader.report(.invalidValue, "pauseImage", at: name.position, "must be a file name", example: example)
            return nil
        }
        return name.value
    }
}
