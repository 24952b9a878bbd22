import Media
import Testing

@Suite struct CalendarTimeTests {
    @Test(arguments: [
        (0, 0, "1970-01-01T00:00:00Z", 4), (-1, 0, "1969-12-31T23:59:59Z", 3),
        (951_827_696, 0, "2000-02-29T12:34:56Z", 2), (4_107_542_399, 0, "2100-02-28T23:59:59Z", 0),
        (4_107_542_400, 0, "2100-03-01T00:00:00Z", 1), (1_795_413_600, 3600, "2026-11-23T07:00:00+01:00", 1),
        (1_795_413_600, -12600, "2026-11-23T02:30:00-03:30", 1), (1_798_761_599, 1, "2027-01-01T00:00:00+00:00", 5),
    ])
    func unixSecondsBecomeDates(seconds: Int, offset: Int, text: String, weekday: Int) {
        let time = CalendarTime(secondsSince1970: Int64(seconds), secondsFromUTC: offset)
        #expect(time.text == text && time.weekday == weekday)
    }

    @Test func everyDayOfFourCenturiesFollowsTheOneBefore() {
        var previous = CalendarTime(secondsSince1970: -1)
        for day in 0..<146_097 {
            let time = CalendarTime(secondsSince1970: Int64(day) * 86400)
            let isNextDay = time.day == previous.day + 1 && time.month == previous.month
            let isNextMonth = time.day == 1 && time.month == previous.month % 12 + 1 && previous.day >= 28
            guard isNextDay || isNextMonth, time.weekday == (previous.weekday + 1) % 7,
                CalendarTime.daysSince1970(time.year, time.month, time.day) == day,
                time.dayOfYear == (time.month == 1 && time.day == 1 ? 0 : previous.dayOfYear + 1)
            else {
                Issue.record("\(time.text) follows \(previous.text)")
                return
            }
            previous = time
        }
        #expect(previous.text == "2369-12-31T00:00:00Z")
    }

    @Test func extremeTimesAreLimited() {
        #expect(CalendarTime(secondsSince1970: .max).year > 999_000)
        #expect(CalendarTime(secondsSince1970: .min).year < -997_000)
    }
}
