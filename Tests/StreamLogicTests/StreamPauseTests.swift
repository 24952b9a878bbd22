import Media
import StreamLogic
import Testing

@Suite struct StreamPauseTests {
    private func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }

    @Test func everythingIsReplacedWhilePaused() {
        var pause = StreamPause()
        #expect(!pause.isPaused && !pause.replaces(capturedAt: time(0)))
        #expect(pause.pauseRequested(now: time(1000)) == true)
        #expect(pause.isPaused && pause.replaces(capturedAt: time(990)) && pause.replaces(capturedAt: time(9000)))
    }

    /// A microphone's blocks and a camera's frames arrive late.
    @Test func mediaCapturedBeforeTheResumptionIsNeverSent() {
        var pause = StreamPause()
        _ = pause.pauseRequested(now: time(1000))
        #expect(pause.resumeRequested(now: time(5000)) == true)
        #expect(!pause.isPaused && pause.replaces(capturedAt: time(4999)))
        #expect(!pause.replaces(capturedAt: time(5000)))
        _ = pause.pauseRequested(now: time(5010))
        #expect(pause.replaces(capturedAt: time(5005)))
    }

    /// A lost camera's last frame is repeated, each time with a new capture time.
    @Test func frameFromThePauseIsNotRepeatedAfterIt() {
        var pause = StreamPause()
        _ = pause.pauseRequested(now: time(1000))
        _ = pause.resumeRequested(now: time(5000))
        #expect(pause.replaces(capturedAt: time(6000), takenAt: time(4000)))
        #expect(!pause.replaces(capturedAt: time(6000), takenAt: time(900)), "it was seen before the pause")
        #expect(!pause.replaces(capturedAt: time(6000), takenAt: time(5500)))
        #expect(pause.replaces(capturedAt: time(4999), takenAt: time(900)))
    }

    @Test func frameFromBeforeThePauseReturnsAfterIt() {
        var pause = StreamPause()
        #expect(!pause.returns(frameTakenAt: time(900)))
        _ = pause.pauseRequested(now: time(1000))
        #expect(pause.returns(frameTakenAt: time(900)) && !pause.returns(frameTakenAt: time(1000)))
        _ = pause.resumeRequested(now: time(5000))
        #expect(pause.returns(frameTakenAt: time(900)) && !pause.returns(frameTakenAt: time(6000)))
    }

    @Test func repeatedRequestChangesNothing() {
        var pause = StreamPause()
        #expect(pause.resumeRequested(now: time(1)) == false)
        #expect(pause.pauseRequested(now: time(2)) == true)
        #expect(pause.pauseRequested(now: time(900)) == false)
        #expect(!pause.mayShow(frameTakenAt: time(1000)), "the pause started at 2 ms")
        #expect(pause.resumeRequested(now: time(1000)) == true)
        #expect(pause.resumeRequested(now: time(2000)) == false)
        #expect(!pause.replaces(capturedAt: time(1500)))
    }

    /// The frames of a short pause arrive after it.
    @Test func lastFrameBeforeAShortPauseIsKnownAfterIt() {
        var pause = StreamPause()
        _ = pause.pauseRequested(now: time(1000))
        _ = pause.resumeRequested(now: time(1020))
        #expect(pause.replaces(capturedAt: time(1010)) && pause.mayShow(frameTakenAt: time(1010)))
    }

    @Test func onlyAFrameFromJustBeforeThePauseMayBeShown() {
        var pause = StreamPause()
        #expect(!pause.mayShow(frameTakenAt: time(0)))
        _ = pause.pauseRequested(now: time(1000))
        #expect(pause.mayShow(frameTakenAt: time(900)) && pause.mayShow(frameTakenAt: time(1200)))
        #expect(!pause.mayShow(frameTakenAt: time(1300)))
    }
}
