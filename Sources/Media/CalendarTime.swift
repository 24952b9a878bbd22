/// A date and time of day on the proleptic Gregorian calendar, in UTC or at a fixed offset from it.
public struct CalendarTime: Hashable, Sendable {
    public let year: Int
    /// From 1.
    public let month: Int
    /// From 1.
    public let day: Int
    public let hour: Int
    public let minute: Int
    public let second: Int
    /// How much later these clocks show midnight than UTC's: positive east of Greenwich.
    public let secondsFromUTC: Int

    /// In UTC.
    public init(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
        secondsFromUTC = 0
    }

    /// - Parameters:
    ///   - secondsSince1970: UNIX seconds; limited to a million years.
    ///   - secondsFromUTC: offset of the clocks that show the time.
    public init(secondsSince1970: Int64, secondsFromUTC: Int = 0) {
        let limit: Int64 = 31_557_600_000_000
        let shown = Int(max(-limit, min(limit, secondsSince1970))) + secondsFromUTC
        let days = shown.dividedDown(by: 86400)
        let rest = shown - days * 86400
        (year, month, day) = Self.date(daysSince1970: days)
        (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60)
        self.secondsFromUTC = secondsFromUTC
    }

    /// In ISO 8601, such as "2026-11-23T02:20:11Z" or "2026-11-23T03:20:11+01:00".
    public var text: String {
        "\(year)-\(two(month))-\(two(day))T\(two(hour)):\(two(minute)):\(two(second))"
            + (secondsFromUTC == 0 ? "Z" : offsetText)
    }

    /// The offset from UTC as "+01:00".
    public var offsetText: String {
        let minutes = abs(secondsFromUTC) / 60
        return "\(secondsFromUTC < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
    }

    /// From 0, a Sunday.
    public var weekday: Int { Self.weekday(daysSince1970: Self.daysSince1970(year, month, day)) }

    /// Days since the first of January.
    public var dayOfYear: Int { Self.daysSince1970(year, month, day) - Self.daysSince1970(year, 1, 1) }

    private func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
}

// Years start in March, so that a leap day is the last day of its year: "chrono-Compatible Low-Level Date Algorithms" by
// Howard Hinnant.
extension CalendarTime {
    private static let daysIn400Years = 146_097
    /// From March 1 of the year 0 to January 1, 1970.
    private static let daysBefore1970 = 719_468

    public static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear.dividedDown(by: 400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * daysIn400Years + dayOfEra - daysBefore1970
    }

    /// From 0, a Sunday.
    public static func weekday(daysSince1970 days: Int) -> Int {
        let weeks = (days + 4).dividedDown(by: 7)
        return days + 4 - weeks * 7
    }

    public static func isLeap(year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func date(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let days = daysSince1970 + daysBefore1970
        let era = days.dividedDown(by: daysIn400Years)
        let dayOfEra = days - era * daysIn400Years
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1
        )
    }
}

extension Int {
    /// The quotient, rounded toward negative infinity.
    fileprivate func dividedDown(by divisor: Int) -> Int {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
