import Controls
import DevicePorts
import LinuxIO
import Media
import StreamLogic
import Testing

@testable import MediaPipeline

@Suite struct MicrophoneChangesTests {
    private let microphones = [MicrophoneControl(), MicrophoneControl()]

    /// Does what a microphone does before each block.
    private func capture() {
        for microphone in microphones {
            guard let level = microphone.exchange(nil) else { continue }
            _ = microphone.exchange(.init(level, gain: MicrophoneGain(hardware: nil, digital: level.gain ?? 0)))
        }
    }

    private func done(_ changes: MicrophoneChanges) throws -> (readings: [String], id: CommandID?) {
        let deadline = MonotonicClock.now() + .seconds(60)
        while MonotonicClock.now() < deadline {
            capture()
            if let (readings, id) = changes.takeDone() { return (readings.map(\.description), id) }
        }
        throw StreamFailure(.system, "nothing was done")
    }

    @Test func changesApplyToOneOrAllMicrophonesAndAreReported() throws {
        let changes = MicrophoneChanges(microphones, hasAudio: true)
        changes.change([ControlChange(.microphoneGain, .number(3))], for: CommandID(1))
        let all = try done(changes)
        #expect(all.id == CommandID(1))
        #expect(all.readings == ["microphone-gain 3 (1: 3.0 dB on the way, 2: 3.0 dB on the way)"])
        changes.change(
            [
                ControlChange(.microphoneGain, .microphoneGain(number: 2, -40)),
                ControlChange(.mute, .microphoneMute(number: 1, true)),
            ],
            for: nil)
        let each = try done(changes)
        #expect(each.readings == ["microphone-gain 2:-40 (2: -40.0 dB on the way)", "mute 1:on (1: muted)"])
        #expect(microphones.map(\.wanted.gain) == [3, -40] && microphones.map(\.wanted.isMuted) == [true, false])
    }

    @Test func missingMicrophoneIsNotOffered() throws {
        let offer = try #require(MicrophoneChanges(microphones, hasAudio: true).offer(.microphoneGain))
        #expect(throws: ControlError.self) {
            try [offer].check([ControlChange(.microphoneGain, .microphoneGain(number: 3, 0))])
        }
        let silent = MicrophoneChanges([], hasAudio: true)
        #expect(silent.offer(.microphoneGain)?.absence == "the stream has no microphone")
        #expect(silent.offer(.mute)?.absence == nil, "all of the audio")
        #expect(MicrophoneChanges([], hasAudio: false).offer(.mute)?.absence == "the stream has no audio")
        #expect(MicrophoneChanges(microphones, hasAudio: true).offer(.zoom) == nil)
    }

    @Test func closedMicrophoneIsReported() throws {
        let changes = MicrophoneChanges([MicrophoneControl()], hasAudio: true)
        changes.change([ControlChange(.mute, .microphoneMute(number: 1, true))], for: nil)
        #expect(try done(changes).readings == ["mute 1:on (1: not open)"])
    }
}
