import Media
import StreamQuality
import Testing

@Suite struct QualityInNumbersTests {
    @Test(arguments: [
        ("3500k", 3_500, 30, "3500k"), ("4.5M", 4_500, 30, "4500k"), ("4.5m@60", 4_500, 60, "4500k@60"),
        ("6M@30", 6_000, 30, "6000k"), ("1100K", 1_100, 30, "1100k"), ("300k", 300, 15, "300k"),
        ("300k@24", 300, 24, "300k@24"), ("20M", 20_000, 30, "20000k"), ("150k@25", 150, 25, "150k@25"),
        ("2M", 2_000, 30, "High3"), ("0.15M", 150, 12, "Low1"),
    ])
    func bitRatesAreQualities(text: String, kilobits: Int, fps: Int, name: String) throws {
        let quality = try VideoQuality(named: text)
        #expect(quality.bitrate == Bitrate(kilobitsPerSecond: kilobits))
        #expect(quality.frameRate == FrameRate(framesPerSecond: fps))
        #expect(quality.name == name)
        #expect(try VideoQuality(named: name) == quality)
    }

    @Test(arguments: [
        "149k", "0.1M", "20001k", "25M", "99999999999999999999M", "4.5M@23", "4.5M@61", "4.5M@", "4.5M@x",
    ])
    func bitRateOutsideTheLimitsIsRefused(text: String) {
        #expect {
            try VideoQuality(named: text)
        } throws: { error in
            if case .unusableValue("quality", let value, _)? = error as? QualityError { value == text } else { false }
        }
    }

    @Test(arguments: [
        "4500", "4,5M", "M", "k", ".5M", "5.M", "-1M", "1e3k", "4.5.1M", "0x10k", "4.5 M", "4.5Mbit", "@30",
    ])
    func textThatIsNoBitRateIsUnknown(text: String) {
        #expect(throws: QualityError.unknownVideoQuality(text)) { try VideoQuality(named: text) }
    }

    @Test func bitRateDecidesTheProfile() throws {
        #expect(try VideoQuality(named: "1199k").tier == .lowAndMedium)
        #expect(try VideoQuality(named: "1199k").profile == .baseline)
        #expect(try VideoQuality(named: "1201k@60").profile == .main)
        #expect(try VideoQuality(named: "6M").tier == .high)
    }

    @Test func qualitiesAreInOrderOfBitRate() throws {
        let names = ["Low1", "150k@30", "Low2", "Medium3", "1100k", "High1", "High3", "2001k", "6M", "6M@60"]
        let qualities = try names.map { try VideoQuality(named: $0) }
        #expect(qualities == qualities.sorted())
    }

    /// H.264 table A-1: 720p30 is all of level 3.1, 720p60 all of level 3.2, and 1080p30 nearly all of level 4.0.
    @Test(arguments: [
        ("4.5M", 1280, 720, H264Level.level3_1), ("14M", 1280, 720, .level3_1), ("15M", 1280, 720, .level3_2),
        ("4.5M@60", 1280, 720, .level3_2), ("6M", 1920, 1080, .level4_0), ("6M@24", 1920, 1080, .level4_0),
        ("6M", 640, 480, .level3_0), ("6M@60", 640, 480, .level3_1), ("12M", 640, 480, .level3_1),
        ("800k@60", 1280, 720, .level3_2),
    ])
    func levelFollowsSizeRateAndBitRate(text: String, width: Int, height: Int, level: H264Level) throws {
        #expect(try VideoQuality(named: text).level(for: FrameSize(width: width, height: height)) == level)
    }

    @Test(arguments: [
        ("6M@60", 1920, 1080, H264Level.Excess.macroblocksPerSecond(489_600, limit: 245_760)),
        ("6M@31", 1920, 1080, .macroblocksPerSecond(252_960, limit: 245_760)),
        ("6M", 1920, 1440, .frameMacroblocks(10_800, limit: 8_192)),
        ("6M", 4352, 16, .side(4_352, limit: 4_096)),
    ])
    func streamBeyondTheHighestLevelIsRefused(
        text: String, width: Int, height: Int, excess: H264Level.Excess
    ) throws {
        let (quality, size) = (try VideoQuality(named: text), FrameSize(width: width, height: height))
        #expect(throws: QualityError.beyondLevel(excess, size: size, quality: quality)) { try quality.level(for: size) }
    }

    @Test func refusalNamesTheLimitAndARemedy() throws {
        let quality = try VideoQuality(named: "6M@60")
        let text = """
            6000k@60 does not fit the frame size: 1920x1080 at 60 frames per second has 489600 macroblocks per second, and \
            H.264 level 4.0, the highest for a bit rate in numbers, allows 245760; use at most 30 frames per second, or a \
            smaller frame
            """
        #expect {
            try quality.level(for: FrameSize(width: 1920, height: 1080))
        } throws: {
            "\($0)" == text
        }
    }

    @Test func presetsStillReachHigherLevels() throws {
        #expect(try VideoQuality.low1.level(for: FrameSize(width: 1920, height: 1440)) == .level5_0)
    }
}

/// The controller with a highest rate of 6 Mbit/s.
@Suite struct HighBitrateTests {
    private static let best = Bitrate(kilobitsPerSecond: 6_000)

    private func simulated(
        _ script: LinkScript, _ name: String = "6M", lowest: VideoQuality = .low1, start: VideoQuality? = nil,
        seed: UInt64 = 1
    ) throws -> Simulation {
        let quality = try VideoQuality(named: name)
        var simulation = Simulation(script, settings: QualitySettings(videoQuality: quality, audioQuality: .high2))
        simulation.settings.bitrateRange = BitrateRange(
            minimum: lowest.bitrate, start: (start ?? quality).bitrate, maximum: quality.bitrate)
        simulation.seed = seed
        return simulation
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func linkWithRoomIsLeftAlone(seed: UInt64) throws {
        let result = try simulated(.steady(8_000), seed: seed).run(seconds: 120)
        #expect(result.changes.isEmpty)
        #expect(result.droppedFrames == 0 && result.worstAge() < 1)
    }

    @Test(arguments: [1_000.0, 4_000], [1, 2] as [UInt64])
    func narrowerLinkIsUsedWithoutOscillation(kilobits: Double, seed: UInt64) throws {
        let result = try simulated(.steady(kilobits), seed: seed).run(seconds: 130)
        #expect(result.use(of: 10...130) > 0.9)
        #expect(result.changes(in: 10...70) <= 12)
        #expect(result.changes(in: 70...130) <= 6)
        #expect(result.worstAge() < 2.5)
        #expect(result.droppedFrames < 60)
        #expect(result.danglingFrames == 0)
        #expect(result.restarts.isEmpty)
    }

    /// From the lowest rate on a link that was never full, by x 1.5 each 1.2 s: ten steps.
    @Test(arguments: [1, 2] as [UInt64])
    func highestRateIsReachedFromTheLowestWithin15Seconds(seed: UInt64) throws {
        let result = try simulated(.steady(8_000), start: .low1, seed: seed).run(seconds: 40)
        #expect(result.timeToBitrate(Self.best, after: 0) < 15)
        #expect(result.droppedFrames == 0 && result.worstAge() < 1.5)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func highestRateReturnsAfterAPoorLink(seed: UInt64) throws {
        let script = LinkScript([(0, 8_000), (20, 1_000), (50, 4_000), (80, 8_000)])
        let result = try simulated(script, seed: seed).run(seconds: 130)
        #expect(result.use(of: 30...50) > 0.85)
        #expect(result.use(of: 65...80) > 0.8)
        #expect(result.timeToBitrate(Self.best, after: 80) < 25)
        #expect(result.worstAge() < 2.5)
        #expect(result.danglingFrames == 0)
    }

    @Test func frameRateOf60HalvesBeforeTheBitsOfAFrameDo() throws {
        let script = LinkScript([(0, 8_000), (20, 4_000), (60, 2_000), (100, 8_000)])
        let result = try simulated(script, "6M@60").run(seconds: 160)
        #expect(result.point(at: 19)?.frameRate.framesPerSecond == 60)
        #expect(result.point(at: 55)?.frameRate.framesPerSecond == 60)
        #expect(result.point(at: 95)?.frameRate.framesPerSecond == 30)
        #expect(result.point(at: 158)?.frameRate.framesPerSecond == 60)
        #expect(result.danglingFrames == 0)
    }

    @Test func frameRateOf24IsNeverExceeded() throws {
        var simulation = try simulated(LinkScript([(0, 8_000), (10, 300), (40, 8_000)]), "6M@24")
        simulation.settings.tierSwitch = .restartStream
        let result = simulation.run(seconds: 90)
        #expect(result.moments.allSatisfy { $0.point.frameRate.framesPerSecond <= 24 })
        #expect(result.point(at: 35)?.videoQuality?.tier == .lowAndMedium)
        #expect(result.point(at: 89)?.frameRate.framesPerSecond == 24)
    }

    @Test func lowestOfHigh1IsAHardMinimum() throws {
        let result = try simulated(LinkScript([(0, 8_000), (10, 500)]), lowest: .high1).run(seconds: 60)
        #expect(result.moments.allSatisfy { $0.point.videoBitrate >= VideoQuality.high1.bitrate })
        #expect(result.point(at: 59)?.videoBitrate == VideoQuality.high1.bitrate)
    }

    /// Half of the bits of 6 Mbit/s still give each pixel of 1280x720 more than 0.1 bits.
    @Test func frameSizeStaysOnALinkWithHalfTheRate() throws {
        var simulation = try simulated(.steady(4_000))
        simulation.settings.frameSizes = FrameSizeLadder(full: FrameSize(width: 1280, height: 720))
        simulation.settings.resize = .seamless
        simulation.flaws.skipsLargeFrames = true
        let result = simulation.run(seconds: 60)
        #expect(result.resizes.isEmpty)
    }

    @Test func tiersOfBaselineAreNotLimitedToMedium3() throws {
        let result = try simulated(.steady(4_000), "1100k").run(seconds: 10)
        #expect(result.point(at: 9)?.videoBitrate == Bitrate(kilobitsPerSecond: 1_100))
        #expect(result.point(at: 9)?.videoQuality?.tier == .lowAndMedium)
    }
}
