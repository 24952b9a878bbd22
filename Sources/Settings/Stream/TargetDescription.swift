import Media

/// One server of `stream.json`.
public struct TargetDescription: Hashable, Sendable {
    public enum Form: Hashable, Sendable {
        case pili(PiliStreamDescription)
        case plain(PlainStreamDescription)
    }

    /// The most servers of a stream.
    public static let mostTargets = 4

    public private(set) var form: Form
    /// Distinguishes the targets; `nil` in a file that describes one server.
    public private(set) var name: String?
    /// The video's highest bit rate that the server accepts; `nil` without a limit of its own.
    public private(set) var highestBitrate: Bitrate?
    /// Whether the stream starts without it, until a command switches it on.
    public private(set) var isOff = false
    /// The target's key path in the file; empty for the file's root.
    private var keyPath = ""

    init(form: Form) { self.form = form }

    /// The key path of one of its keys.
    public func keyPath(of key: String) -> String { keyPath.isEmpty ? key : "\(keyPath).\(key)" }

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
    public var neededCAFile: String? { usesTLS ? caFile : nil }

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

    /// The same target with a full path for `caFile`.
    func located(_ path: (String) -> String) -> TargetDescription {
        guard case .plain(var stream) = form else { return self }
        stream.caFile = stream.caFile.map(path)
        var target = self
        target.form = .plain(stream)
        return target
    }

    /// Whether a server would mistake the two for one stream.
    func publishesSameStream(as other: TargetDescription) -> Bool {
        switch (form, other.form) {
        case (.plain(let one), .plain(let another)): one.url == another.url
        case (.pili(let one), .pili(let another)): (one.hub, one.title) == (another.hub, another.title)
        case (.plain, .pili), (.pili, .plain): false
        }
    }
}

// One entry of `targets`.
extension TargetDescription {
    static let keyNames = ["name", "leading", "maxKbit", "disabled"]
    static let example = #"{"name": "youtube", "url": "rtmps://live.example.com/app", "key": "ab12-cd34-ef56"}"#

    /// An entry of the list, and whether the quality follows it.
    struct Entry {
        var target: TargetDescription
        let position: TextPosition
        let isLeading: Bool
    }

    static func entry(reading reader: inout DescriptionReader) -> Entry? {
        reader.recognize(names: PlainStreamDescription.keyNames + PiliStreamDescription.keyNames)
        let name = readName(&reader)
        let isLeading = reader.flag("leading", example: #""leading": true"#)?.value ?? false
        let kilobits = reader.integer("maxKbit", in: 150...20_000, unit: "kbit/s", example: #""maxKbit": 2500"#)
        let disabled = reader.flag("disabled", example: #""disabled": false"#)?.value ?? false
        if reader.mention(of: "pauseImage") != nil {
            reader.redirect("pauseImage", to: "beside \"targets\"", example: #""pauseImage": "slate.png""#)
        }
        guard let form = Form(reading: &reader, example: example), let name else { return nil }
        var target = TargetDescription(form: form)
        target.name = name
        target.highestBitrate = kilobits.map { Bitrate(kilobitsPerSecond: $0.value) }
        target.isOff = disabled
        target.keyPath = reader.path
        return Entry(target: target, position: reader.position, isLeading: isLeading)
    }

    /// Names are used in commands, messages and scripts.
    private static func readName(_ reader: inout DescriptionReader) -> String? {
        let example = #""name": "youtube""#
        guard let name = reader.text("name", required: true, example: example) else { return nil }
        let isValid = name.value.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0.isASCIIDigit || $0 == UInt8(ascii: "-")
        }
        guard isValid, (1...16).contains(name.value.utf8.count) else {
            reader.report(
                .invalidValue, "name", at: name.position, "must have 1 to 16 lower-case letters, digits and hyphens",
                example: example)
            return nil
        }
        return name.value
    }
}

extension TargetDescription.Form {
    /// The keys of one of the two forms.
    init?(reading reader: inout DescriptionReader, example: String) {
        let plainNames = PlainStreamDescription.keyNames.filter { reader.has($0) }
        let piliNames = PiliStreamDescription.keyNames.filter { reader.has($0) }
        switch (plainNames.first, piliNames.first) {
        case (nil, nil):
            // Suggestions for misspelled keys of either form.
            reader.accept(names: PlainStreamDescription.keyNames + PiliStreamDescription.keyNames)
            reader.report(
                .missing, "", "no destination: give \"url\", or the service's stream object", example: example)
            return nil
        case (_?, let piliName?) where reader.has("url"):
            reader.accept(names: PiliStreamDescription.keyNames)
            reader.report(
                .invalidValue, piliName, "cannot be combined with \"url\"; keep one form of stream description",
                example: example)
            _ = PlainStreamDescription(reading: &reader)
            return nil
        case (_?, nil):
            guard let plain = PlainStreamDescription(reading: &reader) else { return nil }
            self = .plain(plain)
        case (_, _?):
            guard let pili = PiliStreamDescription(reading: &reader) else { return nil }
            self = .pili(pili)
        }
    }
}
