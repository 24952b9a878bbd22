import DevicePorts
import Media
import Testing

@Suite struct CaptureOrderTests {
    let now = MediaTimestamp(nanoseconds: 100_000_000_000)

    @Test func missingFramesAreCountedOnce() {
        var order = CaptureOrder()
        let missed = [UInt32(7), 8, 11, 12].map { order.missed(before: $0) }
        #expect(missed == [0, 0, 2, 0])
    }

    @Test func wrappedOrRestartedNumbersReportNoLoss() {
        var order = CaptureOrder()
        let missed = [UInt32.max, 0, 5000, 3].map { order.missed(before: $0) }
        #expect(missed == [0, 0, 0, 0])
    }

    @Test func otherJumpsReportNoLoss() {
        var order = CaptureOrder()
        _ = order.missed(before: 7)
        order.numbersChange()
        #expect([UInt32(100), 102].map { order.missed(before: $0) } == [0, 1])
    }

    /// 30 frames per second, one of them lost, then 15 per second.
    @Test func sensorClockRevealsLossesThatNumbersHide() {
        var order = CaptureOrder()
        let starts = [0, 33, 66, 133, 166, 233].map { now + .milliseconds($0) }
        let durations = [33, 33, 33, 33, 67, 67].map { Duration.milliseconds($0) }
        let missed = zip(starts, durations).map { order.missed(beforeFrameAt: $0, lasting: $1) }
        #expect(missed == [0, 0, 0, 1, 0, 0])
    }

    @Test func withoutAFrameDurationNothingCountsAsMissing() {
        var order = CaptureOrder()
        let missed = [0, 33, 200].map { order.missed(beforeFrameAt: now + .milliseconds($0), lasting: .zero) }
        #expect(missed == [0, 0, 0])
    }

    @Test func driversTimestampIsUsed() {
        var order = CaptureOrder()
        let time = order.captureTime(now - .milliseconds(40), now: now)
        #expect(time == now - .milliseconds(40))
    }

    @Test(arguments: [nil, MediaTimestamp.zero, MediaTimestamp(nanoseconds: 100_000_000_001)])
    func impossibleTimestampIsReplacedByNow(stamp: MediaTimestamp?) {
        var order = CaptureOrder()
        let time = order.captureTime(stamp, now: now)
        #expect(time == now)
    }

    @Test func timeNeverGoesBackwards() {
        var order = CaptureOrder()
        let times = [20, 20, 30, 10].map { order.captureTime(now - .milliseconds($0), now: now) }
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }
}
