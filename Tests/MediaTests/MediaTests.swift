import Media
import Testing

@Suite struct MediaTimestampTests {
    @Test func timesAndDurationsAddUp() {
        let start = MediaTimestamp(milliseconds: 1_000)
        #expect((start + .milliseconds(500)).nanoseconds == 1_500_000_000)
        #expect((start - .milliseconds(500)).nanoseconds == 500_000_000)
        #expect(start - MediaTimestamp.zero == .seconds(1))
        var time = start
        time += .nanoseconds(1)
        #expect(time > start)
    }

    @Test func extremeTimesWrapInsteadOfTrapping() {
        let end = MediaTimestamp(nanoseconds: .max)
        #expect((end + .nanoseconds(1)).nanoseconds == .min)
        #expect(Duration.seconds(Int64.max).wholeNanoseconds != 0)
        #expect(Duration.milliseconds(-1_500).wholeNanoseconds == -1_500_000_000)
        #expect(Duration.milliseconds(-1_500).inSeconds == -1.5)
    }

    @Test func frameTimesDoNotDrift() {
        let rate = FrameRate(framesPerSecond: 30)
        #expect(rate.offset(ofFrame: 3_000_000) == .seconds(100_000))
        #expect(rate.frameDuration == .nanoseconds(33_333_333))
        #expect(FrameRate(framesPerSecond: 0).framesPerSecond == 1)
    }
}

@Suite struct H264LevelTests {
    private func level(_ width: Int, _ height: Int, fps: Int, kilobits: Int) -> H264Level? {
        H264Level.level3_0.raised(
            toCarry: FrameSize(width: width, height: height), at: FrameRate(framesPerSecond: fps),
            bitrate: Bitrate(kilobitsPerSecond: kilobits))
    }

    @Test func lowestSufficientLevelIsChosen() {
        #expect(level(640, 480, fps: 30, kilobits: 2_000) == .level3_0)
        #expect(level(960, 540, fps: 30, kilobits: 2_000) == .level3_1)
        #expect(level(1280, 720, fps: 30, kilobits: 2_000) == .level3_1)
        #expect(level(1280, 720, fps: 31, kilobits: 2_000) == .level3_2)
        #expect(level(1920, 1080, fps: 30, kilobits: 2_000) == .level4_0)
        #expect(level(1920, 1080, fps: 30, kilobits: 20_001) == .level4_1)
        #expect(level(3840, 2160, fps: 30, kilobits: 2_000) == .level5_1)
        #expect(level(4096, 2304, fps: 30, kilobits: 2_000) == nil)
    }

    @Test func longNarrowFrameIsLimitedByItsSide() {
        #expect(level(2_000, 16, fps: 1, kilobits: 100) == .level3_1)
        #expect(level(8_688, 16, fps: 1, kilobits: 100) == .level5_1)
        #expect(level(8_704, 16, fps: 1, kilobits: 100) == nil)
    }

    @Test func bitrateIsNeverNegative() {
        #expect(Bitrate(bitsPerSecond: -5).bitsPerSecond == 0)
        #expect(Bitrate(kilobitsPerSecond: 512).kilobitsPerSecond == 512)
    }
}

@Suite struct DecimalTests {
    @Test(arguments: [
        ("0", 0), ("1.5", 1.5), ("-0.25", -0.25), ("+2", 2), (".5", 0.5), ("3.", 3), ("007", 7),
        ("0.00000000000000000000001", 1e-23),
    ])
    func plainDecimalsAreParsed(text: String, value: Double) { #expect(decimal(text) == value) }

    @Test(arguments: [
        "", ".", "-", "+.", "1.2.3", "1,5", "0x1", "0x1p-1", "1e3", "1E3", "inf", "-infinity", "nan", "nan(1)", " 1",
        "1 ", "--1",
        "1-", "\u{661}", String(repeating: "9", count: 400),
    ])
    func otherFormsAreRefused(text: String) { #expect(decimal(text) == nil) }
}

@Suite struct QuotedTests {
    @Test(arguments: [
        ("zom", "\"zom\""), ("a\u{1B}[31mb\u{9B}c\n", "\"a?[31mb?c?\""), ("rtmp://host/key", "\"rtmp://***\""),
        ("\u{7}x://y", "\"?x://***\""), ("é", "\"é\""),
    ])
    func quotedTextHasNoControlCharacters(typed: String, shown: String) { #expect(quoted(typed) == shown) }
}
