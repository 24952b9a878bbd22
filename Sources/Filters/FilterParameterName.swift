/// The parameters of filters. Their order is used in every list.
public enum FilterParameterName: String, CaseIterable, Sendable {
    case file
    case text
    case position
    case margin
    case width
    case opacity
    case font
    case size
    case color
    case outline
    case outlineColor = "outline-color"
    case background
    case strength
    case left
    case top
    case height
}

extension FilterParameterName: CustomStringConvertible {
    public var description: String { rawValue }
}

/// A row of a filter's parameters.
public struct FilterParameter: Hashable, Sendable {
    /// The form of a value.
    public enum Kind: Hashable, Sendable {
        /// A number in this range.
        case number(ClosedRange<Double>)
        /// A path.
        case file
        /// Lines of text with fields: a `TextTemplate`.
        case text
        case color
        case position
    }

    public let name: FilterParameterName
    public let kind: Kind
    /// The default; `nil` if `absence` describes it.
    public let standard: FilterValue?
    /// What happens without a value, for people; `nil` if a value is required or `standard` is set.
    public let absence: String?
    public let summary: String

    init(
        _ name: FilterParameterName, _ kind: Kind, standard: FilterValue? = nil, absence: String? = nil,
        _ summary: String
    ) {
        self.name = name
        self.kind = kind
        self.standard = standard
        self.absence = absence
        self.summary = summary
    }

    public var isRequired: Bool { standard == nil && absence == nil }

    /// The form of a value, for people.
    public var form: String {
        switch kind {
        case .number(let range):
            "a number from \(FilterValue.text(range.lowerBound)) to \(FilterValue.text(range.upperBound))"
        case .file: "a path"
        case .text: "text with {fields}, \\n between lines"
        case .color: "a color name, #RRGGBB, #RRGGBBAA or none"
        case .position: FilterPosition.form
        }
    }
}
