import Media
import MediaTestSupport
import SeededNumbers
import Testing

@testable import SoftwareEncoding

@Suite struct AudioTimelineTests {
    private static let start = MediaTimestamp(milliseconds: 7_000_000)

    private func timeline(_ rate: Int) -> AudioTimeline {
        AudioTimeline(sampleRate: rate, gapThreshold: .milliseconds(100))
    }

    private func exactTime(_ frame: Int64, _ rate: Int64) -> MediaTimestamp {
        Self.start + .seconds(frame / rate) + .nanoseconds(frame % rate * 1_000_000_000 / rate)
    }

    @Test(arguments: [11_025, 22_050, 44_100, 48_000])
    func sampleTimesDoNotDriftForAnHour(rate: Int) throws {
        var timeline = timeline(rate)
        let blocks = Int64(3600 * rate / 1024)
        for block in 0..<blocks {
            let time = exactTime(block * 1024, Int64(rate))
            #expect(timeline.blockArrived(at: time, frameCount: 1024) == nil)
        }
        let end = try #require(timeline.time(ofFrame: blocks * 1024))
        #expect((end - exactTime(blocks * 1024, Int64(rate))).wholeNanoseconds.magnitude <= 2)
    }

    @Test(arguments: [-200, 200])
    func followsASoundCardWhoseClockIsOff(partsPerMillion: Int64) throws {
        var timeline = timeline(48_000)
        for block in 0..<Int64(168_750) {
            let nominal = block * 1024 * 1_000_000 / 48
            let time = Self.start + .nanoseconds(nominal + nominal / 1_000_000 * partsPerMillion)
            let action = timeline.blockArrived(at: time, frameCount: 1024)
            #expect(action == nil)
            // Without correction, it would be 0.7 s off after an hour.
            let frame = try #require(timeline.time(ofFrame: block * 1024))
            #expect((frame - time).wholeNanoseconds.magnitude < 1_000_000)
        }
    }

    @Test func hidesJitter() throws {
        var timeline = timeline(44_100)
        var random = SeededGenerator(seed: 4)
        var last: MediaTimestamp?
        for block in 0..<Int64(2000) {
            let jitter = Duration.microseconds(Int64.random(in: 0...20_000, using: &random))
            #expect(timeline.blockArrived(at: exactTime(block * 1024, 44_100) + jitter, frameCount: 1024) == nil)
            let time = try #require(timeline.time(ofFrame: block * 1024))
            if let last {
                let error = (time - last).wholeNanoseconds - 1024 * 1_000_000_000 / 44_100
                #expect(error.magnitude < 24_000)
            }
            last = time
        }
    }

    @Test func distinguishesGapsFromJitter() {
        var timeline = timeline(48_000)
        #expect(timeline.time(ofFrame: 0) == nil)
        #expect(timeline.blockArrived(at: Self.start, frameCount: 4800) == nil)
        #expect(timeline.blockArrived(at: Self.start + .milliseconds(200), frameCount: 4800) == nil)
        // The timeline expects 0.1 ms after 200 ms, since it has moved by a thousandth of the block.
        let late = Self.start + .microseconds(200_100) + .milliseconds(101)
        #expect(timeline.blockArrived(at: late, frameCount: 4800) == .insertSilence(frameCount: 4848))
        #expect(timeline.time(ofFrame: 9600 + 4848) == late)
    }

    @Test func longBreakMovesTheTime() {
        var timeline = timeline(48_000)
        #expect(timeline.blockArrived(at: Self.start, frameCount: 4800) == nil)
        let late = Self.start + .milliseconds(5101)
        #expect(timeline.blockArrived(at: late, frameCount: 4800) == nil)
        #expect(timeline.time(ofFrame: 4800) == late)
    }

    @Test func leadOfMoreThanASecondIsCut() {
        var timeline = timeline(48_000)
        #expect(timeline.blockArrived(at: Self.start, frameCount: 48_000 * 2) == nil)
        #expect(timeline.blockArrived(at: Self.start + .seconds(1), frameCount: 0) == nil)
        let action = timeline.blockArrived(at: Self.start + .milliseconds(900), frameCount: 96_000)
        #expect(action == .drop(frameCount: 52_800))
        // The rest of the block starts at its capture time.
        #expect(timeline.time(ofFrame: 48_000 * 2) == Self.start + .milliseconds(2000))
    }
}
