import Media

/// A time zone of the tz database, with the rule that applies from now on.
public struct TimeZone: Hashable, Sendable {
    /// As in the tz database: "Europe/Berlin".
    public let name: String
    private let rule: TimeZoneRule

    public static let utc = TimeZone(name: "UTC", rule: TimeZoneRule(standard: .utc))

    private init(name: String, rule: TimeZoneRule) {
        self.name = name
        self.rule = rule
    }

    public init(named name: String) throws(TimeZoneError) {
        guard let text = TimeZoneTable.rule(of: name), let rule = TimeZoneRule(text) else {
            throw TimeZoneError(name: name, suggestion: Self.nearestName(to: name))
        }
        self.init(name: name, rule: rule)
    }

    /// Which clocks the zone uses at that time.
    public func offset(at secondsSince1970: Int64) -> UTCOffset { rule.offset(at: secondsSince1970) }

    /// All names, in the order of the table.
    public static var names: [String] {
        TimeZoneTable.entries(in: TimeZoneTable.text).flatMap { $0.words.map(String.init) }
    }

    /// People type only the city, or spaces instead of underscores.
    private static func nearestName(to typed: String) -> String? {
        let typed = String(typed.prefix(64)).split(separator: " ").joined(separator: "_")
        let names = self.names.sorted()
        if let near = NameSuggestion.nearest(to: typed, among: names) { return near }
        let cities = names.map { String($0.split(separator: "/").last ?? "") }
        let near = NameSuggestion.nearest(to: typed, among: cities)
        return near.flatMap { cities.firstIndex(of: $0) }.map { names[$0] }
    }
}

/// What clocks show, compared with UTC.
public struct UTCOffset: Hashable, Sendable {
    /// Positive east of Greenwich.
    public let seconds: Int
    /// "CET", or "-03" where people use no letters.
    public let abbreviation: String
    public let isDaylightSaving: Bool

    public static let utc = UTCOffset(seconds: 0, abbreviation: "UTC")

    public init(seconds: Int, abbreviation: String, isDaylightSaving: Bool = false) {
        self.seconds = seconds
        self.abbreviation = abbreviation
        self.isDaylightSaving = isDaylightSaving
    }
}

/// A name that is not in the tz database.
public struct TimeZoneError: Error, Hashable, CustomStringConvertible {
    public let name: String
    /// The name that was probably meant.
    public let suggestion: String?

    public var description: String {
        "is not a name of the tz database" + (suggestion.map { "; did you mean \"\($0)\"?" } ?? "")
    }
}
