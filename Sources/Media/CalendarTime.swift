/// A date and time of day, in UTC.
public struct CalendarTime: Hashable, Sendable {
    public let year: Int
    /// From 1.
    public let month: Int
    /// From 1.
    public let day: Int
    public let hour: Int
    public let minute: Int
    public let second: Int

    public init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// In ISO 8601, such as "2026-11-23T02:20:11Z".
    public var text: String {
        "\(year)-\(two(month))-\(two(day))T\(two(hour)):\(two(minute)):\(two(second))Z"
    }

    private func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
}
