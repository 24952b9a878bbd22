import Media

// `quality` of device.json.
extension DeviceDescription {
    private static let qualityExample = #""quality": {"lowest": "Low1", "start": "Medium1", "highest": "Medium3"}"#

    mutating func readQuality(_ reader: inout DescriptionReader, _ vocabulary: DeviceVocabulary) {
        let words = vocabulary.videoQualities
        let dimension = dimension
        let given: (lowest: String?, start: String?, highest: String?)? = reader.object(
            "quality", example: Self.qualityExample
        ) { quality in
            readResizing(&quality, vocabulary)
            return (
                quality.quality("lowest", of: words, dimension, example: #""lowest": "Low1""#),
                quality.quality("start", of: words, dimension, example: #""start": "Medium1""#),
                quality.quality("highest", of: words, dimension, example: #""highest": "4.5M""#)
            )
        }
        guard let given else { return }
        func rate(_ name: String) -> Bitrate {
            if case .quality(_, let bitrate) = words.named(name) { bitrate } else { Bitrate(bitsPerSecond: 0) }
        }
        startQuality = given.start ?? startQuality
        // A start outside the default range widens it; only values in the file can contradict each other.
        lowestQuality = given.lowest ?? (rate(lowestQuality) <= rate(startQuality) ? lowestQuality : startQuality)
        highestQuality = given.highest ?? (rate(highestQuality) >= rate(startQuality) ? highestQuality : startQuality)
        if given.start == nil {
            let bounds = (rate(lowestQuality), rate(highestQuality))
            if rate(startQuality) < bounds.0 { startQuality = lowestQuality }
            if rate(startQuality) > bounds.1 { startQuality = highestQuality }
        }
        guard rate(lowestQuality) <= rate(startQuality), rate(startQuality) <= rate(highestQuality) else {
            reader.report(
                .invalidValue, "quality", "\"lowest\" must not be above \"start\", nor \"start\" above \"highest\"",
                example: Self.qualityExample)
            return
        }
    }

    private mutating func readResizing(_ quality: inout DescriptionReader, _ vocabulary: DeviceVocabulary) {
        let policy = quality.choice("resize", of: Resize.allCases.map(\.rawValue), example: #""resize": "seamless""#)
        resize = policy.flatMap(Resize.init) ?? resize
        let example = #""smallestSize": "320x180""#
        guard let text = quality.text("smallestSize", example: example) else { return }
        if text.value != "auto", let problem = vocabulary.problemWithDimension(text.value) {
            quality.report(.invalidValue, "smallestSize", at: text.position, problem, example: example)
        }
        smallestSize = text.value
    }
}

extension DescriptionReader {
    /// A quality by its name, as text such as "4.5M", or as an object with `kbit` and perhaps `framesPerSecond`.
    /// - Returns: its usual name; `nil` without one that fits the dimension.
    fileprivate mutating func quality(
        _ name: String, of words: VideoQualityVocabulary, _ dimension: String, example: String
    ) -> String? {
        guard let text = qualityText(name, of: words, example: example) else { return nil }
        let problem: String
        switch words.named(text.value) {
        case .quality(let usualName, _):
            guard let excess = words.problemWithLevel(usualName, dimension) else { return usualName }
            problem = excess
        case .unknown:
            let meant = NameSuggestion.nearest(to: text.value, among: words.names).map { "; did you mean \"\($0)\"?" }
            problem = "must be \(words.list)\(meant ?? "")"
        case .problem(let text): problem = text
        }
        report(.invalidValue, name, at: text.position, problem, example: example)
        return nil
    }

    /// The quality as text, whatever its form in the file.
    private mutating func qualityText(
        _ name: String, of words: VideoQualityVocabulary, example: String
    ) -> Located<String>? {
        guard let value = value(name, required: false, example: example) else { return nil }
        switch value.content {
        case .string(let text): return Located(value: text, position: value.position)
        case .object:
            return object(name, example: example) { numbers in
                let kilobits = numbers.integer(
                    "kbit", in: words.kilobits, unit: "kbit/s", required: true, example: #"{"kbit": 4500}"#)
                let rate = numbers.integer(
                    "framesPerSecond", in: words.frameRates, example: #"{"kbit": 4500, "framesPerSecond": 60}"#)
                guard let kilobits else { return nil }
                let text = "\(kilobits.value)k\(rate.map { "@\($0.value)" } ?? "")"
                return Located(value: text, position: value.position)
            }
        default:
            report(.wrongType, name, at: value, "must be \(words.list), not \(value.kind)", example: example)
            return nil
        }
    }
}

extension VideoQualityVocabulary {
    fileprivate var list: String {
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        return "one of \(list), or a bit rate such as \"4.5M\" or {\"kbit\": 4500}"
    }
}
