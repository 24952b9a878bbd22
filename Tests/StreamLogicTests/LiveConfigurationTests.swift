import Media
import StreamLogic
import StreamQuality
import Testing

private let present = LiveConfiguration(
    settings: QualitySettings(videoQuality: .medium1, audioQuality: .high2), dimension: .standard)

extension LiveConfiguration {
    /// The configuration after `set` with these words.
    fileprivate func setting(_ words: String) throws -> LiveConfiguration {
        try applying(LiveConfiguration.Change.parsing(words.split(separator: " ").map(String.init)))
    }

    fileprivate var lines: [String] { values.map(\.description) }
}

@Suite struct LiveConfigurationTests {
    @Test func eachSettingAcceptsTheCommandLinesForm() throws {
        let configuration = try present.setting(
            "quality medium2 audio-quality High1@48000 bitrate 200,600,900 FPS 20 dimension 720p adapt restart resize restart "
                + "keep-audio-quality on mute ON")
        #expect(
            configuration.lines == [
                "quality Medium2", "audio-quality High1@48000", "bitrate 200,600,900", "fps 20", "dimension 1280x720",
                "adapt restart", "resize restart", "keep-audio-quality on", "mute on",
            ])
        // `set` accepts the listed values again.
        #expect(try present.setting(configuration.lines.joined(separator: " ")) == configuration)
        #expect(try present.applying(configuration.values) == configuration)
    }

    @Test func qualitySetsItsBitRates() throws {
        let configuration = try present.setting("quality High1")
        #expect(configuration.settings.bitrateRange == BitrateRange(upTo: .high1))
        #expect(try configuration.setting("quality Low1").settings.bitrateRange == BitrateRange(upTo: .low1))
    }

    @Test(arguments: [("SD", 400, 800, 1_200, 20), ("hd", 1_000, 1_400, 1_800, 24), ("FHD", 1_200, 1_800, 2_400, 30)])
    func bitRatePresetsHaveNames(name: String, minimum: Int, start: Int, maximum: Int, fps: Int) throws {
        let settings = try present.setting("bitrate \(name)").settings
        #expect(
            settings.bitrateRange
                == BitrateRange(
                    minimum: Bitrate(kilobitsPerSecond: minimum), start: Bitrate(kilobitsPerSecond: start),
                    maximum: Bitrate(kilobitsPerSecond: maximum)))
        #expect(settings.frameRateLimit == FrameRate(framesPerSecond: fps))
        #expect(try LiveConfiguration.Change("bitrate", name).description == "bitrate \(name.uppercased())")
    }

    @Test(arguments: [
        ("quality", "best"), ("audio-quality", "High9"), ("bitrate", "1,2"), ("bitrate", "900,600,200"), ("fps", "0"),
        ("fps", "61"), ("dimension", "big"), ("adapt", "maybe"), ("mute", "1"), ("keep-audio-quality", ""),
        ("volume", "11"), ("", ""),
    ])
    func invalidValuesAreRefused(name: String, value: String) {
        #expect(throws: QualityError.self) { try LiveConfiguration.Change(name, value) }
    }

    /// A missing value counts as an empty one.
    @Test func missingValueIsRefused() {
        #expect(throws: QualityError.unknownVideoQuality("")) { try present.setting("mute on quality") }
    }

    @Test(arguments: ["nothing", "seamless", "restart"])
    func policyDoesNotDependOnThePreviousOne(name: String) throws {
        let policy = try AdaptationPolicy(named: name)
        var settings = present.settings
        for other in [AdaptationPolicy.nothing, .seamless, .restart] {
            settings.policy = other
            settings.policy = policy
            #expect(settings.policy == policy)
            #expect(settings.isAutomatic == (name != "nothing"))
            #expect((settings.tierSwitch == .restartStream) == (name == "restart"))
        }
    }

    @Test func missingTrackHasNoSettings() {
        let audio = QualitySettings(videoQuality: nil, audioQuality: .high2)
        var configuration = LiveConfiguration(settings: audio, dimension: .standard)
        #expect(throws: QualityError.missingTrack(setting: "quality", track: "video")) {
            try configuration.setting("quality Medium1")
        }
        #expect(configuration.lines == ["audio-quality High2", "adapt seamless", "keep-audio-quality off", "mute off"])
        let video = QualitySettings(videoQuality: .low1, audioQuality: nil)
        configuration = LiveConfiguration(settings: video, dimension: .standard)
        #expect(throws: QualityError.missingTrack(setting: "mute", track: "audio")) {
            try configuration.setting("mute on")
        }
    }

    @Test func anotherSizeNeedsAPolicyThatAllowsIt() throws {
        let size = FrameSize(width: 640, height: 360)
        #expect(throws: QualityError.dimensionNeedsRestart(size)) { try present.setting("dimension 360p") }
        // The order of the changes does not matter.
        let changed = try present.setting("dimension 360p adapt restart")
        #expect(changed.dimension.size == size)
        #expect(try changed == present.setting("adapt restart dimension 360p"))
    }

    @Test func sourceRateLimitsTheFrameRate() throws {
        var configuration = present
        configuration.settings.sourceFrameRate = FrameRate(framesPerSecond: 15)
        #expect(try configuration.setting("fps 25").lines.contains("fps 15"))
    }
}
