/// A filter's settings: the given values, and defaults for the rest.
public struct FilterSetting: Hashable, Sendable {
    public let id: FilterID
    private var values: [FilterParameterName: FilterValue] = [:]

    public var name: FilterName { id.name }

    init(_ id: FilterID) { self.id = id }

    /// - Parameter values: `nil` resets a parameter to its default.
    /// - Throws: `missing` or `unusableValue`, if the result would be invalid. The setting then stays unchanged.
    mutating func set(_ values: [FilterParameterName: FilterValue?]) throws(FilterError) {
        var changed = self
        for (name, value) in values { changed.values[name] = value }
        for parameter in FilterDescription.of(id.name).parameters
        where parameter.isRequired && changed.values[parameter.name] == nil {
            throw .missing(id, parameter.name)
        }
        try changed.checkPart(.left, .width)
        try changed.checkPart(.top, .height)
        self = changed
    }

    private func checkPart(_ start: FilterParameterName, _ length: FilterParameterName) throws(FilterError) {
        guard name == .crop else { return }
        let room = 1 - number(start)
        guard number(length) > room + 1e-9 else { return }
        // A default extends as far as possible.
        guard let value = values[length] else { return }
        throw .unusableValue(
            id, length, value: "\(value)",
            rule: "at most \(FilterValue.text(room)) with \(start)=\(self[start] ?? .number(0))")
    }

    /// The present value; `nil` if the parameter has neither a value nor a default.
    public subscript(name: FilterParameterName) -> FilterValue? {
        values[name] ?? FilterDescription.of(id.name).parameter(name)?.standard
    }

    /// 0 if the parameter is not a number of this filter.
    public func number(_ name: FilterParameterName) -> Double {
        guard case .number(let number) = self[name] else { return 0 }
        return number
    }

    /// `nil` if not given.
    public func path(_ name: FilterParameterName) -> String? {
        guard case .path(let path) = self[name] else { return nil }
        return path
    }

    /// The paths of all files that it uses.
    public var paths: [String] { FilterDescription.of(id.name).parameters.compactMap { path($0.name) } }

    public func color(_ name: FilterParameterName) -> FilterColor {
        guard case .color(let color) = self[name] else { return .none }
        return color
    }

    public var position: FilterPosition {
        guard case .position(let position) = self[.position] else { return .topRight }
        return position
    }

    /// `nil` for filters without text.
    public var text: TextTemplate? {
        guard case .text(let template) = self[.text] else { return nil }
        return template
    }

    /// The given values in the table's order, in the form that `filter NAME` takes.
    public var pairs: [(key: String, value: String)] {
        FilterDescription.of(id.name).parameters.compactMap { parameter in
            values[parameter.name].map { (parameter.name.rawValue, "\($0)") }
        }
    }
}

/// In the form that `--filter` takes.
extension FilterSetting: CustomStringConvertible {
    public var description: String {
        pairs.reduce("\(id)") { $0 + ",\($1.key)=" + FilterText.written($1.value) }
    }
}
