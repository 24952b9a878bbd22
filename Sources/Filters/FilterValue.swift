import Media

/// The value of a filter's parameter.
public enum FilterValue: Hashable, Sendable {
    case number(Double)
    /// Path of a file, as written.
    case path(String)
    case text(TextTemplate)
    case color(FilterColor)
    case position(FilterPosition)
}

/// As written after `KEY=`.
extension FilterValue: CustomStringConvertible {
    public var description: String {
        switch self {
        case .number(let number): Self.text(number)
        case .path(let path): path
        case .text(let template): template.source
        case .color(let color): "\(color)"
        case .position(let position): "\(position)"
        }
    }

    /// With at most three decimals.
    static func text(_ number: Double) -> String {
        var digits = Substring(fixed(number, decimals: 3))
        while digits.hasSuffix("0") { digits.removeLast() }
        if digits.hasSuffix(".") { digits.removeLast() }
        return digits == "-0" || digits.isEmpty ? "0" : String(digits)
    }
}

extension FilterValue {
    /// Linux's limit (PATH_MAX).
    private static let longestPath = 4095

    /// - Throws: `unusableValue`.
    init(_ text: String, of parameter: FilterParameter, in filter: FilterID) throws(FilterError) {
        let value: FilterValue?
        var rule = parameter.form
        switch parameter.kind {
        case .number(let range):
            value = decimal(text).flatMap { range.contains($0) ? .number($0) : nil }
        case .file:
            let isUsable = text.utf8.count <= Self.longestPath && text.unicodeScalars.allSatisfy { !$0.isControl }
            value = isUsable ? .path(text) : nil
        case .text:
            switch TextTemplate.parsed(text) {
            case .success(let template): value = .text(template)
            case .failure(let fault): (value, rule) = (nil, fault.description)
            }
        case .color: value = FilterColor(parsing: text).map { .color($0) }
        case .position: value = FilterPosition(parsing: text).map { .position($0) }
        }
        guard let value else { throw .unusableValue(filter, parameter.name, value: text, rule: rule) }
        self = value
    }
}
