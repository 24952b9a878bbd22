/// What is asked of one filter.
public struct FilterChange: Hashable, Sendable {
    enum Action: Hashable, Sendable {
        /// `nil` for a parameter that is to hold as if nobody had said anything.
        case set([FilterParameterName: FilterValue?])
        case off
    }

    public let filter: FilterID
    let action: Action

    /// Takes the filter out of the chain.
    public static func off(_ filter: FilterID) -> FilterChange { FilterChange(filter, .off) }

    private init(_ filter: FilterID, _ action: Action) {
        self.filter = filter
        self.action = action
    }

    /// - Parameters:
    ///   - name: of the filter, in any case of letters, with its number if there are several.
    ///   - pairs: parameters and values, as they stand in a file. An empty value is none.
    public init(_ name: String, _ pairs: [(key: String, value: String)]) throws(FilterError) {
        let filter = try FilterID(parsing: name)
        var values: [FilterParameterName: FilterValue?] = [:]
        for (key, text) in pairs {
            guard let name = FilterParameterName(rawValue: key.lowercased()),
                let parameter = FilterDescription.of(filter.name).parameter(name)
            else { throw .unknownParameter(filter, key) }
            guard values[name] == nil else { throw .repeated(filter, name) }
            let value: FilterValue? = text.isEmpty ? nil : try FilterValue(text, of: parameter, in: filter)
            values[name] = .some(value)
        }
        self.init(filter, .set(values))
    }

    /// - Parameters:
    ///   - name: of the filter.
    ///   - words: `KEY=VALUE` each, or `off` alone, as they stand after `filter NAME`.
    public init(_ name: String, words: [String]) throws(FilterError) {
        if words.map({ $0.lowercased() }) == ["off"] {
            self = .off(try FilterID(parsing: name))
            return
        }
        var pairs: [(key: String, value: String)] = []
        for word in words {
            // Not a character: a value may start with an accent.
            let scalars = word.unicodeScalars
            guard let mark = scalars.firstIndex(of: "=") else {
                throw .noValue(try FilterID(parsing: name), piece: word)
            }
            pairs.append((String(scalars[..<mark]), String(scalars[scalars.index(after: mark)...])))
        }
        try self.init(name, pairs)
    }

    /// - Parameter text: `NAME[,KEY=VALUE...]`. A comma that is part of a value is written `\,`; without the backslash, too, where
    ///   no `=` follows before the next comma. Backslashes just before a comma are written twice, all others once. `NAME,off`
    ///   takes the filter away.
    public init(parsing text: String) throws(FilterError) {
        let pieces = Self.pieces(text)
        let name = pieces[0].text
        var words: [String] = []
        for piece in pieces.dropFirst() {
            if let last = words.last, !piece.hasMark {
                words[words.count - 1] = last + "," + piece.text
            } else {
                words.append(piece.text)
            }
        }
        try self.init(name, words: words)
    }

    /// - Parameter command: `filter NAME KEY=VALUE...`, or as the command line has it, `filter NAME,KEY=VALUE,...`; in the first form a
    ///   word without `=` is a part of the value before it.
    public init(command: String) throws(FilterError) {
        let words = command.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" }).dropFirst()
        guard let name = words.first, let last = words.last else { throw .missingName }
        guard !name.utf8.contains(UInt8(ascii: ",")), !name.utf8.contains(UInt8(ascii: "=")) else {
            // Blanks between words are a part of a value, as many as they are.
            self = try FilterChange(parsing: String(command[name.startIndex..<last.endIndex]))
            return
        }
        let values = words.dropFirst().reduce(into: [String]()) { values, word in
            if word.contains("=") || values.isEmpty {
                values.append(String(word))
            } else {
                values[values.count - 1] += " " + word
            }
        }
        try self.init(String(name), words: values)
    }

    /// As `init(command:)` takes it, whatever the values hold; only blanks at the very end are lost.
    /// - Parameters:
    ///   - name: of the filter, or more of what the command line takes.
    ///   - words: as `init(_:words:)` takes them.
    public static func command(_ name: String, words: [String]) -> String {
        "filter " + name + (words.isEmpty ? "" : "," + joined(words))
    }

    /// What stands between commas, without the backslashes that are there for the commas' sake; one piece at least.
    private static func pieces(_ text: String) -> [(text: String, hasMark: Bool)] {
        var pieces: [(text: String, hasMark: Bool)] = [("", false)]
        var backslashes = 0
        for scalar in text.unicodeScalars {
            let last = pieces.count - 1
            if scalar == "\\" {
                backslashes += 1
                pieces[last].text.unicodeScalars.append(scalar)
                continue
            }
            defer { backslashes = 0 }
            guard scalar == "," else {
                pieces[last].text.unicodeScalars.append(scalar)
                pieces[last].hasMark = pieces[last].hasMark || scalar == "="
                continue
            }
            // Of those before a comma each stands for half a backslash.
            pieces[last].text.unicodeScalars.removeLast((backslashes + 1) / 2)
            if backslashes % 2 == 1 {
                pieces[last].text += ","
            } else {
                pieces.append(("", false))
            }
        }
        return pieces
    }

    /// Pieces as `init(parsing:)` takes them apart.
    static func joined(_ pieces: [String]) -> String {
        var text = String.UnicodeScalarView()
        func appendComma(_ isValue: Bool) {
            text.append(contentsOf: text.reversed().prefix { $0 == "\\" })
            text.append(contentsOf: (isValue ? "\\," : ",").unicodeScalars)
        }
        for (index, piece) in pieces.enumerated() {
            if index > 0 { appendComma(false) }
            for scalar in piece.unicodeScalars {
                if scalar == "," { appendComma(true) } else { text.append(scalar) }
            }
        }
        return String(text)
    }
}
