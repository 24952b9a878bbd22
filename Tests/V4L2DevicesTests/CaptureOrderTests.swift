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

    @Test func numbersThatWrapOrStartAnewLoseNothing() {
        var order = CaptureOrder()
        let missed = [UInt32.max, 0, 5000, 3].map { order.missed(before: $0) }
        #expect(missed == [0, 0, 0, 0])
    }

    @Test func otherNumbersAreNoneMissing() {
        var order = CaptureOrder()
        _ = order.missed(before: 7)
        order.numbersChange()
        #expect([UInt32(100), 102].map { order.missed(before: $0) } == [0, 1])
    }

    @Test func theDriversTimeIsTaken() {
        var order = CaptureOrder()
        let time = order.captureTime(now - .milliseconds(40), now: now)
        #expect(time == now - .milliseconds(40))
    }

    @Test(arguments: [nil, MediaTimestamp.zero, MediaTimestamp(nanoseconds: 100_000_000_001)])
    func aTimeThatCannotBeRightIsNow(stamp: MediaTimestamp?) {
        var order = CaptureOrder()
        let time = order.captureTime(stamp, now: now)
        #expect(time == now)
    }

    @Test func timeNeverGoesBack() {
        var order = CaptureOrder()
        let times = [20, 20, 30, 10].map { order.captureTime(now - .milliseconds($0), now: now) }
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }
}
