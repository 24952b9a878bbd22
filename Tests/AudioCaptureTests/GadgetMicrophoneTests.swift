import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import Synchronization
import Testing

@testable import AudioCapture

/// The gadget's card, and a computer that records from it at 48,000 frames per second.
private final class RecordedCard: GadgetCard, Sendable {
    struct Content {
        var isRecorded = false
        /// The computer takes nothing but is still reported as recording.
        var isAsleep = false
        var isGone = false
        var fill = Duration.zero
        var time = MonotonicClock.now()
        var hasRunEmpty = false
        var restarts = 0
        var samples: [Int16] = []
        var pitches: [Double] = []

        /// Takes what the computer has played until now.
        mutating func advance() {
            let now = MonotonicClock.now()
            defer { time = now }
            guard isRecorded, !isAsleep else { return }
            if now - time > fill { hasRunEmpty = true }
            fill = max(.zero, fill - (now - time))
        }
    }

    let content = Mutex(Content())
    private let event: EventFD

    init() throws(SystemCallError) { event = try EventFD() }

    /// Changes the state of the computer.
    func change(_ body: (inout Content) -> Void) {
        content.withLock { content in
            content.advance()
            body(&content)
        }
        event.signal()
    }

    var eventDescriptor: Int32 { event.fileDescriptor }
    var isRecorded: Bool { content.withLock { $0.isRecorded } }
    func takeEvents() { event.drain() }
    func setPitch(partsPerMillion: Double) { content.withLock { $0.pitches.append(partsPerMillion) } }

    var fill: Duration {
        content.withLock { content in
            content.advance()
            return content.fill
        }
    }

    func restart() throws(MicrophoneError) {
        content.withLock { content in
            content.advance()
            content.fill = .zero
            content.hasRunEmpty = false
            content.restarts += 1
        }
    }

    func write(_ samples: [Int16]) throws(MicrophoneError) -> Bool {
        let (isGone, hasRunEmpty) = content.withLock { content in
            content.advance()
            guard !content.isGone, !content.hasRunEmpty else { return (content.isGone, content.hasRunEmpty) }
            content.fill += .ofFrames(samples.count / 2, sampleRate: GadgetPCM.sampleRate)
            content.samples += samples
            return (false, false)
        }
        if isGone { throw .gone(device: "hw:UAC2Gadget") }
        return !hasRunEmpty
    }
}

@Suite struct GadgetMicrophoneTests {
    private enum Report: Hashable, Sendable {
        case recorded(Bool)
        case failed(MicrophoneError)
    }

    private let time = VirtualTime()
    private let card: RecordedCard
    private let reports: Mailbox<Report>
    private static let format = AudioFormat(sampleRate: 48_000, channelCount: 2)

    init() throws {
        card = try RecordedCard()
        reports = try Mailbox()
    }

    private func withMicrophone(
        open: GadgetMicrophone.OpenCard? = nil, _ body: (GadgetMicrophone) throws -> Void
    ) throws {
        try time.run {
            let (card, reports) = (card, reports)
            // The card was created before virtual time started.
            card.content.withLock { $0.time = MonotonicClock.now() }
            let usual: GadgetMicrophone.OpenCard = { () throws(MicrophoneError) -> any GadgetCard in card }
            let microphone = try GadgetMicrophone(
                open: open ?? usual, recorded: { reports.send(.recorded($0)) }, failed: { reports.send(.failed($0)) })
            try body(microphone)
            microphone.end()
        }
    }

    private func sleep(_ duration: Duration) { MonotonicClock.sleep(until: MonotonicClock.now() + duration) }

    /// Offers a microphone's blocks of 20 ms.
    private func offer(_ count: Int, to microphone: GadgetMicrophone, _ format: AudioFormat = format) {
        for _ in 0..<count {
            let samples = [Int16](repeating: 1000, count: format.sampleRate / 50 * format.channelCount)
            microphone.offer(AudioBlock(samples: samples, captureTime: MonotonicClock.now()), format: format)
            sleep(.milliseconds(20))
        }
    }

    private var loudFrames: Int { card.content.withLock { $0.samples.count { $0 != 0 } / 2 } }

    @Test func recordingProgramHearsTheMicrophone() throws {
        try withMicrophone { microphone in
            offer(10, to: microphone)
            #expect(!microphone.wantsAudio && loudFrames == 0, "no program is recording")
            card.change { $0.isRecorded = true }
            sleep(.milliseconds(400))
            #expect(microphone.wantsAudio)
            offer(100, to: microphone)
            #expect(loudFrames == 100 * 960)
            card.change { $0.isRecorded = false }
            sleep(.milliseconds(10))
            #expect(!microphone.wantsAudio)
            offer(10, to: microphone)
            #expect(loudFrames == 100 * 960)
            #expect(card.content.withLock { $0.restarts } == 1, "it never ran empty")
        }
        #expect(reports.takeAll() == [.recorded(true), .recorded(false)])
    }

    /// As when a computer has just found the microphone.
    @Test func briefProbeDoesNotCountAsRecording() throws {
        try withMicrophone { microphone in
            for _ in 0..<5 {
                card.change { $0.isRecorded = true }
                sleep(.milliseconds(250))
                #expect(!microphone.wantsAudio)
                card.change { $0.isRecorded = false }
                sleep(.seconds(1))
            }
        }
        #expect(reports.takeAll().isEmpty)
    }

    /// Without a microphone, or with one that opens slowly, a computer that gets no data would report a broken device.
    @Test func recordingWithoutAMicrophoneGetsSilence() throws {
        try withMicrophone { _ in
            card.change { $0.isRecorded = true }
            sleep(.seconds(20))
            let (count, restarts) = card.content.withLock { ($0.samples.count / 2, $0.restarts) }
            #expect((20 * 48_000...20 * 48_000 + 10_000).contains(count) && restarts == 1, "\(count), \(restarts)")
        }
        #expect(loudFrames == 0)
    }

    @Test(arguments: [(1, 48_000), (2, 44_100), (1, 16_000)])
    func otherFormatsBecomeStereoAtTheCardsRate(channelCount: Int, sampleRate: Int) throws {
        try withMicrophone { microphone in
            card.change { $0.isRecorded = true }
            sleep(.milliseconds(400))
            offer(100, to: microphone, AudioFormat(sampleRate: sampleRate, channelCount: channelCount))
            // Two seconds, except for what the resampler retains.
            #expect(abs(loudFrames - 96_000) < 2_000, "\(loudFrames)")
            let samples = card.content.withLock { $0.samples }
            #expect(stride(from: 0, to: samples.count, by: 2).allSatisfy { samples[$0] == samples[$0 + 1] })
        }
    }

    /// Audio that would stay late is dropped.
    @Test func burstDoesNotDelayTheAudioBeyondTheCardsBuffer() throws {
        try withMicrophone { microphone in
            card.change { $0.isRecorded = true }
            sleep(.milliseconds(400))
            for _ in 0..<20 {
                microphone.offer(
                    AudioBlock(samples: [Int16](repeating: 1, count: 1920), captureTime: MonotonicClock.now()),
                    format: Self.format)
            }
            sleep(.milliseconds(5))
            #expect(card.fill <= PlaybackBalance.largestFill)
        }
    }

    /// No event reports it.
    @Test func sleepingComputerStopsUsingTheMicrophone() throws {
        try withMicrophone { microphone in
            card.change { $0.isRecorded = true }
            sleep(.milliseconds(400))
            offer(50, to: microphone)
            card.change { $0.isAsleep = true }
            offer(240, to: microphone)
            #expect(microphone.wantsAudio, "not yet: a computer may stand still for a moment")
            offer(20, to: microphone)
            #expect(!microphone.wantsAudio)
            sleep(.seconds(600))
            #expect(!microphone.wantsAudio)
            #expect(reports.takeAll() == [.recorded(true), .recorded(false)])
            card.change { $0.isAsleep = false }
            sleep(.milliseconds(300))
            #expect(microphone.wantsAudio && reports.takeAll() == [.recorded(true)])
            let before = loudFrames
            offer(50, to: microphone)
            #expect(loudFrames > before + 40 * 960)
        }
    }

    /// The computer may have heard only silence before. It must be noticed a second time too.
    @Test func sleepingComputerIsNoticedWithoutAMicrophoneToo() throws {
        try withMicrophone { microphone in
            card.change { $0.isRecorded = true }
            for _ in 0..<2 {
                sleep(.seconds(10))
                #expect(microphone.wantsAudio)
                card.change { $0.isAsleep = true }
                sleep(.seconds(10))
                #expect(!microphone.wantsAudio)
                card.change { $0.isAsleep = false }
            }
            card.change { $0.isRecorded = false }
            sleep(.milliseconds(10))
        }
        let times = reports.takeAll()
        #expect(times.count { $0 == .recorded(false) } == times.count { $0 == .recorded(true) })
    }

    @Test func unavailableCardIsReportedOnceAndRetriedAtGrowingIntervals() throws {
        let tries = Mutex(0)
        let isThere = Mutex(false)
        let card = card
        let open: GadgetMicrophone.OpenCard = { () throws(MicrophoneError) -> any GadgetCard in
            tries.withLock { $0 += 1 }
            guard isThere.withLock({ $0 }) else { throw .missing(device: "hw:UAC2Gadget") }
            return card
        }
        try withMicrophone(open: open) { microphone in
            sleep(.seconds(600))
            // At intervals of 2, 4, 8, 16, 32 and then 60 seconds.
            #expect((13...16).contains(tries.withLock { $0 }))
            isThere.withLock { $0 = true }
            card.change { $0.isRecorded = true }
            sleep(.seconds(61))
            #expect(microphone.wantsAudio)
            card.change { $0.isGone = true }
            offer(10, to: microphone)
            #expect(!microphone.wantsAudio)
        }
        let gone = MicrophoneError.gone(device: "hw:UAC2Gadget")
        #expect(
            reports.takeAll() == [
                .failed(.missing(device: "hw:UAC2Gadget")), .recorded(true), .recorded(false), .failed(gone),
            ])
    }
}
