import Media

/// Why a chain of filters was not changed.
public enum FilterError: Error, Hashable, Sendable {
    /// - Parameter name: as written.
    case unknownFilter(String)
    /// The number is too high.
    /// - Parameter written: name and number, as written.
    case impossibleNumber(FilterName, String)
    /// A quote that is not closed, or does not end the value.
    case openQuote(String)
    /// A piece that is neither `KEY=VALUE` nor `off`.
    case noValue(FilterID, piece: String)
    case unknownParameter(FilterID, String)
    case repeated(FilterID, FilterParameterName)
    /// - Parameter rule: the valid values, for people.
    case unusableValue(FilterID, FilterParameterName, value: String, rule: String)
    /// A filter that needs this parameter.
    case missing(FilterID, FilterParameterName)
    /// The list already contains it.
    case twice(FilterID)
    /// A filter to remove that is not in the chain.
    case notInChain(FilterID)
}

extension FilterError {
    /// The parameter concerned, as written; `nil` for the filter as a whole.
    public var key: String? {
        switch self {
        case .unknownParameter(_, let key): key
        case .repeated(_, let parameter), .missing(_, let parameter), .unusableValue(_, let parameter, _, _):
            parameter.rawValue
        case .openQuote, .unknownFilter, .impossibleNumber, .noValue, .twice, .notInChain: nil
        }
    }
}

extension FilterError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownFilter(let name):
            "unknown filter \(quoted(Self.printable(name)))"
                + Self.suggestion(name, FilterName.allCases.map(\.rawValue))
        case .impossibleNumber(let name, let written):
            name.largestNumber > 1
                ? "filters \(name) are numbered 1 to \(name.largestNumber), not \(quoted(Self.printable(written)))"
                : "filter \(name) cannot have a number, such as \(quoted(Self.printable(written)))"
        case .openQuote(let text):
            "unclosed or misplaced quote in \(quoted(Self.printable(text))); "
                + "write \\\" or \\' for a literal quote"
        case .noValue(let filter, let piece):
            "filter \(filter): \(quoted(Self.printable(piece))) is neither KEY=VALUE nor off"
        case .unknownParameter(let filter, let key):
            "filter \(filter) has no setting \(quoted(Self.printable(key)))"
                + Self.suggestion(key, Self.parameters(of: filter))
        case .repeated(let filter, let parameter): "filter \(filter): \(parameter) is given more than once"
        case .unusableValue(let filter, let parameter, let value, let rule):
            "filter \(filter): \(parameter) must be \(rule), not \(quoted(Self.printable(value)))"
        case .missing(let filter, let parameter): "filter \(filter) needs \(parameter)=…"
        case .twice(let filter):
            "filter \(filter) is given more than once; "
                + (filter.name.largestNumber > 1
                    ? "name several \(filter.name), \(filter.name)2 and so on, up to "
                        + "\(filter.name)\(filter.name.largestNumber)"
                    : "only one is allowed")
        case .notInChain(let filter): "filter \(filter) is not active"
        }
    }

    private static func parameters(of filter: FilterID) -> [String] {
        FilterDescription.of(filter.name).parameters.map(\.name.rawValue)
    }

    private static func suggestion(_ typed: String, _ candidates: [String]) -> String {
        if let question = NameSuggestion.question(for: typed, among: candidates) { return question }
        return candidates.isEmpty ? "; it has none at all" : "; available: \(candidates.joined(separator: ", "))"
    }

    /// Keeps the text on one line of a log.
    private static func printable(_ value: String) -> String {
        String(String.UnicodeScalarView(value.unicodeScalars.prefix(60).map { $0.isControl ? "?" : $0 }))
    }
}
