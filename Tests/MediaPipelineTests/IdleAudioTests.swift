import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import PipelineSupport
import SoftwareEncoding
import StreamLogic
import Synchronization
import SyntheticSources
import Testing

@testable import MediaPipeline

/// Microphones that are open for a computer without a stream.
@Suite struct IdleAudioTests {
    private let time = VirtualTime()
    private let microphones = FakeMicrophones()
    private let computer = Computer()

    /// Any number of microphones, whose blocks last as long as they claim.
    private final class FakeMicrophones: AudioSourceChoice {
        struct Content {
            var count = 1
            /// Why they cannot be opened.
            var failure: String?
            var notify: (@Sendable (AudioEvent) -> Void)?
        }

        let content = Mutex(Content())
        let isNone = false
        let takesSampleRate = true
        let readsStandardInput = false
        var microphones: [MicrophoneControl] {
            (0..<content.withLock { $0.count }).map { _ in MicrophoneControl(MicrophoneLevel()) }
        }

        func open(
            sampleRate: Int, stop: EventFD, notify: @escaping @Sendable (AudioEvent) -> Void
        ) throws -> (any AudioSource)? {
            let failure = content.withLock { content in
                content.notify = notify
                return content.failure
            }
            if let failure { throw Failure(description: failure) }
            return Source(sampleRate: sampleRate, stop: stop)
        }

        func say(_ event: SourceEvent) { content.withLock { $0.notify }?(.source(event)) }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private final class Source: AudioSource {
        let format: AudioFormat
        let endingNote: String? = nil
        private let stop: EventFD

        init(sampleRate: Int, stop: EventFD) {
            format = AudioFormat(sampleRate: sampleRate, channelCount: 2)
            self.stop = stop
        }

        func nextBlock(frameCount: Int) throws -> AudioBlock? {
            let now = MonotonicClock.now()
            let length = Duration.ofFrames(frameCount, sampleRate: format.sampleRate)
            guard !stop.isSignaled(until: now + length) else { return nil }
            return AudioBlock(samples: [Int16](repeating: 7, count: 2 * frameCount), captureTime: now)
        }
    }

    private final class Computer: AudioSink {
        let blocks = Mutex(0)
        let wantsAudio = true
        func offer(_ block: AudioBlock, format: AudioFormat) { blocks.withLock { $0 += 1 } }
    }

    /// - Parameter body: receives the reports since the last call.
    private func whileHeard(
        _ audio: (any AudioSourceChoice)? = nil, _ body: (() -> [IdleAudioEvent]) throws -> Void
    ) throws {
        let settings = MediaSettings(
            video: FakeCameraChoice { wish in
                FakeCamera.Script(
                    layout: FrameLayout(packed: .i420, size: FrameSize(width: 64, height: 48)), stop: wish.stop)
            }, audio: audio ?? microphones, quality: .standard, audioQuality: .standard, dimension: .standard,
            encoder: FakeEncoderChoice(mayUseSoftware: true) { _, _ in
                throw StreamFailure(.videoEncodingFailed, "nobody encodes it")
            })
        try time.run {
            let (stop, events) = (try EventFD(), try Mailbox<IdleAudioEvent>())
            let idle = IdleAudio(for: computer) { settings }
            let thread = JoinableThread(
                try NamedThread("idle-audio") { idle.run(stop: stop) { events.send($0) } })
            try body { events.takeAll() }
            stop.signal()
            thread.join()
        }
    }

    private func sleep(_ duration: Duration) { MonotonicClock.sleep(until: MonotonicClock.now() + duration) }

    private func lose(_ name: String) {
        microphones.say(.interrupted(.audio, source: name, reason: "\(name) was unplugged"))
    }

    private func regain(_ name: String) { microphones.say(.returned(.audio, source: name, after: .seconds(2))) }

    @Test func missingMicrophoneIsReportedOnceAndRetried() throws {
        microphones.content.withLock { $0.failure = "it is in use" }
        try whileHeard { events in
            sleep(.seconds(5))
            #expect(events() == [.away(reason: "it is in use")])
            microphones.content.withLock { $0.failure = nil }
            sleep(.seconds(2))
            #expect(events() == [.returned] && computer.blocks.withLock { $0 } > 0)
        }
    }

    @Test func unpluggedMicrophoneIsReported() throws {
        try whileHeard { events in
            sleep(.seconds(1))
            #expect(events().isEmpty)
            lose("hw:1")
            sleep(.seconds(1))
            #expect(events() == [.away(reason: "hw:1 was unplugged")])
            regain("hw:1")
            sleep(.seconds(1))
            #expect(events() == [.returned])
        }
    }

    @Test func oneOfTwoMicrophonesIsHeard() throws {
        microphones.content.withLock { $0.count = 2 }
        try whileHeard { events in
            sleep(.seconds(1))
            lose("hw:1")
            sleep(.seconds(1))
            #expect(events().isEmpty)
            lose("hw:2")
            sleep(.seconds(1))
            #expect(events() == [.away(reason: "hw:1 was unplugged; hw:2 was unplugged")])
            regain("hw:1")
            sleep(.seconds(1))
            #expect(events() == [.returned])
        }
    }

    @Test func streamWithoutAudioIsGivenAsTheReason() throws {
        try whileHeard(AudioSourceDescription.none) { events in
            sleep(.seconds(5))
            #expect(events() == [.away(reason: "device.json names none")])
        }
    }
}
