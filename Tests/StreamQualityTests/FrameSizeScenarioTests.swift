import Media
import StreamQuality
import Testing

/// The frame size follows the link, together with bit rate and frame rate. The simulated encoder skips frames with too
/// few bits per pixel, as measured with OpenH264.
@Suite struct FrameSizeScenarioTests {
    private static let full = FrameSize(width: 1280, height: 720)

    @Test(arguments: [1, 2, 3] as [UInt64])
    func failingUplinkStillShowsMotion(seed: UInt64) {
        var simulation = Simulation.resizable(FailingUplinkTests.script)
        simulation.seed = seed
        let result = simulation.run(seconds: 90)
        #expect(result.framesPerSecond(in: 38...55) >= 12)
        #expect(result.framesPerSecond(in: 64...90) >= 24)
        #expect(result.point(at: 10)?.frameSize == Self.full)
        #expect((result.point(at: 50)?.frameSize?.width ?? 0) <= 640)
        #expect(result.timeToSize(Self.full, after: 63) <= 12)
        #expect(result.timeToBitrate(VideoQuality.high3.bitrate, after: 63) < 12)
        #expect(result.danglingFrames == 0)
        #expect(result.worstAge(outside: [55...64]) < 2.5)
    }

    @Test func sizeNeverChangesWithPolicyNever() {
        let result = Simulation.resizable(FailingUplinkTests.script, policy: .never).run(seconds: 90)
        #expect(result.resizes.isEmpty && result.restarts.isEmpty)
        #expect(result.moments.allSatisfy { $0.point.frameSize == Self.full })
    }

    @Test func eachSizeChangeIsARestart() {
        let result = Simulation.resizable(FailingUplinkTests.script, policy: .restart).run(seconds: 110)
        #expect(result.resizes.isEmpty, "each change is a restart")
        #expect((2...6).contains(result.restarts.count))
        #expect(result.point(at: 105)?.frameSize == Self.full)
        #expect(result.danglingFrames == 0)
    }

    /// Rather than for the size that fits the rate while the backlog is sent.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func restartIsForTheLastingSize(seed: UInt64) {
        var simulation = Simulation.resizable(LinkScript([(0, 5_000), (15, 330)]), policy: .restart)
        simulation.seed = seed
        let result = simulation.run(seconds: 60)
        #expect(result.restarts.map(\.point.frameSize) == [FrameSize(width: 640, height: 360)])
    }

    @Test func tierSwitchIncludesTheSize() {
        var simulation = Simulation.resizable(.steady(250), policy: .restart)
        simulation.settings.tierSwitch = .restartStream
        let result = simulation.run(seconds: 60)
        #expect(result.restarts.count <= 2)
        #expect((result.point(at: 50)?.frameSize?.width ?? 0) < 1280)
        #expect(result.point(at: 50)?.videoQuality?.tier == .lowAndMedium)
    }

    /// Each restart also applies the changes that the other would need.
    @Test func sizeAndTierShareTheirRestarts() {
        var simulation = Simulation.resizable(FailingUplinkTests.script, policy: .restart)
        simulation.settings.tierSwitch = .restartStream
        let result = simulation.run(seconds: 110)
        let times = result.restarts.map(\.time)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 > 4 }, "\(times)")
        #expect(times.count <= 5, "\(times)")
        #expect(result.timeToSize(Self.full, after: 63) <= 12)
        #expect(result.timeToBitrate(VideoQuality.high3.bitrate, after: 63) < 12)
        #expect(result.point(at: 105)?.videoQuality?.tier == .high)
        #expect(result.danglingFrames == 0)
    }

    @Test(arguments: [250.0, 300, 400, 500, 650, 800, 1_000, 1_200, 1_500, 2_000], [1, 2] as [UInt64])
    func steadyLinkChangesTheSizeAtMostOncePerMinute(kilobits: Double, seed: UInt64) {
        var simulation = Simulation.resizable(.steady(kilobits))
        simulation.seed = seed
        let result = simulation.run(seconds: 310)
        // While the link's rate is being found, it does not count as steady yet.
        let changes = result.resizes.filter { $0 > 10 }
        #expect(changes.count <= 5, "\(changes)")
        #expect(result.use(of: 10...300) > 0.85)
    }

    @Test(arguments: 1...100)
    func sizeReturnsWithTheLinkOnRandomLinks(seed: Int) {
        var simulation = Simulation.resizable(.random(goodFrom: 60, seed: UInt64(seed)))
        simulation.seed = UInt64(seed)
        let result = simulation.run(seconds: 100)
        #expect(result.danglingFrames == 0)
        #expect(result.timeToSize(Self.full, after: 60) < 30)
        #expect(result.framesPerSecond(in: 95...100) > 25)
        let sizes = simulation.settings.frameSizes?.sizes ?? []
        #expect(result.moments.allSatisfy { $0.point.frameSize.map(sizes.contains) ?? false })
    }

    @Test func linkThatFlapsEverySecondDoesNotFlapTheSize() {
        let script = LinkScript((0..<120).map { (Double($0), $0 % 2 == 0 ? 2_500 : 300) })
        let result = Simulation.resizable(script).run(seconds: 120)
        #expect(result.resizes.count <= 12, "\(result.resizes)")
        #expect(result.danglingFrames == 0)
    }

    @Test func sixtyKilobitsShowTheSmallestFrame() {
        let result = Simulation.resizable(LinkScript([(0, 2_500), (10, 60)])).run(seconds: 60)
        #expect(result.point(at: 50)?.frameSize == FrameSize(width: 448, height: 252))
        #expect(result.framesPerSecond(in: 30...60) > 0.3)
        #expect(result.danglingFrames == 0)
    }

    /// A still scene does not test the link, so the bit rate stays low. The frame must not stay small because of that.
    @Test(arguments: [1, 2, 3] as [UInt64]) func stillSceneIsShownAtFullSizeAtAnyBitRate(seed: UInt64) {
        var simulation = Simulation.resizable(LinkScript([(0, 2_500), (10, 250), (40, 2_500)]))
        simulation.seed = seed
        simulation.flaws.isStillFrom = 40
        let result = simulation.run(seconds: 90)
        #expect((result.point(at: 39)?.frameSize?.width ?? 0) <= 640)
        #expect(result.timeToSize(Self.full, after: 40) < 30)
        #expect(result.resizes.count { $0 > 40 } <= 3)
        #expect(result.danglingFrames == 0)
    }

    /// A still frame during a pause says nothing about the link or the later scene.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func qualityAfterAPauseIsAsBeforeIt(seed: UInt64) {
        var simulation = Simulation.resizable(.steady(900))
        simulation.seed = seed
        simulation.flaws.isStillFrom = 30
        simulation.flaws.isStillUntil = 90
        simulation.isStillPaused = true
        let result = simulation.run(seconds: 130)
        #expect(result.changes(in: 31...90) == 0)
        #expect(result.point(at: 90) == result.point(at: 31))
        #expect(result.worstAge(outside: [0...5]) < 1.5)
        #expect(result.resizes.count { $0 > 30 } == 0)
        #expect(result.danglingFrames == 0)
        #expect(result.use(of: 95...130) > 0.85)
    }

    /// A link that gets worse while a still frame is sent is detected all the same.
    @Test func linkIsWatchedDuringAPause() {
        var simulation = Simulation.resizable(LinkScript([(0, 5_000), (40, 200)]))
        simulation.flaws.isStillFrom = 20
        simulation.flaws.isStillUntil = 200
        simulation.isStillPaused = true
        let result = simulation.run(seconds: 80)
        #expect(result.changes(in: 40...80) > 0)
        #expect(result.worstAge(outside: [0...5, 40...50]) < 3)
        #expect(result.danglingFrames == 0)
    }

    @Test func refusedSizeIsNotRequestedAgain() {
        var controller = QualityController(
            settings: Simulation.resizable(.steady(1)).settings, now: .zero)
        controller.sizeRefused(keeping: Self.full)
        #expect(controller.operatingPoint.frameSize == Self.full)
        #expect(controller.settings.resize == .never)
    }
}

extension SimulationResult {
    fileprivate func framesPerSecond(in times: ClosedRange<Double>) -> Double {
        Double(frames.count { times.contains($0.arrived) }) / (times.upperBound - times.lowerBound)
    }

    /// Seconds until frames had this size again.
    fileprivate func timeToSize(_ size: FrameSize, after time: Double) -> Double {
        (moments.first { $0.time >= time && $0.point.frameSize == size }?.time ?? .infinity) - time
    }
}
