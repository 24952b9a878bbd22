import Media

/// The contents of `stream.json`: where to publish.
public struct StreamDescription: Hashable, Sendable {
    /// The quality follows this server.
    public private(set) var leading: TargetDescription
    /// They get the same stream, without packets that do not fit their links.
    public private(set) var others: [TargetDescription]
    /// A PNG or JPEG file to show while the stream is paused; `nil` for the last frame before the pause. A relative
    /// path starts at the stream file's directory.
    public private(set) var pauseImage: String?

    /// The leading one first.
    public var targets: [TargetDescription] { [leading] + others }

    /// - Parameter name: `nil` for the leading one.
    public func target(named name: String?) -> TargetDescription? {
        name.map { name in targets.first { $0.name == name } } ?? leading
    }

    /// Whether a connection needs the time of day.
    public var needsClock: Bool { targets.contains(where: \.needsClock) }

    /// The leading destination for people, without key, stream name and query.
    public var destination: String { leading.destination }

    /// The same description with full paths for `caFile` and `pauseImage`.
    /// - Parameter directory: the stream file's directory.
    public func located(in directory: String) -> StreamDescription {
        func path(_ name: String) -> String { name.hasPrefix("/") ? name : "\(directory)/\(name)" }
        return StreamDescription(
            leading: leading.located(path), others: others.map { $0.located(path) }, pauseImage: pauseImage.map(path))
    }

    init(leading: TargetDescription, others: [TargetDescription] = [], pauseImage: String? = nil) {
        self.leading = leading
        self.others = others
        self.pauseImage = pauseImage
    }
}

extension StreamDescription {
    /// A complete correct file.
    public static let example = #"{"url": "rtmp://live.example.com/app", "key": "ab12-cd34-ef56"}"#
    private static let targetsExample = "\"targets\": [\(TargetDescription.example)]"

    /// The keys of the file's root.
    static let keyNames = ["targets"] + PlainStreamDescription.keyNames + PiliStreamDescription.keyNames

    /// Checks the whole file and reports all faults.
    public static func decode(_ json: JSONValue) -> Decoded<StreamDescription> {
        json.decode(example: example, isConfidential: true) { reader in
            reader.recognize(names: keyNames + TargetDescription.keyNames)
            if let disabled = reader.flag("disabled", example: #""disabled": false"#), disabled.value {
                reader.report(
                    .disabled, "disabled", at: disabled.position,
                    "the stream is disabled and will not be published; enable it at the service or set false",
                    example: #""disabled": false"#)
            }
            let pauseImage = readPauseImage(&reader)
            if reader.has("targets") { return readTargets(&reader, pauseImage) }
            reader.accept("targets")
            return TargetDescription.Form(reading: &reader, example: example).map {
                StreamDescription(leading: TargetDescription(form: $0), pauseImage: pauseImage)
            }
        }
    }

    private static func readTargets(_ reader: inout DescriptionReader, _ pauseImage: String?) -> StreamDescription? {
        let single = PlainStreamDescription.keyNames + PiliStreamDescription.keyNames
        reader.accept(names: single)
        if let name = single.first(where: { reader.has($0) }) {
            reader.report(
                .invalidValue, name, "cannot be combined with \"targets\"; move it into one of them",
                example: targetsExample)
        }
        let count = reader.elements("targets", example: targetsExample)?.count ?? 0
        guard (1...TargetDescription.mostTargets).contains(count) else {
            reader.report(
                .invalidValue, "targets", "must have 1 to \(TargetDescription.mostTargets) targets, has \(count)",
                example: targetsExample)
            return nil
        }
        let entries = reader.objects("targets", example: targetsExample) { TargetDescription.entry(reading: &$0) } ?? []
        checkDifferences(entries, &reader)
        guard entries.count == count, let leading = leadingIndex(entries, &reader) else { return nil }
        var others = entries.map(\.target)
        return StreamDescription(leading: others.remove(at: leading), others: others, pauseImage: pauseImage)
    }

    private static func checkDifferences(_ entries: [TargetDescription.Entry], _ reader: inout DescriptionReader) {
        for (index, entry) in entries.enumerated() {
            let earlier = entries[..<index].map(\.target)
            if earlier.contains(where: { $0.name == entry.target.name }) {
                reader.report(
                    .invalidValue, "targets", at: entry.position, "two targets have the same name; rename one",
                    example: targetsExample)
            } else if let same = earlier.first(where: { $0.publishesSameStream(as: entry.target) }) {
                reader.report(
                    .invalidValue, "targets", at: entry.position,
                    "\(entry.target.name ?? "") and \(same.name ?? "") are the same stream, which a server accepts once",
                    example: targetsExample)
            }
        }
    }

    /// - Returns: the first target that is on, unless one is marked.
    private static func leadingIndex(
        _ entries: [TargetDescription.Entry], _ reader: inout DescriptionReader
    ) -> Int? {
        let marked = entries.indices.filter { entries[$0].isLeading }
        if marked.count > 1 {
            reader.report(
                .invalidValue, "targets", at: entries[marked[1]].position, "two targets are leading; keep one",
                example: #""leading": true"#)
        }
        guard let index = marked.first ?? entries.indices.first(where: { !entries[$0].target.isOff }) else {
            reader.report(
                .disabled, "targets", "all targets are disabled and nothing will be published; enable one",
                example: #""disabled": false"#)
            return nil
        }
        if entries[index].target.isOff {
            reader.report(
                .invalidValue, "targets", at: entries[index].position,
                "the leading target is disabled; enable it, or let another one lead", example: #""leading": true"#)
        }
        return index
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

extension StreamDescription {
    /// Where it publishes and what limits that sets, for people.
    public var summary: String {
        guard leading.name != nil else { return destination }
        return (targets.map(\.summary) + limits).joined(separator: "\n  ")
    }

    /// The strictest requirements of all targets, each with the target that sets it.
    private var limits: [String] {
        func first(where matches: (PlatformProfile) -> Bool) -> String? { targets.first { matches($0.platform) }?.name }
        let keyframes = targets.min { $0.platform.longestKeyframeInterval < $1.platform.longestKeyframeInterval }
        let rate = targets.compactMap { target in target.highestBitrate.map { ($0, target.name ?? "") } }
            .min { $0.0 < $1.0 }
        return [
            rate.map { "the video has at most \(Int($0.0.kilobitsPerSecond)) kbit/s, for \($0.1)" },
            keyframes.map {
                "a keyframe every \($0.platform.keyframeInterval.components.seconds) s, for \($0.name ?? "")"
            },
            first { $0.requiresAudio }.map { "always with audio, for \($0)" },
            first { $0.resizing == .never }.map { "the frame size stays the same, for \($0)" },
        ].compactMap { $0 }
    }
}

extension TargetDescription {
    fileprivate var summary: String { "\(name ?? ""): \(destination)\(isOff ? ", off at the start" : "")" }
}
