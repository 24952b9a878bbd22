import Media
import StreamQuality
import Testing

@Suite struct VideoQualityTests {
    @Test(arguments: [
        (VideoQuality.low1, 12, H264Profile.baseline, H264Level.level3_0, 150),
        (.low2, 15, .baseline, .level3_0, 264), (.low3, 15, .baseline, .level3_0, 350),
        (.medium1, 30, .baseline, .level3_1, 512), (.medium2, 30, .baseline, .level3_1, 800),
        (.medium3, 30, .baseline, .level3_1, 1000), (.high1, 30, .main, .level3_0, 1200),
        (.high2, 30, .main, .level3_0, 1500), (.high3, 30, .main, .level3_0, 2000),
    ])
    func matchesTheTable(quality: VideoQuality, fps: Int, profile: H264Profile, level: H264Level, kilobits: Int) {
        #expect(quality.frameRate == FrameRate(framesPerSecond: fps))
        #expect(quality.profile == profile)
        #expect(quality.tableLevel == level)
        #expect(quality.bitrate == Bitrate(kilobitsPerSecond: kilobits))
        #expect(quality.tier == (profile == .main ? .high : .lowAndMedium))
    }

    @Test func namesAreCaseInsensitive() throws {
        for quality in VideoQuality.presets {
            #expect(try VideoQuality(named: quality.name) == quality)
            #expect(try VideoQuality(named: quality.name.uppercased()) == quality)
        }
        #expect(VideoQuality.standard.name == "Medium1")
        #expect(VideoQuality.presets == VideoQuality.presets.sorted())
    }

    @Test func unknownNameIsAnsweredWithTheKnownOnes() {
        #expect(throws: QualityError.unknownVideoQuality("Medium4")) { try VideoQuality(named: "Medium4") }
        let text = QualityError.unknownVideoQuality("Medium4").description
        #expect(text.contains("\"Medium4\"") && text.contains("Low1, Low2") && text.contains("High3"))
    }

    @Test(arguments: [
        (VideoQuality.high3, 640, 480, H264Level.level3_0), (.high3, 960, 540, .level3_1),
        (.high3, 1280, 720, .level3_1), (.high3, 1920, 1080, .level4_0), (.low1, 1280, 720, .level3_1),
        (.medium1, 640, 480, .level3_1), (.low1, 1920, 1440, .level5_0),
    ])
    func levelIsRaisedIfTheFrameNeedsIt(quality: VideoQuality, width: Int, height: Int, level: H264Level) throws {
        #expect(try quality.level(for: FrameSize(width: width, height: height)) == level)
    }

    /// 720x576 fits level 3.0 at 15 frames per second, but not at 30.
    @Test(arguments: [(VideoQuality.low1, 720, 576), (.low3, 720, 576), (.medium3, 720, 576)])
    func levelIsSufficientForTheTiersBest(quality: VideoQuality, width: Int, height: Int) throws {
        #expect(try quality.level(for: FrameSize(width: width, height: height)) == .level3_1)
    }

    @Test func levelIsSufficientForAnyChangeWithinTheTier() throws {
        for width in stride(from: 16, through: 1920, by: 16) {
            for height in stride(from: 16, through: 1440, by: 48) {
                let size = FrameSize(width: width, height: height)
                for first in VideoQuality.presets {
                    let level = try first.level(for: size)
                    for next in VideoQuality.presets where next.tier == first.tier {
                        #expect(level.carries(size, at: next.frameRate, bitrate: next.bitrate))
                    }
                }
            }
        }
    }

    @Test func frameTooLargeForItsRateIsRefused() {
        let size = FrameSize(width: 4096, height: 2304)
        #expect(throws: QualityError.self) { try VideoQuality.high3.level(for: size) }
        #expect(throws: Never.self) { try VideoQuality.low1.level(for: size) }
    }
}

@Suite struct AudioQualityTests {
    @Test func matchesTheTable() {
        #expect(AudioQuality.presets.map(\.name) == ["Low1", "High1", "High2"])
        #expect(AudioQuality.presets.map(\.bitrate.bitsPerSecond) == [64_000, 96_000, 128_000])
        #expect(AudioQuality.standard == .high2)
        #expect(AudioQuality.standard.sampleRate == 44_100)
    }

    @Test func namesAreParsedWithAndWithoutASampleRate() throws {
        #expect(try AudioQuality(named: "high1") == .high1)
        #expect(try AudioQuality(named: "High2@48000") == AudioQuality.high2.at(sampleRate: 48_000))
        #expect(try AudioQuality(named: "LOW1@11025").name == "Low1@11025")
    }

    @Test func wrongNamesAndRatesAreRefused() {
        #expect(throws: QualityError.unknownAudioQuality("Medium1")) { try AudioQuality(named: "Medium1") }
        #expect(throws: QualityError.unknownAudioQuality("")) { try AudioQuality(named: "") }
        #expect(throws: QualityError.unsupportedSampleRate("8000")) { try AudioQuality(named: "High1@8000") }
        #expect(throws: QualityError.unsupportedSampleRate("")) { try AudioQuality(named: "High1@") }
    }
}

@Suite struct LevelForBitrateTests {
    /// Level 3.0 supports 10 Mbit/s, level 3.1 supports 14 Mbit/s.
    @Test(arguments: [(2_000, H264Level.level3_0), (10_000, .level3_0), (10_001, .level3_1), (14_001, .level3_2)])
    func levelSupportsTheHighestBitRate(kilobits: Int, level: H264Level) throws {
        let size = FrameSize(width: 320, height: 240)
        #expect(try VideoQuality.high3.level(for: size, upTo: Bitrate(kilobitsPerSecond: kilobits)) == level)
    }

    @Test func bitRateAboveAllLevelsIsRefused() {
        #expect(throws: QualityError.self) {
            try VideoQuality.high3.level(
                for: FrameSize(width: 320, height: 240), upTo: Bitrate(kilobitsPerSecond: 240_001))
        }
    }
}

@Suite struct VideoDimensionTests {
    @Test func presetsKeepTheirExactSize() throws {
        #expect(VideoDimension.presets.count == 13)
        for preset in VideoDimension.presets {
            let parsed = try VideoDimension(parsing: preset.size.description)
            #expect(parsed == preset)
            #expect(!parsed.isRounded)
        }
        #expect(VideoDimension.standard.size == FrameSize(width: 640, height: 480))
    }

    @Test(arguments: [
        ("100x100", 96, 96), ("104X104", 112, 112), ("16x16", 16, 16), ("640x480", 640, 480), ("1000x562", 1008, 560),
        ("4096x2304", 4096, 2304), ("17x23", 16, 16), ("720p", 1280, 720), ("4:3-720P", 960, 720),
        ("16:9-360p", 640, 360), ("480p", 640, 480), ("1140p", 1920, 1140), ("1440p", 1920, 1440),
    ])
    func sizesAndNamesAreParsed(text: String, width: Int, height: Int) throws {
        #expect(try VideoDimension(parsing: text).size == FrameSize(width: width, height: height))
    }

    @Test func nextSmallerPresetKeepsTheAspectRatio() throws {
        var sizes: [String] = []
        var dimension: VideoDimension? = try VideoDimension(parsing: "1920x1080")
        while let next = dimension?.smaller {
            sizes.append("\(next.size)")
            dimension = next
        }
        #expect(sizes == ["1280x720", "960x540", "640x360", "480x270", "416x234"])
        #expect(try VideoDimension(parsing: "640x480").smaller?.size == FrameSize(width: 480, height: 360))
        #expect(try VideoDimension(parsing: "640x352").smaller?.size == FrameSize(width: 480, height: 270))
        #expect(try VideoDimension(parsing: "160x128").smaller == nil)
    }

    @Test func roundingIsReported() throws {
        let dimension = try VideoDimension(parsing: "1000x562")
        #expect(dimension.isRounded)
        #expect(dimension.requestedSize == FrameSize(width: 1000, height: 562))
        #expect(try !VideoDimension(parsing: "1024x576").isRounded)
    }

    @Test(arguments: ["15x480", "640x15", "0x0", "8704x16", "4112x2304", "99999999999999999999x480", "8688x8688"])
    func impossibleSizesAreRefusedWithTheLimits(text: String) {
        do {
            _ = try VideoDimension(parsing: text)
            Issue.record("\(text) was accepted")
        } catch {
            guard case .impossibleSize = error else {
                Issue.record("\(text) gave \(error)")
                return
            }
            #expect(error.description.contains("640x480"))
        }
    }

    @Test(arguments: [
        "", "x", "640", "640x", "x480", "640x480x2", "-640x480", "720q", "640*480", "٦٤٠x480", "21:9-720p",
    ])
    func textThatIsNotASizeIsRefused(text: String) {
        #expect(throws: QualityError.unknownDimension(text)) { try VideoDimension(parsing: text) }
    }
}
