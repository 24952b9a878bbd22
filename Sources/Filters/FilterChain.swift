/// Filters in the order in which they are applied.
public struct FilterChain: Hashable, Sendable {
    public private(set) var settings: [FilterSetting] = []

    public init() {}

    /// - Parameter texts: each `NAME[,KEY=VALUE...]`.
    public init(parsing texts: [String]) throws(FilterError) {
        for text in texts { try add(FilterChange(parsing: text)) }
    }

    public var isEmpty: Bool { settings.isEmpty }

    public subscript(filter: FilterID) -> FilterSetting? { settings.first { $0.id == filter } }

    /// Appends a filter of another chain, replacing the one of the same name.
    public mutating func append(_ setting: FilterSetting) {
        settings.removeAll { $0.id == setting.id }
        settings.append(setting)
    }

    /// Appends a filter from a list that specifies each filter completely.
    /// - Throws: `twice` if the chain already has it, since two entries must mean two filters. The chain stays
    ///   unchanged.
    public mutating func add(_ change: FilterChange) throws(FilterError) {
        guard self[change.filter] == nil else { throw .twice(change.filter) }
        try set(change)
    }

    /// Appends the filter, changes the given parameters, or removes it.
    /// - Throws: the chain then stays unchanged.
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
