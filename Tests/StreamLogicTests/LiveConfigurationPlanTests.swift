import Media
import StreamQuality
import Testing

@testable import StreamLogic

/// How a change is applied to the running stream.
@Suite struct LiveConfigurationPlanTests {
    private let present = LiveConfiguration(
        settings: QualitySettings(videoQuality: .medium1, audioQuality: .high2), dimension: .standard)
    private let encoder = VideoEncoderConfiguration(
        size: VideoDimension.standard.size, frameRate: FrameRate(framesPerSecond: 30),
        bitrate: Bitrate(kilobitsPerSecond: 512), profile: .baseline, level: .level3_0, keyframeInterval: 60)

    private func plan(
        _ settings: [(String, String)], isLive: Bool = true, takesSampleRate: Bool = true,
        encoder: VideoEncoderConfiguration? = nil
    ) throws -> LiveConfiguration.Plan {
        var wanted = present
        for (name, value) in settings { try wanted.apply(LiveConfiguration.Change(name, value)) }
        return present.plan(
            for: wanted,
            of: RunningStream(isLive: isLive, takesSampleRate: takesSampleRate, encoder: encoder ?? self.encoder),
            controller: QualityController(settings: present.settings, now: .zero))
    }

    @Test func presentSettingsNeedNoChange() throws {
        #expect(try plan([]) == .nothing)
        #expect(try plan([("mute", "off"), ("dimension", "640x480")], isLive: false) == .nothing)
    }

    @Test func changesThatPlayersFollowStayWithinTheStream() throws {
        for settings in [
            [("mute", "on")], [("fps", "15")], [("quality", "Medium3")], [("quality", "Low1"), ("mute", "on")],
            [("bitrate", "200,400,600")], [("adapt", "nothing")], [("audio-quality", "High1")],
        ] {
            #expect(try plan(settings) == .change(replacesEncoder: false), "\(settings)")
        }
    }

    @Test func changesThatPlayersCannotFollowRestart() throws {
        for settings in [
            [("quality", "High1")], [("dimension", "1280x720")], [("dimension", "320x240"), ("mute", "on")],
            [("audio-quality", "High1@48000")], [("quality", "High2"), ("dimension", "1280x720")],
        ] {
            #expect(try plan(settings) == .restart, "\(settings)")
        }
    }

    /// Players accept another header of the same profile within the stream.
    @Test func encoderWithATooLowLevelIsReplaced() throws {
        var low = encoder
        low.level = .level1_0
        #expect(try plan([("quality", "Medium3")], encoder: low) == .change(replacesEncoder: true))
        #expect(try plan([("bitrate", "500,8000,20000")]) == .change(replacesEncoder: true))
        // A restart opens a new encoder anyway.
        #expect(try plan([("quality", "High1")], encoder: low) == .restart)
        // An encoder of another size was made smaller for lack of memory.
        low.size = FrameSize(width: 480, height: 360)
        #expect(try plan([("quality", "Medium3")], encoder: low) == .change(replacesEncoder: false))
    }

    @Test func streamWithoutVideoHasNoEncoderToReplace() {
        let audio = LiveConfiguration(
            settings: QualitySettings(videoQuality: nil, audioQuality: .high2), dimension: .standard)
        var wanted = audio
        wanted.isMuted = true
        let stream = RunningStream(isLive: true, takesSampleRate: true, encoder: nil)
        let controller = QualityController(settings: audio.settings, now: .zero)
        #expect(audio.plan(for: wanted, of: stream, controller: controller) == .change(replacesEncoder: false))
    }

    @Test func impossibleChangesAreRefusedWithAReason() throws {
        #expect(try plan([("mute", "on")], isLive: false) == .refuse(.notStarted))
        #expect(
            try plan([("audio-quality", "High1@48000"), ("mute", "on")], takesSampleRate: false)
                == .refuse(.fixedSampleRate))
        // The source does not limit the bit rate, only the sample rate.
        #expect(
            try plan([("audio-quality", "High1")], takesSampleRate: false) == .change(replacesEncoder: false))
        guard
            case .refuse(.quality(.tooManyFrames(let size, _, _))) = try plan([
                ("dimension", "4096x2304"), ("bitrate", "500,8000,100000"),
            ])
        else {
            Issue.record("such a stream is carried by a level")
            return
        }
        #expect(size == FrameSize(width: 4096, height: 2304))
    }

    /// Planning has no side effects: the controller stays unchanged.
    @Test func planChangesNothing() throws {
        let controller = QualityController(settings: present.settings, now: .zero)
        var high = present.settings
        high.videoQuality = .high1
        #expect(controller.restarts(for: high) && controller.restarts(for: high))
        #expect(!controller.restarts(for: present.settings))
        #expect(controller.settings == present.settings)
    }
}
