import Media
import Testing

@testable import V4L2Devices

@Suite struct InFlightFramesTests {
    private func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }

    @Test func overtakenFramesCountAsSkipped() {
        var frames = InFlightFrames()
        for index in Int64(0)..<5 { frames.frameSubmitted(time(index * 40)) }
        let first = frames.frameReturned(time(0))
        #expect(first && frames.count == 4)
        let later = frames.frameReturned(time(120))
        #expect(later && frames.count == 1)
        #expect(!frames.expects(time(80)) && frames.expects(time(160)))
    }

    @Test func everyPatternOfSkipsLeavesNoFrameBehind() {
        for pattern in 0..<256 {
            var frames = InFlightFrames()
            for index in 0..<64 {
                frames.frameSubmitted(time(Int64(index)))
                guard pattern >> (index % 8) & 1 == 0 else { continue }
                let isExpected = frames.frameReturned(time(Int64(index)))
                #expect(isExpected && frames.count == 0)
            }
            #expect(frames.count <= 8 || pattern == 255)
            frames.encoderStopped()
            #expect(frames.count == 0)
        }
    }

    @Test func timestampsAreComparedInMicroseconds() {
        var frames = InFlightFrames()
        frames.frameSubmitted(MediaTimestamp(nanoseconds: 1_234_567_891))
        let isExpected = frames.frameReturned(MediaTimestamp(nanoseconds: 1_234_567_000))
        #expect(isExpected)
    }

    @Test func frameIsExpectedOnlyOnce() {
        var frames = InFlightFrames()
        frames.frameSubmitted(time(1))
        let first = frames.frameReturned(time(1))
        #expect(first)
        let again = frames.frameReturned(time(1))
        #expect(!again)
    }
}
