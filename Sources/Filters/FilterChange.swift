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
            guard let mark = word.firstIndex(of: "=") else {
                throw .noValue(try FilterID(parsing: name), piece: word)
            }
            pairs.append((String(word[..<mark]), String(word[word.index(after: mark)...])))
        }
        try self.init(name, pairs)
    }

    /// - Parameter text: `NAME[,KEY=VALUE...]`. A comma that is part of a value is written `\,`; without the backslash, too, where
    ///   no `=` follows before the next comma. `NAME,off` takes the filter away.
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
        guard let name = words.first else { throw .unknownFilter("") }
        guard !name.contains(","), !name.contains("=") else {
            self = try FilterChange(parsing: words.joined(separator: " "))
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

    /// As `init(command:)` takes it, whatever the values hold.
    /// - Parameter words: as `init(_:words:)` takes them.
    public static func command(_ name: String, words: [String]) -> String {
        "filter " + words.reduce(name) { $0 + "," + escaped($1) }
    }

    /// What stands between commas, with `\,` as a comma; one piece at least.
    private static func pieces(_ text: String) -> [(text: String, hasMark: Bool)] {
        var pieces: [(text: String, hasMark: Bool)] = [("", false)]
        var isEscaped = false
        for scalar in text.unicodeScalars {
            let last = pieces.count - 1
            if isEscaped {
                pieces[last].text += scalar == "," ? "," : "\\\(scalar)"
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "," {
                pieces.append(("", false))
            } else {
                pieces[last].text.unicodeScalars.append(scalar)
                pieces[last].hasMark = pieces[last].hasMark || scalar == "="
            }
        }
        if isEscaped { pieces[pieces.count - 1].text += "\\" }
        return pieces
    }

    /// A value as it stands in `NAME,KEY=VALUE`.
    static func escaped(_ value: String) -> String {
        value.unicodeScalars.reduce(into: "") { text, scalar in
            if scalar == "," { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
    }
}
