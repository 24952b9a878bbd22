// `quality` of device.json.
extension DeviceDescription {
    mutating func readQuality(_ reader: inout DescriptionReader, _ vocabulary: DeviceVocabulary) {
        let words = vocabulary.videoQualities
        let example = #""quality": {"lowest": "Low1", "start": "Medium1", "highest": "Medium3"}"#
        let given: (lowest: String?, start: String?, highest: String?)? = reader.object("quality", example: example) {
            quality in
            readResizing(&quality, vocabulary)
            return (
                quality.choice("lowest", of: words, example: #""lowest": "Low1""#),
                quality.choice("start", of: words, example: #""start": "Medium1""#),
                quality.choice("highest", of: words, example: #""highest": "Medium3""#)
            )
        }
        guard let given else { return }
        func rank(_ name: String) -> Int { words.firstIndex(of: name) ?? 0 }
        startQuality = given.start ?? startQuality
        // A start outside the default range widens it; only values in the file can contradict each other.
        lowestQuality = given.lowest ?? (rank(lowestQuality) <= rank(startQuality) ? lowestQuality : startQuality)
        highestQuality = given.highest ?? (rank(highestQuality) >= rank(startQuality) ? highestQuality : startQuality)
        if given.start == nil {
            let bounds = (rank(lowestQuality), rank(highestQuality))
            if rank(startQuality) < bounds.0 { startQuality = lowestQuality }
            if rank(startQuality) > bounds.1 { startQuality = highestQuality }
        }
        guard rank(lowestQuality) <= rank(startQuality), rank(startQuality) <= rank(highestQuality) else {
            reader.report(
                .invalidValue, "quality", "\"start\" must not be below \"lowest\" nor above \"highest\"",
                example: example)
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
