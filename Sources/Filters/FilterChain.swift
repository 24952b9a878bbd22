/// Filters in the order in which frames pass them.
public struct FilterChain: Hashable, Sendable {
    public private(set) var settings: [FilterSetting] = []

    public init() {}

    /// - Parameter texts: `NAME[,KEY=VALUE...]` each.
    public init(parsing texts: [String]) throws(FilterError) {
        for text in texts { try add(FilterChange(parsing: text)) }
    }

    public var isEmpty: Bool { settings.isEmpty }

    public subscript(filter: FilterID) -> FilterSetting? { settings.first { $0.id == filter } }

    /// Adds a filter of another chain at the end; in the place of what there is of that name.
    public mutating func append(_ setting: FilterSetting) {
        settings.removeAll { $0.id == setting.id }
        settings.append(setting)
    }

    /// Adds a filter at the end, of a list that says all of each at once.
    /// - Throws: `twice` for one that is there: whoever writes two means two. The chain stays as it is.
    public mutating func add(_ change: FilterChange) throws(FilterError) {
        guard self[change.filter] == nil else { throw .twice(change.filter) }
        try set(change)
    }

    /// Adds the filter at the end, changes what was said of it, or takes it away.
    /// - Throws: and stays as it is.
    public mutating func set(_ change: FilterChange) throws(FilterError) {
        let index = settings.firstIndex { $0.id == change.filter }
        switch (change.action, index) {
        case (.off, let index?): settings.remove(at: index)
        case (.off, nil): throw .notInChain(change.filter)
        case (.set(let values), let index?): try settings[index].set(values)
        case (.set(let values), nil):
            var setting = FilterSetting(change.filter)
            try setting.set(values)
            settings.append(setting)
        }
    }
}
