import Media
import Testing

@testable import TimeZones

@Suite struct TimeZoneRuleTests {
    private func offset(_ text: String, _ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0) throws -> Int {
        let seconds = CalendarTime.daysSince1970(year, month, day) * 86400 + hour * 3600
        return try #require(TimeZoneRule(text)).offset(at: Int64(seconds)).seconds
    }

    @Test func partsAreRead() throws {
        let rule = try #require(TimeZoneRule("<-0330>3:30:15<+02>-2,M9.1.6/-24,J60/167:59:59"))
        #expect(rule.standard == UTCOffset(seconds: -12615, abbreviation: "-0330"))
        let summer = try #require(rule.daylightSaving)
        #expect(summer.offset == UTCOffset(seconds: 7200, abbreviation: "+02", isDaylightSaving: true))
        #expect(summer.start.day == .weekday(6, week: 1, month: 9) && summer.start.time == -86400)
        #expect(summer.end.day == .number(60) && summer.end.time == 604_799)
        let short = try #require(TimeZoneRule("CET-1CEST,5,M10.5.0"))
        #expect(short.daylightSaving?.offset.seconds == 7200, "one hour more unless the rule says otherwise")
        #expect(short.daylightSaving?.start == TimeZoneRule.Change(day: .offset(5), time: 7200))
    }

    @Test(arguments: [
        "", "CE-1", "CET", "CET-1CEST", "CET-25", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,J0,J365", "CET-1CEST,J1,366",
        "CET-1CEST,M3.5.0,M10.5.0/168", "CET-1CEST,M3.5.0,M10.5.0,", "CET-1CEST,M3.5.0,M10.5.0 ", "<+01-1", "CET-1:60",
        "CÉT-1", "CET--1", "CET-00000001",
    ])
    func incompleteOrWrongRuleIsRefused(text: String) { #expect(TimeZoneRule(text) == nil) }

    @Test func numberedDaysSkipTheLeapDay() throws {
        // J60 is March 1 in every year; day 59 is February 29 in a leap year.
        #expect(try offset("AAA0BBB,J60/0,J300/0", 2027, 3, 1) == 3600)
        #expect(try offset("AAA0BBB,J60/0,J300/0", 2028, 2, 29, 23) == 0)
        #expect(try offset("AAA0BBB,J60/0,J300/0", 2028, 3, 1) == 3600)
        #expect(try offset("AAA0BBB,59/0,J300/0", 2027, 2, 28, 23) == 0)
        #expect(try offset("AAA0BBB,59/0,J300/0", 2028, 2, 29) == 3600)
    }

    @Test func yearLongDaylightSavingNeverEnds() throws {
        // RFC 8536 section 3.3.1.
        for (month, day) in [(1, 1), (7, 1), (12, 31)] {
            #expect(try offset("XXX3EDT4,0/0,J365/23", 2027, month, day, 3) == -14400)
        }
    }

    @Test func changesMayBeDaysAfterTheirDate() throws {
        // The Saturday after the fourth Thursday in March, at 2:00: on the 27th in 2027.
        let gaza = "EET-2EEST,M3.4.4/50,M10.4.4/50"
        #expect(try offset(gaza, 2027, 3, 26, 23) == 7200)
        #expect(try offset(gaza, 2027, 3, 27, 0) == 10800)
    }

    @Test func newYearIsInSouthernSummer() throws {
        for hour in 0...23 { #expect(try offset("NZST-12NZDT,M9.5.0,M4.1.0/3", 2026, 12, 31, hour) == 46800) }
    }

    @Test func anyTimeHasAnOffset() throws {
        let rule = try #require(TimeZoneRule("CET-1CEST,M3.5.0,M10.5.0/3"))
        for seconds in [Int64.min, -1, 0, 1 << 40, .max] {
            #expect([3600, 7200].contains(rule.offset(at: seconds).seconds))
        }
    }
}
