extension TimeZoneTable {
    /// Each rule with the words behind it.
    static func entries(in text: String) -> [(rule: Substring, words: [Substring])] {
        var entries: [(rule: Substring, words: [Substring])] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.first == " " {
                if let last = entries.indices.last { entries[last].words += words }
            } else if let rule = words.first {
                entries.append((rule, Array(words.dropFirst())))
            }
        }
        return entries
    }

    static func rule(of name: String) -> Substring? { entries(in: text).first { $0.words.contains(name[...]) }?.rule }
}
