import Media
import Testing

@testable import SyntheticSources

@Suite struct PipeScheduleTests {
    private let start = MediaTimestamp(milliseconds: 5000)
    private let duration = Duration.milliseconds(20)

    private func times(_ schedule: inout PipeSchedule, arriving offsets: [Duration]) -> [Duration] {
        var readTime = start
        return offsets.map { offset in
            readTime = schedule.time(ofArrival: start + offset, lasting: duration, readSince: readTime)
            return readTime - start
        }
    }

    @Test func itemsThatArriveAtOnceKeepTheirRate() {
        var schedule = PipeSchedule(isPaced: true)
        let given = times(&schedule, arriving: [Duration](repeating: .zero, count: 500))
        #expect(given == (0..<500).map { duration * $0 })
    }

    @Test func unpacedPipeDeliversItemsOnArrival() {
        var schedule = PipeSchedule(isPaced: false)
        let arrivals: [Duration] = [.zero, .zero, .milliseconds(3), .milliseconds(3), .seconds(9)]
        #expect(times(&schedule, arriving: arrivals) == arrivals)
    }

    @Test func lateItemComesAtOnceAndLaterOnesCatchUp() {
        var schedule = PipeSchedule(isPaced: true)
        let arrivals: [Duration] = [.zero, .milliseconds(70), .milliseconds(71), .milliseconds(72), .milliseconds(73)]
        let given = times(&schedule, arriving: arrivals)
        #expect(given[..<4] == [.zero, .milliseconds(70), .milliseconds(71), .milliseconds(72)])
        #expect(given[4] > .milliseconds(79) && given[4] <= .milliseconds(80))
    }

    @Test func longPauseIsNotCaughtUp() {
        var schedule = PipeSchedule(isPaced: true)
        let pause = Duration.seconds(10)
        let given = times(&schedule, arriving: [.zero, pause, pause, pause])
        #expect(given[1] == pause)
        let quickest: Duration = duration * 2 * 499 / 500
        #expect(given[3] - given[1] > quickest - .nanoseconds(10))
    }

    /// A sound card that is one thousandth too fast, for an hour.
    @Test func writerWithAFastClockIsFollowed() {
        var schedule = PipeSchedule(isPaced: true)
        let given = times(&schedule, arriving: (0..<180_000).map { duration * $0 * 999 / 1000 })
        let waits = given.enumerated().map { index, time in time - duration * index * 999 / 1000 }
        #expect(waits.allSatisfy { $0 < .milliseconds(21) })
    }
}
