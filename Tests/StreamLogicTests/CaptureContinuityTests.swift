import Media
import StreamLogic
import Testing

@Suite struct CaptureContinuityTests {
    private func at(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }
    private let rate = FrameRate(framesPerSecond: 25)

    /// A camera that has delivered frames at 40, 80, ... 400 ms.
    private func running() -> CaptureContinuity {
        var machine = CaptureContinuity(frameRate: rate, now: at(0))
        for index in 1...10 { #expect(machine.frameArrived(now: at(40 * Int64(index))) == []) }
        return machine
    }

    @Test func nothingIsDueWhileFramesArrive() {
        let machine = running()
        #expect(machine.deadline == at(900))
    }

    @Test func silentCamerasLastFrameIsRepeatedAtItsRate() {
        var machine = running()
        for index in 0..<5 {
            let time = at(900 + 40 * Int64(index))
            #expect(machine.deadline == time)
            #expect(machine.timeReached(now: time) == [.repeatFrame(at: time)])
        }
        #expect(machine.frameArrived(now: at(1085)) == [])
        #expect(machine.deadline == at(1585))
    }

    @Test func missedRepetitionsAreNotMadeUpFor() {
        var machine = running()
        #expect(machine.timeReached(now: at(905)) == [.repeatFrame(at: at(900))])
        #expect(machine.timeReached(now: at(2000)) == [.repeatFrame(at: at(2000))])
        #expect(machine.deadline == at(2040))
    }

    @Test func silentCameraIsClosedAndReopenedAfterThreeSeconds() {
        var machine = running()
        var actions: [CaptureContinuity.Action] = []
        var reports: [CaptureContinuity.Action] = []
        while let now = machine.deadline, now < at(8000) {
            actions = machine.timeReached(now: now).filter {
                if case .repeatFrame = $0 { return false } else { return true }
            }
            reports += actions
            if actions.contains(.openCamera) { #expect(machine.openingFailed("it is away", now: now) == []) }
        }
        #expect(
            reports == [
                .closeCamera, .reportInterruption(reason: "the camera delivers no frames"), .openCamera, .openCamera,
                .openCamera, .openCamera,
            ])
        machine.cameraOpened(now: at(8000))
        #expect(machine.frameArrived(now: at(8100)) == [.reportReturn(after: .milliseconds(7700))])
    }

    @Test func lostCameraIsReportedOnlyOnce() {
        var machine = running()
        #expect(
            machine.cameraFailed("gone", now: at(420)) == [.closeCamera, .reportInterruption(reason: "gone")])
        #expect(machine.timeReached(now: at(1420)).contains(.openCamera))
        machine.cameraOpened(now: at(1430))
        #expect(machine.cameraFailed("gone", now: at(1440)) == [.closeCamera])
        #expect(machine.timeReached(now: at(2440)).contains(.openCamera))
        machine.cameraOpened(now: at(2450))
        #expect(machine.frameArrived(now: at(2500)) == [.reportReturn(after: .milliseconds(2100))])
    }

    @Test func cameraWithoutAFirstFrameGetsMoreTimeAndNoRepetition() {
        var machine = CaptureContinuity(frameRate: rate, now: at(0))
        #expect(machine.deadline == at(10_000))
        #expect(
            machine.timeReached(now: at(10_000))
                == [.closeCamera, .reportInterruption(reason: "the camera delivers no frames")])
        #expect(machine.deadline == at(11_000))
    }

    @Test func slowCameraGetsTwentyFrameDurations() {
        var machine = CaptureContinuity(frameRate: FrameRate(framesPerSecond: 1), now: at(0))
        #expect(machine.deadline == at(20_000))
        _ = machine.frameArrived(now: at(1000))
        #expect(machine.deadline == at(4000))
    }

    /// Another camera needs its resources, so its last frame is repeated at once and nothing is reported.
    @Test func suspendedCamerasLastFrameIsRepeatedAtOnce() {
        var machine = running()
        machine.suspended()
        for index in 1...200 {
            let time = at(400 + 40 * Int64(index))
            #expect(machine.deadline == time)
            #expect(machine.timeReached(now: time) == [.repeatFrame(at: time)])
        }
        machine.resumed(now: at(8410))
        #expect(machine.deadline == at(8410))
        #expect(machine.timeReached(now: at(8410)) == [.openCamera])
        machine.cameraOpened(now: at(8420))
        #expect(machine.frameArrived(now: at(8430)) == [])
    }

    @Test func suspendedCameraThatDoesNotReturnIsReported() {
        var machine = running()
        machine.suspended()
        machine.resumed(now: at(410))
        #expect(machine.timeReached(now: at(410)) == [.openCamera])
        #expect(machine.openingFailed("it is away", now: at(410)) == [.reportInterruption(reason: "it is away")])
        #expect(machine.openingFailed("it is away", now: at(1410)) == [])
        machine.cameraOpened(now: at(2410))
        #expect(machine.frameArrived(now: at(2440)) == [.reportReturn(after: .milliseconds(2040))])
    }
}

@Suite struct StaleFramesTests {
    private func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }

    /// Six buffers filled while no frame was taken; the next frame has its usual delay.
    @Test func onlyFramesThatWaitedAreDropped() {
        var stale = StaleFrames()
        for number in Int64(0)..<30 {
            let isStale = stale.isStale(capturedAt: time(number * 33), now: time(number * 33 + 20))
            #expect(!isStale)
        }
        for number in Int64(30)..<36 {
            let isStale = stale.isStale(capturedAt: time(number * 33), now: time(5000))
            #expect(isStale)
        }
        let next = stale.isStale(capturedAt: time(5010), now: time(5040))
        #expect(!next)
    }

    @Test func shortWaitDoesNotCount() {
        var stale = StaleFrames()
        _ = stale.isStale(capturedAt: time(0), now: time(20))
        let isStale = stale.isStale(capturedAt: time(33), now: time(33 + 500))
        #expect(!isStale)
    }

    @Test func framesOfAnAlwaysLateCameraAreKept() {
        var stale = StaleFrames()
        for number in Int64(0)..<100 {
            let isStale = stale.isStale(capturedAt: time(number * 33), now: time(number * 33 + 2000))
            #expect(!isStale)
        }
    }

    @Test func cameraThatBecomesSlowerIsAcceptedAfterAFewFrames() {
        var stale = StaleFrames()
        _ = stale.isStale(capturedAt: time(0), now: time(20))
        let left = (Int64(1)..<100).count { stale.isStale(capturedAt: time($0 * 33), now: time($0 * 33 + 900)) }
        #expect(left == 16)
    }
}
