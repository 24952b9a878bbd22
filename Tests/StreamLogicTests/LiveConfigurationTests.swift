import Media
import StreamLogic
import StreamQuality
import Testing

private let present = LiveConfiguration(
    settings: QualitySettings(videoQuality: .medium1, audioQuality: .high2), dimension: .standard)

@Suite struct LiveConfigurationTests {
    @Test func eachSettingIsTakenAsTheCommandLineTakesIt() throws {
        var configuration = present
        try configuration.set("quality", to: "medium2")
        try configuration.set("audio-quality", to: "High1@48000")
        try configuration.set("bitrate", to: "200,600,900")
        try configuration.set("fps", to: "20")
        try configuration.set("dimension", to: "720p")
        try configuration.set("adapt", to: "restart")
        try configuration.set("keep-audio-quality", to: "on")
        try configuration.set("mute", to: "on")
        #expect(
            configuration.lines == [
                "quality Medium2", "audio-quality High1@48000", "bitrate 200,600,900", "fps 20", "dimension 1280x720",
                "adapt restart", "keep-audio-quality on", "mute on",
            ])
        // What it shows is what it takes.
        var again = present
        for line in configuration.lines {
            let words = line.split(separator: " ").map(String.init)
            try again.set(words[0], to: words[1])
        }
        #expect(again == configuration)
    }

    @Test func aQualityBringsItsBitRates() throws {
        var configuration = present
        try configuration.set("quality", to: "High1")
        #expect(configuration.settings.bitrateRange == BitrateRange(upTo: .high1))
        try configuration.set("quality", to: "Low1")
        #expect(configuration.settings.bitrateRange == BitrateRange(upTo: .low1))
    }

    @Test(arguments: [("SD", 400, 800, 1_200, 20), ("hd", 1_000, 1_400, 1_800, 24), ("FHD", 1_200, 1_800, 2_400, 30)])
    func theContractsRangesHaveNames(name: String, minimum: Int, start: Int, maximum: Int, fps: Int) throws {
        var settings = present.settings
        try settings.setBitrate(name)
        #expect(
            settings.bitrateRange
                == BitrateRange(
                    minimum: Bitrate(kilobitsPerSecond: minimum), start: Bitrate(kilobitsPerSecond: start),
                    maximum: Bitrate(kilobitsPerSecond: maximum)))
        #expect(settings.frameRateLimit == FrameRate(framesPerSecond: fps))
    }

    @Test(arguments: [
        ("quality", "best"), ("audio-quality", "High9"), ("bitrate", "1,2"), ("bitrate", "900,600,200"), ("fps", "0"),
        ("fps", "61"), ("dimension", "big"), ("adapt", "maybe"), ("mute", "1"), ("keep-audio-quality", ""),
        ("volume", "11"), ("", ""),
    ])
    func whatCannotBeIsRefusedAndChangesNothing(name: String, value: String) {
        var configuration = present
        #expect(throws: QualityError.self) { try configuration.set(name, to: value) }
        #expect(configuration == present)
    }

    @Test func aTrackThatIsNotThereHasNoSettings() {
        let audio = QualitySettings(videoQuality: nil, audioQuality: .high2)
        var configuration = LiveConfiguration(settings: audio, dimension: .standard)
        #expect(throws: QualityError.self) { try configuration.set("quality", to: "Medium1") }
        #expect(configuration.lines == ["audio-quality High2", "adapt seamless", "keep-audio-quality off", "mute off"])
        let frame = QualitySettings(videoQuality: .low1, audioQuality: nil)
        configuration = LiveConfiguration(settings: frame, dimension: .standard)
        #expect(throws: QualityError.self) { try configuration.set("mute", to: "on") }
    }

    @Test func theSourcesRateBoundsWhatIsWanted() throws {
        var configuration = present
        configuration.settings.sourceFrameRate = FrameRate(framesPerSecond: 15)
        try configuration.set("fps", to: "25")
        #expect(configuration.lines.contains("fps 15"))
    }
}

@Suite struct ConfigurationTransactionTests {
    private func changed(_ settings: (name: String, value: String)...) throws -> LiveConfiguration {
        var result = present
        for setting in settings { try result.set(setting.name, to: setting.value) }
        return result
    }

    @Test func severalChangesAreOneTransaction() throws {
        var transaction = ConfigurationTransaction()
        func send(_ line: String) -> ConfigurationTransaction.Action? {
            transaction.lineReceived(line, present: present)
        }
        #expect(send("begin") == .answer(["what is set from here on waits for commit"]))
        #expect(send("set quality Medium2") == .answer(["noted: quality Medium2"]))
        #expect(send("set fps 15 mute on") == .answer(["noted: fps 15", "noted: mute on"]))
        #expect(try send("commit") == .apply(changed(("quality", "Medium2"), ("fps", "15"), ("mute", "on"))))
    }

    @Test func oneLineIsATransactionToo() throws {
        var transaction = ConfigurationTransaction()
        let action = transaction.lineReceived("  set quality Low2  audio-quality Low1\r", present: present)
        #expect(try action == .apply(changed(("quality", "Low2"), ("audio-quality", "Low1"))))
    }

    @Test func aBadValueLeavesWhatWasNoted() throws {
        var transaction = ConfigurationTransaction()
        _ = transaction.lineReceived("begin", present: present)
        _ = transaction.lineReceived("set fps 10", present: present)
        guard case .refuse = transaction.lineReceived("set mute on quality none", present: present) else {
            Issue.record("it was taken")
            return
        }
        #expect(try transaction.lineReceived("commit", present: present) == .apply(changed(("fps", "10"))))
    }

    /// What changed meanwhile by other means stays.
    @Test func changesApplyToThePresent() throws {
        var transaction = ConfigurationTransaction()
        _ = transaction.lineReceived("begin", present: present)
        _ = transaction.lineReceived("set fps 10", present: present)
        let muted = try changed(("mute", "on"))
        #expect(
            try transaction.lineReceived("commit", present: muted) == .apply(changed(("fps", "10"), ("mute", "on"))))
    }

    @Test func cancelForgets() {
        var transaction = ConfigurationTransaction()
        _ = transaction.lineReceived("begin", present: present)
        _ = transaction.lineReceived("set fps 10", present: present)
        #expect(transaction.lineReceived("cancel", present: present) == .answer(["1 changes are forgotten"]))
        guard case .refuse = transaction.lineReceived("commit", present: present) else {
            Issue.record("something was committed")
            return
        }
    }

    @Test func anotherSizeNeedsThePolicyThatAllowsIt() throws {
        var transaction = ConfigurationTransaction()
        let size = FrameSize(width: 640, height: 360)
        #expect(
            transaction.lineReceived("set dimension 360p", present: present)
                == .refuse(QualityError.dimensionNeedsRestart(size).description))
        // In which order they come makes no difference.
        let action = transaction.lineReceived("set dimension 360p adapt restart", present: present)
        #expect(try action == .apply(changed(("adapt", "restart"), ("dimension", "360p"))))
    }

    @Test(arguments: ["set", "set quality", "set quality Low1 fps", "begin now", "commit", "cancel", "foo", "SETT x y"])
    func whatIsNoCommandIsRefused(line: String) {
        var transaction = ConfigurationTransaction()
        guard case .refuse = transaction.lineReceived(line, present: present) else {
            Issue.record("\(line) was taken")
            return
        }
    }

    @Test func emptyLinesAreNothing() {
        var transaction = ConfigurationTransaction()
        #expect(transaction.lineReceived("  \t", present: present) == nil)
        #expect(transaction.lineReceived("show", present: present) == .answer(present.lines))
        #expect(transaction.lineReceived("stop", present: present) == .endStream)
    }
}
