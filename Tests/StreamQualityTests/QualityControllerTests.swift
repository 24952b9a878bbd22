import Media
import SeededNumbers
import Testing

@testable import StreamQuality

/// Passes measurements to a controller by hand.
private struct Script {
    var controller: QualityController
    private(set) var seconds = 0.0
    private var appended = 0
    private var delivered = 0
    private var encoded = 0
    /// The buffer's level.
    var level = SendBufferLevel.low
    /// Delay as on a link with this route delay.
    var isDelayHidden = false

    init(_ settings: QualitySettings = QualitySettings(videoQuality: .high3, audioQuality: .high2)) {
        controller = QualityController(settings: settings, now: .zero)
    }

    var now: MediaTimestamp { MediaScript.time(seconds) }

    /// Sends at the operating point over a link of `kilobits` for a time, and returns the controller's actions.
    mutating func play(_ duration: Double, link kilobits: Double) -> [QualityAction] {
        var actions: [QualityAction] = []
        for _ in 0..<Int(duration * 10) {
            seconds += 0.1
            let rate = controller.total(of: controller.operatingPoint).bitsPerSecond
            appended += rate / 80
            encoded += controller.operatingPoint.videoBitrate.bitsPerSecond / 80
            delivered = min(appended, delivered + Int(kilobits * 1000 / 80))
            let backlog = appended - delivered
            var buffer = StreamMeasurement(
                now: now, buffer: SendBuffer(), encodedVideoBytes: encoded, encodedFrames: Int(seconds * 30),
                skippedFrames: 0)
            buffer.appendedBytes = appended
            buffer.deliveredBytes = delivered
            buffer.undeliveredBytes = backlog
            buffer.waitingBytes = backlog
            buffer.deliveryDelay = isDelayHidden ? .zero : .seconds(Double(backlog) * 8 / Double(max(1, rate)))
            buffer.bufferLevel = level
            actions += controller.measured(buffer)
        }
        return actions
    }
}

extension [QualityAction] {
    fileprivate var reasons: [QualityChangeReason] {
        compactMap { if case .reportChange(let change) = $0 { change.reason } else { nil } }
    }
}

@Suite struct QualityControllerTests {
    @Test func startsAtTheStartOfTheRange() {
        let script = Script()
        #expect(
            script.controller.operatingPoint
                == OperatingPoint(
                    videoQuality: .high3, videoBitrate: Bitrate(kilobitsPerSecond: 2_000),
                    frameRate: FrameRate(framesPerSecond: 30), audioQuality: .high2))
        var settings = QualitySettings(
            videoQuality: .high3, audioQuality: .high2, bitrateRange: AutomaticBitrate.highDefinition.range)
        settings.frameRateLimit = FrameRate(framesPerSecond: 24)
        let point = Script(settings).controller.operatingPoint
        #expect(point.videoBitrate == Bitrate(kilobitsPerSecond: 1_400))
        #expect(point.videoQuality == .high1)
        #expect(point.frameRate == FrameRate(framesPerSecond: 24))
    }

    @Test func goodLinkChangesNothing() {
        var script = Script()
        #expect(script.play(60, link: 5_000) == [])
        #expect(script.controller.linkEstimate == nil)
    }

    @Test func goesDownAtOnceToTheLinksRate() throws {
        var script = Script()
        _ = script.play(5, link: 5_000)
        let actions = script.play(1.5, link: 1_000)
        #expect(actions.reasons.first == .linkCarriesLess)
        #expect(script.controller.total(of: script.controller.operatingPoint) < Bitrate(kilobitsPerSecond: 1_000))
        let estimate = try #require(script.controller.linkEstimate)
        #expect(abs(estimate.kilobitsPerSecond - 1_000) < 50)
        // After the backlog, it goes to the measured rate in one step.
        #expect(script.play(3, link: 1_000).reasons == [.backlogSent])
        let total = script.controller.total(of: script.controller.operatingPoint)
        #expect(abs(total.kilobitsPerSecond - 940) < 60)
    }

    @Test func backlogThatWouldTakeTooLongIsDiscarded() {
        var script = Script()
        _ = script.play(5, link: 5_000)
        let actions = script.play(2, link: 150)
        #expect(actions.contains(.discardWaitingVideo))
        #expect(script.controller.operatingPoint.audioQuality == .low1)
    }

    @Test func stallGoesToTheMinimumAndReturnsToLiveVideo() {
        var script = Script()
        _ = script.play(5, link: 5_000)
        #expect(script.play(5, link: 0).reasons.contains(.linkCarriesLess))
        #expect(script.controller.operatingPoint.videoBitrate == VideoQuality.low1.bitrate)
        #expect(script.controller.isLinkStalled)
        let actions = script.play(0.2, link: 5_000)
        #expect(actions.contains(.discardWaitingVideo))
        #expect(actions.contains(.requestKeyframe))
        #expect(actions.reasons == [.resumed])
        #expect(!script.controller.isLinkStalled)
    }

    @Test func nothingChangesWithoutAutomaticMode() {
        var settings = QualitySettings(videoQuality: .high3, audioQuality: .high2)
        settings.isAutomatic = false
        var script = Script(settings)
        #expect(script.play(10, link: 200) == [])
    }

    @Test func settingsChangeAsOneTransaction() {
        var script = Script()
        _ = script.play(5, link: 5_000)
        var settings = script.controller.settings
        settings.videoQuality = .high1
        settings.bitrateRange = BitrateRange(upTo: .high1)
        settings.audioQuality = .high1
        let actions = script.controller.settingsChanged(to: settings, now: script.now)
        #expect(actions.count == 4)
        guard actions.count == 4 else { return }
        #expect(
            actions[0]
                == .setVideo(
                    bitrate: VideoQuality.high1.bitrate, frameRate: VideoQuality.high1.frameRate,
                    stretchesKeyframes: false))
        #expect(actions[1] == .setAudio(.high1))
        #expect(actions[2] == .requestKeyframe)
        #expect(actions.reasons == [.settingsChanged])
        #expect(script.controller.settingsChanged(to: settings, now: script.now) == [], "nothing new")
    }

    @Test func anotherFrameRateKeepsARaisedBitRate() {
        let range = BitrateRange(
            minimum: VideoQuality.low1.bitrate, start: VideoQuality.low1.bitrate, maximum: VideoQuality.medium3.bitrate)
        var script = Script(QualitySettings(videoQuality: .medium3, audioQuality: .high2, bitrateRange: range))
        _ = script.play(60, link: 5_000)
        #expect(script.controller.operatingPoint.videoBitrate == VideoQuality.medium3.bitrate)
        let before = script.controller.operatingPoint
        for rate in [15, 30] {
            var settings = script.controller.settings
            settings.frameRateLimit = FrameRate(framesPerSecond: rate)
            let actions = script.controller.settingsChanged(to: settings, now: script.now)
            #expect(
                actions.first
                    == .setVideo(
                        bitrate: VideoQuality.medium3.bitrate, frameRate: FrameRate(framesPerSecond: rate),
                        stretchesKeyframes: false))
            #expect(actions.contains(.requestKeyframe))
            #expect(script.controller.operatingPoint.videoBitrate == before.videoBitrate)
            #expect(script.controller.operatingPoint.audioQuality == before.audioQuality)
        }
        #expect(script.controller.operatingPoint == before)
        #expect(script.play(20, link: 5_000).reasons == [], "there is nothing to rise to again")
    }

    /// A stream limited by its link does not jump to its starting rate because of another frame rate.
    @Test func anotherFrameRateKeepsABitRateLimitedByTheLink() {
        var script = Script()
        _ = script.play(15, link: 700)
        let before = script.controller.operatingPoint
        var settings = script.controller.settings
        settings.frameRateLimit = FrameRate(framesPerSecond: 10)
        _ = script.controller.settingsChanged(to: settings, now: script.now)
        #expect(script.controller.operatingPoint.videoBitrate == before.videoBitrate)
        #expect(script.controller.operatingPoint.videoQuality == before.videoQuality)
        #expect(script.controller.operatingPoint.frameRate == FrameRate(framesPerSecond: 10))
    }

    @Test(arguments: [
        QualitySettings(videoQuality: .medium1, audioQuality: .high2),
        QualitySettings(videoQuality: .high3, audioQuality: try? AudioQuality(named: "High2@48000")),
    ])
    func changesThatPlayersCannotFollowRestartTheStream(settings: QualitySettings) {
        var script = Script()
        let actions = script.controller.settingsChanged(to: settings, now: .zero)
        #expect(actions.first == .restartStream(script.controller.operatingPoint))
        #expect(actions.reasons == [.settingsChanged])
        #expect(actions.count == 2)
    }

    @Test func newSettingsDoNotFloodAKnownLink() {
        var script = Script(QualitySettings(videoQuality: .high1, audioQuality: .high2))
        _ = script.play(15, link: 700)
        let settings = QualitySettings(videoQuality: .high3, audioQuality: .high2)
        _ = script.controller.settingsChanged(to: settings, now: script.now)
        #expect(script.controller.total(of: script.controller.operatingPoint) <= Bitrate(kilobitsPerSecond: 700))
    }

    /// The previous dimension's sizes no longer apply, even if the link limits the bit rate.
    @Test(arguments: [VideoQuality.medium3, .medium2])
    func anotherDimensionBringsItsSizes(quality: VideoQuality) {
        var settings = QualitySettings(videoQuality: .medium3, audioQuality: .high2)
        settings.frameSizes = FrameSizeLadder(full: FrameSize(width: 1280, height: 720))
        settings.resize = .seamless
        var script = Script(settings)
        _ = script.play(15, link: 400)
        #expect((script.controller.operatingPoint.frameSize?.width ?? 0) < 1280)
        let small = FrameSize(width: 320, height: 240)
        settings.videoQuality = quality
        settings.bitrateRange = BitrateRange(upTo: quality)
        settings.frameSizes = FrameSizeLadder(full: small)
        _ = script.controller.settingsChanged(to: settings, now: script.now)
        #expect(script.controller.operatingPoint.frameSize == small)
        // As large as the rate allows at once, so that no further change has to follow.
        let large = FrameSizeLadder(full: FrameSize(width: 1280, height: 720))
        settings.frameSizes = large
        _ = script.controller.settingsChanged(to: settings, now: script.now)
        let size = script.controller.operatingPoint.frameSize
        #expect(size.map(large.sizes.contains) == true && size != large.sizes.first)
        _ = script.play(60, link: 5_000)
        settings.frameSizes = FrameSizeLadder(full: FrameSize(width: 640, height: 360))
        _ = script.controller.settingsChanged(to: settings, now: script.now)
        settings.frameSizes = large
        _ = script.controller.settingsChanged(to: settings, now: script.now)
        #expect(script.controller.operatingPoint.frameSize == large.sizes.first)
    }

    /// The new tier applies even if the link limits the bit rate.
    @Test(arguments: [(VideoQuality.high3, VideoQuality.medium3), (.medium3, .high3)])
    func newTierIsUsedOnALimitedLink(from old: VideoQuality, to new: VideoQuality) throws {
        var script = Script(QualitySettings(videoQuality: old, audioQuality: .high2))
        _ = script.play(15, link: 700)
        let settings = QualitySettings(videoQuality: new, audioQuality: .high2)
        let actions = script.controller.settingsChanged(to: settings, now: script.now)
        #expect(script.controller.operatingPoint.videoQuality?.tier == new.tier)
        #expect(actions.first == .restartStream(script.controller.operatingPoint))
        #expect(script.controller.total(of: script.controller.operatingPoint) <= Bitrate(kilobitsPerSecond: 700))
    }

    @Test func tracksStayAsTheyWere() {
        var script = Script()
        let actions = script.controller.settingsChanged(
            to: QualitySettings(videoQuality: nil, audioQuality: nil, bitrateRange: BitrateRange(upTo: .high1)),
            now: .zero)
        #expect(actions.count == 3, "set, keyframe, report")
        #expect(script.controller.operatingPoint.videoQuality == .high1)
        #expect(script.controller.operatingPoint.audioQuality == .high2)
    }

    @Test func manualChoiceIsNotOverridden() {
        var script = Script()
        _ = script.play(15, link: 700)
        var settings = script.controller.settings
        settings.isAutomatic = false
        _ = script.controller.settingsChanged(to: settings, now: script.now)
        #expect(script.controller.operatingPoint.videoBitrate == VideoQuality.high3.bitrate)
        #expect(script.play(10, link: 700) == [])
    }

    @Test func newConnectionForgetsTheLink() {
        var script = Script()
        _ = script.play(15, link: 700)
        #expect(script.controller.linkEstimate != nil)
        _ = script.controller.connectionOpened(now: script.now)
        #expect(script.controller.linkEstimate == nil)
    }

    /// A route that seems to be long hides the delay from the other signs, but not from the buffer's threshold.
    @Test func qualityIsLoweredAboveTheHighThreshold() {
        var script = Script()
        _ = script.play(5, link: 5_000)
        script.level = .between
        #expect(script.play(0.2, link: 5_000) == [])
        script.level = .high
        script.isDelayHidden = true
        #expect(script.play(0.5, link: 1_500).reasons == [.linkCarriesLess])
    }

    @Test func eachRiseAboveTheHighThresholdLowersTheQualityAgain() {
        var script = Script()
        _ = script.play(5, link: 5_000)
        script.level = .high
        let first = script.play(0.4, link: 1_000)
        script.level = .between
        let second = script.play(0.1, link: 400)
        script.level = .high
        let third = script.play(0.1, link: 400)
        #expect(first.reasons == [.linkCarriesLess])
        #expect(second == [], "the last reduction still has to show")
        #expect(third.reasons == [.linkCarriesLess], "and is not waited for when the buffer rises again")
    }

    @Test func probesOnlyBelowTheLowThreshold() {
        var script = Script(
            QualitySettings(
                videoQuality: .medium3, audioQuality: nil,
                bitrateRange: BitrateRange(
                    minimum: Bitrate(kilobitsPerSecond: 150), start: Bitrate(kilobitsPerSecond: 300),
                    maximum: Bitrate(kilobitsPerSecond: 1_000))))
        script.level = .between
        #expect(script.play(20, link: 5_000) == [])
        script.level = .low
        #expect(script.play(5, link: 5_000).reasons.first == .probing)
    }

    @Test func randomMeasurementsDoNotTrap() {
        var random = SeededGenerator(seed: 7)
        var script = Script()
        var seconds = 0.0
        for _ in 0..<5_000 {
            seconds += Double.random(in: -1...3, using: &random)
            var measurement = StreamMeasurement(
                now: MediaScript.time(seconds), buffer: SendBuffer(),
                encodedVideoBytes: Int.random(in: -1_000_000_000...1_000_000_000, using: &random),
                encodedFrames: Int.random(in: -1_000...1_000, using: &random),
                skippedFrames: Int.random(in: -1_000...1_000, using: &random))
            measurement.appendedBytes = Int.random(in: 0...1_000_000_000_000, using: &random)
            measurement.deliveredBytes = Int.random(in: 0...1_000_000_000_000, using: &random)
            measurement.undeliveredBytes = Int.random(in: 0...1_000_000_000, using: &random)
            measurement.waitingBytes = Int.random(in: 0...1_000_000_000, using: &random)
            measurement.deliveryDelay = .seconds(Double.random(in: -5...100, using: &random))
            _ = script.controller.measured(measurement)
            let range = script.controller.settings.bitrateRange
            #expect(script.controller.operatingPoint.videoBitrate >= range.minimum)
            #expect(script.controller.operatingPoint.videoBitrate <= range.maximum)
        }
    }

    @Test func rangesAreReconciled() {
        let range = BitrateRange(
            minimum: Bitrate(kilobitsPerSecond: 900), start: Bitrate(kilobitsPerSecond: 100),
            maximum: Bitrate(kilobitsPerSecond: 500))
        #expect(range.minimum == range.maximum && range.start == range.maximum)
        #expect(AutomaticBitrate.standardDefinition.range.minimum == Bitrate(kilobitsPerSecond: 400))
        #expect(AutomaticBitrate.fullHighDefinition.range.maximum == Bitrate(kilobitsPerSecond: 2_400))
    }
}

@Suite struct ProbeScheduleTests {
    private let rate = Bitrate(kilobitsPerSecond: 500)

    private func isDue(_ schedule: inout ProbeSchedule, after seconds: Int, burst: Int = 0, room: Bool = false) -> Bool
    {
        schedule.isDue(
            after: .seconds(seconds), hasKnownRoom: room, rate: rate, burst: Bitrate(kilobitsPerSecond: burst))
    }

    @Test func failuresDoubleTheWaitAndSuccessesHalveIt() {
        var schedule = ProbeSchedule()
        for wait in [4, 8, 16, 24, 24] {
            #expect(!isDue(&schedule, after: wait - 1))
            #expect(isDue(&schedule, after: wait))
            schedule.failed()
        }
        for wait in [12, 6, 4, 4] {
            schedule.succeeded()
            #expect(!isDue(&schedule, after: wait - 1))
            #expect(isDue(&schedule, after: wait))
        }
    }

    @Test func hintCutsTheWaitUntilItMisleads() {
        var schedule = ProbeSchedule()
        schedule.failed()
        #expect(!isDue(&schedule, after: 1, burst: 5_000), "the buffer must have been low in any case")
        #expect(isDue(&schedule, after: 2, burst: 800))
        #expect(schedule.isHinted)
        schedule.failed()
        #expect(!isDue(&schedule, after: 2, burst: 800))
        #expect(isDue(&schedule, after: 2, burst: 1_200))
        schedule.succeeded()
        #expect(isDue(&schedule, after: 2, burst: 800))
    }

    @Test func knownRoomNeedsNoWait() {
        var schedule = ProbeSchedule()
        schedule.failed()
        #expect(isDue(&schedule, after: 2, room: true))
    }
}

@Suite struct EncoderMonitorTests {
    private let wanted = Bitrate(kilobitsPerSecond: 1_000)

    /// An encoder that outputs `given` times its target for some seconds.
    private func run(
        _ monitor: inout EncoderRateMonitor, from start: Double, seconds: Double, given: Double, skipped: Double = 0
    ) -> Int {
        var corrections = 0
        for step in 0...Int(seconds * 10) {
            let time = start + Double(step) / 10
            var measurement = StreamMeasurement(
                now: MediaScript.time(time), buffer: SendBuffer(), encodedVideoBytes: Int(time * given * 125_000),
                encodedFrames: Int(time * 30 * (1 - skipped)), skippedFrames: Int(time * 30 * skipped))
            measurement.appendedBytes = measurement.encodedVideoBytes
            if monitor.measured(measurement, wanted: wanted, size: nil) { corrections += 1 }
        }
        return corrections
    }

    @Test func accurateEncoderIsNotCorrected() {
        var monitor = EncoderRateMonitor()
        #expect(run(&monitor, from: 0, seconds: 20, given: 1.05) == 0)
        #expect(monitor.correction == 1)
    }

    @Test func highOutputIsCorrectedFully() {
        var monitor = EncoderRateMonitor()
        #expect(run(&monitor, from: 0, seconds: 2.1, given: 1.25) == 1)
        #expect(abs(monitor.correction - 0.8) < 0.02)
    }

    @Test func lowOutputIsHardlyCorrectedSinceTheSceneMayBeSimple() {
        var monitor = EncoderRateMonitor()
        _ = run(&monitor, from: 0, seconds: 30, given: 0.3)
        #expect(monitor.correction == 1.1)
    }

    @Test func lowOutputIsCorrectedAfterTheFrameRateFell() {
        var monitor = EncoderRateMonitor()
        monitor.encoderChanged(now: .zero, frameRateFell: true)
        _ = run(&monitor, from: 0, seconds: 6, given: 0.7)
        #expect(monitor.correction > 1.25)
    }

    @Test func firstHalfSecondAfterAChangeIsIgnored() {
        var monitor = EncoderRateMonitor()
        monitor.encoderChanged(now: MediaScript.time(1), frameRateFell: false)
        #expect(run(&monitor, from: 1, seconds: 0.4, given: 5) == 0)
        #expect(run(&monitor, from: 1.5, seconds: 1.9, given: 5) == 0, "and then a GOP is waited for")
    }

    @Test func skippedFramesAreCounted() {
        var monitor = EncoderRateMonitor()
        _ = run(&monitor, from: 0, seconds: 2.1, given: 1, skipped: 0.6)
        #expect(abs(monitor.skippedShare - 0.6) < 0.05)
    }
}

@Suite struct TierSwitchWatchTests {
    /// Checks every second; returns the second at which to switch.
    private func firstDue(
        _ watch: inout TierSwitchWatch, from start: Int, tier: VideoQuality.ProfileTier,
        wanted: VideoQuality.ProfileTier, isLimited: Bool = true
    ) -> Int? {
        (start...start + 400).first { second in
            let now = MediaScript.time(Double(second))
            let isDue = watch.isDue(tier: tier, wanted: wanted, isLimited: isLimited, now: now)
            if isDue { watch.switched(to: wanted, now: now) }
            return isDue
        }
    }

    @Test func needMustLast() {
        var watch = TierSwitchWatch()
        #expect(firstDue(&watch, from: 0, tier: .high, wanted: .lowAndMedium) == 5)
        #expect(firstDue(&watch, from: 10, tier: .lowAndMedium, wanted: .high) == 20)
    }

    @Test func highTierReturnsAtOnceOnALinkWithoutAKnownLimit() {
        var watch = TierSwitchWatch()
        #expect(firstDue(&watch, from: 10, tier: .lowAndMedium, wanted: .high, isLimited: false) == 10)
    }

    @Test func returnThatDidNotLastDoublesTheNextWait() {
        var watch = TierSwitchWatch()
        var time = 0
        var waits: [Int] = []
        for _ in 0..<6 {
            let rise = firstDue(&watch, from: time, tier: .lowAndMedium, wanted: .high) ?? 0
            waits.append(rise - time)
            time = firstDue(&watch, from: rise + 1, tier: .high, wanted: .lowAndMedium) ?? 0
        }
        #expect(waits == [10, 20, 40, 80, 160, 160])
        // A return that lasted resets the wait.
        let rise = firstDue(&watch, from: time, tier: .lowAndMedium, wanted: .high) ?? 0
        let fall = firstDue(&watch, from: rise + 60, tier: .high, wanted: .lowAndMedium) ?? 0
        #expect((firstDue(&watch, from: fall, tier: .lowAndMedium, wanted: .high) ?? 0) - fall == 10)
    }
}
