import Media

/// A rule of POSIX's variable TZ (POSIX.1-2017 section 8.3), with the times from -167 to 167 hours of RFC 8536 section
/// 3.3.1, such as "CET-1CEST,M3.5.0,M10.5.0/3".
struct TimeZoneRule: Hashable, Sendable {
    /// A day of each year.
    enum Day: Hashable, Sendable {
        /// 1 to 365; February 29 does not count.
        case number(Int)
        /// 0 to 365; February 29 counts.
        case offset(Int)
        /// Month 1 to 12, week 1 to 5 (5 is the last), weekday from 0, a Sunday.
        case weekday(Int, week: Int, month: Int)
    }

    /// When clocks change.
    struct Change: Hashable, Sendable {
        let day: Day
        /// Seconds after midnight, on the clocks before the change.
        let time: Int
    }

    struct DaylightSaving: Hashable, Sendable {
        let offset: UTCOffset
        let start: Change
        let end: Change
    }

    let standard: UTCOffset
    let daylightSaving: DaylightSaving?

    init(standard: UTCOffset, daylightSaving: DaylightSaving? = nil) {
        self.standard = standard
        self.daylightSaving = daylightSaving
    }

    func offset(at secondsSince1970: Int64) -> UTCOffset {
        guard let daylightSaving else { return standard }
        let year = CalendarTime(secondsSince1970: secondsSince1970, secondsFromUTC: standard.seconds).year
        var latest: (time: Int, offset: UTCOffset)?
        // A change may be days before or after its date. Where both changes coincide, daylight saving time goes on.
        for year in (year - 1)...(year + 1) {
            for (change, before, after) in [
                (daylightSaving.end, daylightSaving.offset, standard),
                (daylightSaving.start, standard, daylightSaving.offset),
            ] {
                let time = change.day.daysSince1970(in: year) * 86400 + change.time - before.seconds
                if time <= secondsSince1970, time >= latest?.time ?? .min { latest = (time, after) }
            }
        }
        return latest?.offset ?? standard
    }
}

extension TimeZoneRule.Day {
    func daysSince1970(in year: Int) -> Int {
        switch self {
        case .number(let number):
            let isAfterLeapDay = number >= 60 && CalendarTime.isLeap(year: year)
            return CalendarTime.daysSince1970(year, 1, 1) + number - (isAfterLeapDay ? 0 : 1)
        case .offset(let days): return CalendarTime.daysSince1970(year, 1, 1) + days
        case .weekday(let weekday, let week, let month):
            let first = CalendarTime.daysSince1970(year, month, 1)
            let next = CalendarTime.daysSince1970(month == 12 ? year + 1 : year, month % 12 + 1, 1)
            let wait = (weekday - CalendarTime.weekday(daysSince1970: first) + 7) % 7
            let day = first + wait + (week - 1) * 7
            return day < next ? day : day - 7
        }
    }
}

extension TimeZoneRule {
    /// - Returns: `nil` if the text is not a complete rule. Daylight saving time needs its two dates.
    init?(_ text: some StringProtocol) {
        var reader = RuleReader(rest: Array(text.utf8)[...])
        guard let name = reader.name(), let west = reader.time(hours: 24) else { return nil }
        standard = UTCOffset(seconds: -west, abbreviation: name)
        guard !reader.rest.isEmpty else {
            daylightSaving = nil
            return
        }
        guard let summerName = reader.name() else { return nil }
        var seconds = standard.seconds + 3600
        if reader.rest.first != UInt8(ascii: ",") {
            guard let west = reader.time(hours: 24) else { return nil }
            seconds = -west
        }
        guard let start = reader.change(), let end = reader.change(), reader.rest.isEmpty else { return nil }
        daylightSaving = DaylightSaving(
            offset: UTCOffset(seconds: seconds, abbreviation: summerName, isDaylightSaving: true), start: start,
            end: end)
    }
}

/// Reads a rule's parts from its start.
private struct RuleReader {
    var rest: ArraySlice<UInt8>

    private mutating func take(_ letter: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: letter) else { return false }
        rest.removeFirst()
        return true
    }

    /// At least three letters, or any letters, digits and signs between < and >.
    mutating func name() -> String? {
        let isQuoted = take("<")
        let name = rest.prefix { byte in
            byte.isASCIILetter
                || isQuoted && (byte.isASCIIDigit || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"))
        }
        rest = rest.dropFirst(name.count)
        guard name.count >= 3, !isQuoted || take(">") else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix(while: \.isASCIIDigit)
        guard digits.count <= 3, let number = Int(String(decoding: digits, as: UTF8.self)), range.contains(number)
        else { return nil }
        rest = rest.dropFirst(digits.count)
        return number
    }

    /// `[+|-]hours[:minutes[:seconds]]`, in seconds.
    mutating func time(hours most: Int) -> Int? {
        let isNegative = take("-")
        if !isNegative { _ = take("+") }
        guard var seconds = number(0...most).map({ $0 * 3600 }) else { return nil }
        for unit in [60, 1] where take(":") {
            guard let part = number(0...59) else { return nil }
            seconds += part * unit
        }
        return isNegative ? -seconds : seconds
    }

    /// A comma, a date, and its time after a slash.
    mutating func change() -> TimeZoneRule.Change? {
        guard take(","), let day = day() else { return nil }
        guard take("/") else { return TimeZoneRule.Change(day: day, time: 7200) }
        return time(hours: 167).map { TimeZoneRule.Change(day: day, time: $0) }
    }

    private mutating func day() -> TimeZoneRule.Day? {
        if take("J") { return number(1...365).map { .number($0) } }
        guard take("M") else { return number(0...365).map { .offset($0) } }
        guard let month = number(1...12), take("."), let week = number(1...5), take("."), let weekday = number(0...6)
        else { return nil }
        return .weekday(weekday, week: week, month: month)
    }
}
