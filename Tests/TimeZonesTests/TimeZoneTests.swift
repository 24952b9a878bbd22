import Media
import Testing

@testable import TimeZones

@Suite struct TimeZoneTests {
    /// Seconds since 1970 of a time in UTC.
    private func utc(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0) -> Int64 {
        Int64(CalendarTime.daysSince1970(year, month, day) * 86400 + hour * 3600 + minute * 60)
    }

    private func text(_ name: String, at seconds: Int64) throws -> String {
        let offset = try TimeZone(named: name).offset(at: seconds)
        let time = CalendarTime(secondsSince1970: seconds, secondsFromUTC: offset.seconds)
        return "\(time.text) \(offset.abbreviation)\(offset.isDaylightSaving ? " DST" : "")"
    }

    @Test(arguments: [
        ("UTC", "2027-01-15T12:00:00Z UTC", "2027-07-15T12:00:00Z UTC"),
        ("Europe/Berlin", "2027-01-15T13:00:00+01:00 CET", "2027-07-15T14:00:00+02:00 CEST DST"),
        ("America/New_York", "2027-01-15T07:00:00-05:00 EST", "2027-07-15T08:00:00-04:00 EDT DST"),
        ("Australia/Sydney", "2027-01-15T23:00:00+11:00 AEDT DST", "2027-07-15T22:00:00+10:00 AEST"),
        ("Australia/Lord_Howe", "2027-01-15T23:00:00+11:00 +11 DST", "2027-07-15T22:30:00+10:30 +1030"),
        ("Asia/Kathmandu", "2027-01-15T17:45:00+05:45 +0545", "2027-07-15T17:45:00+05:45 +0545"),
        ("America/St_Johns", "2027-01-15T08:30:00-03:30 NST", "2027-07-15T09:30:00-02:30 NDT DST"),
        ("Pacific/Kiritimati", "2027-01-16T02:00:00+14:00 +14", "2027-07-16T02:00:00+14:00 +14"),
        // Ireland's winter is the exception, an hour behind its standard time.
        ("Europe/Dublin", "2027-01-15T12:00:00Z GMT DST", "2027-07-15T13:00:00+01:00 IST"),
        ("US/Pacific", "2027-01-15T04:00:00-08:00 PST", "2027-07-15T05:00:00-07:00 PDT DST"),
    ])
    func showsLocalTimeInJanuaryAndJuly(name: String, january: String, july: String) throws {
        #expect(try text(name, at: utc(2027, 1, 15, 12)) == january)
        #expect(try text(name, at: utc(2027, 7, 15, 12)) == july)
    }

    @Test func nextMinuteIsRightWhenClocksChange() throws {
        let spring = utc(2027, 3, 28, 1)
        #expect(try text("Europe/Berlin", at: spring - 1) == "2027-03-28T01:59:59+01:00 CET")
        #expect(try text("Europe/Berlin", at: spring) == "2027-03-28T03:00:00+02:00 CEST DST")
        let autumn = utc(2027, 10, 31, 1)
        #expect(try text("Europe/Berlin", at: autumn - 1) == "2027-10-31T02:59:59+02:00 CEST DST")
        #expect(try text("Europe/Berlin", at: autumn) == "2027-10-31T02:00:00+01:00 CET")
    }

    /// The table on the left is the program's; the expectations are Python's, from the same tz database.
    @Test func everyRuleChangesClocksWhenPythonSays() throws {
        let expected = TimeZoneTable.entries(in: ExpectedChanges.text)
        #expect(expected.map { $0.rule } == TimeZoneTable.entries(in: TimeZoneTable.text).map { $0.rule })
        for (text, changes) in expected {
            let rule = try #require(TimeZoneRule(text), "\(text)")
            var time = ExpectedChanges.start
            var shown = changes[0]
            for change in changes.dropFirst() + ["\(ExpectedChanges.end)="] {
                let words = change.split(separator: "=")
                let next = try #require(Int(words[0]))
                for seconds in [time, (time + next) / 2, next - 1] {
                    let offset = rule.offset(at: Int64(seconds))
                    #expect("\(offset.seconds)/\(offset.abbreviation)" == shown, "\(text) at \(seconds)")
                }
                time = next
                shown = words.last ?? ""
            }
        }
    }

    @Test func tableHasEveryNameOnce() throws {
        let names = TimeZone.names
        #expect(names.count > 590 && Set(names).count == names.count)
        for name in names { #expect(try TimeZone(named: name).name == name) }
        #expect(try TimeZone(named: "UTC") == .utc)
    }

    @Test(
        arguments: [
            ("Europe/Berln", "Europe/Berlin"), ("europe/berlin", "Europe/Berlin"), ("Berlin", "Europe/Berlin"),
            ("New York", "America/New_York"), ("America/New York", "America/New_York"), ("Kolkatta", "Asia/Kolkata"),
            ("Mars/Olympus_Mons", nil), ("", nil), ("CET-1CEST,M3.5.0,M10.5.0/3", nil),
        ] as [(String, String?)])
    func unknownNameSuggestsTheNearest(name: String, suggestion: String?) {
        #expect(throws: TimeZoneError(name: name, suggestion: suggestion)) { try TimeZone(named: name) }
    }

    @Test func errorNamesTheSuggestion() {
        #expect(
            TimeZoneError(name: "Berlin", suggestion: "Europe/Berlin").description
                == #"is not a name of the tz database; did you mean "Europe/Berlin"?"#)
    }
}
