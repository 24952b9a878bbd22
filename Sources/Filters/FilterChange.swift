/// A requested change of one filter.
public struct FilterChange: Hashable, Sendable {
    enum Action: Hashable, Sendable {
        /// `nil` resets a parameter to its default.
        case set([FilterParameterName: FilterValue?])
        case off
    }

    public let filter: FilterID
    let action: Action

    /// Removes the filter from the chain.
    public static func off(_ filter: FilterID) -> FilterChange { FilterChange(filter, .off) }

    private init(_ filter: FilterID, _ action: Action) {
        self.filter = filter
        self.action = action
    }

    /// - Parameters:
    ///   - name: of the filter, case-insensitive, with its number if there are several.
    ///   - pairs: parameters and values, as in a file. An empty value resets the parameter.
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
    ///   - words: each `KEY=VALUE`, or `off` alone, as after `filter NAME`.
    public init(_ name: String, words: [String]) throws(FilterError) {
        if words.map({ $0.lowercased() }) == ["off"] {
            self = .off(try FilterID(parsing: name))
            return
        }
        var pairs: [(key: String, value: String)] = []
        for word in words {
            // Search scalars rather than characters: a value may start with a combining accent.
            let scalars = word.unicodeScalars
            guard let mark = scalars.firstIndex(of: "=") else {
                throw .noValue(try FilterID(parsing: name), piece: word)
            }
            pairs.append((String(scalars[..<mark]), String(scalars[scalars.index(after: mark)...])))
        }
        try self.init(name, pairs)
    }

    /// - Parameter text: a filter in the common syntax of `FilterText`: `NAME,KEY=VALUE` or `NAME KEY=VALUE`, with any
    ///   number of pairs. `NAME,off` or `NAME off` removes the filter.
    public init(parsing text: String) throws(FilterError) {
        let words = try FilterText.words(of: text)
        try self.init(words.first ?? "", words: Array(words.dropFirst()))
    }
}
