import DevicePorts
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import SeededNumbers
import Synchronization
import Testing

@testable import AudioCapture

/// A card in virtual time whose clock has its own rate and whose timestamps jitter.
private struct SimulatedCard {
    let rate: Double
    let driftPPM: Double
    var random: SeededGenerator
    var frames = 0

    /// The true capture time of frame `frames`, and the card's report of it.
    mutating func block(_ count: Int, jitter: Double) -> (captured: Double, reported: MediaTimestamp) {
        let captured = Double(frames) / (rate * (1 + driftPPM / 1e6))
        frames += count
        let noise = (Double(random.bytes(1)[0]) / 255 - 0.5) * 2 * jitter
        return (captured, MediaTimestamp(nanoseconds: Int64((100 + captured + noise) * 1e9)))
    }
}

@Suite struct ClockDriftCorrectorTests {
    @Test(arguments: [-500.0, -120, -20, 0, 3, 80, 300, 500], [0, 0.004])
    func anyClockStaysInSyncForAnHour(driftPPM: Double, jitter: Double) throws {
        var card = SimulatedCard(rate: 48_000, driftPPM: driftPPM, random: SeededGenerator(seed: 7))
        var corrector = ClockDriftCorrector()
        var correction = 0.0
        // Frames of the stream, as the resampler would deliver them.
        var given = 0.0
        var worst = 0.0
        var worstLater = 0.0
        let block = 480
        while card.frames < 48_000 * 3600 {
            let (captured, reported) = card.block(block, jitter: jitter)
            let expected = 100 + given / 44_100
            let action = corrector.blockRead(
                captureTime: reported, expected: MediaTimestamp(nanoseconds: Int64(expected * 1e9)))
            switch action {
            case nil: break
            case .setCorrection(let ppm): correction = ppm
            case .insertSilence(let gap): given += gap.inSeconds * 44_100
            case .drop(let excess): given -= excess.inSeconds * 44_100
            }
            let offset = abs(expected - 100 - captured)
            worst = max(worst, offset)
            if captured > 120 { worstLater = max(worstLater, offset) }
            given += Double(block) * 44_100 / 48_000 / (1 + correction / 1e6)
        }
        #expect(worst < 0.010, "\(worst) s")
        #expect(worstLater < 0.002, "\(worstLater) s")
        let measured = try #require(corrector.driftPPM)
        #expect(abs(measured - driftPPM) < (jitter == 0 ? 1 : 25), "\(measured) ppm")
    }

    private func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }

    @Test func lossIsFilledWithItsExactLength() {
        var corrector = ClockDriftCorrector()
        #expect(corrector.blockRead(captureTime: time(1000), expected: time(1000)) == nil)
        #expect(
            corrector.blockRead(captureTime: time(1250), expected: time(1010)) == .insertSilence(.milliseconds(240)))
        // A known loss counts even if it is short.
        corrector.audioLost()
        #expect(corrector.blockRead(captureTime: time(1265), expected: time(1260)) == .insertSilence(.milliseconds(5)))
        // So does a short lead after a loss.
        corrector.audioLost()
        #expect(corrector.blockRead(captureTime: time(1265), expected: time(1270)) == .drop(.milliseconds(5)))
        // Without a loss, the same difference is clock drift.
        #expect(corrector.blockRead(captureTime: time(1280), expected: time(1275)) == nil)
    }

    @Test func audioAheadOfTheClockIsDropped() {
        var corrector = ClockDriftCorrector()
        _ = corrector.blockRead(captureTime: time(1000), expected: time(1000))
        #expect(corrector.blockRead(captureTime: time(1010), expected: time(1100)) == .drop(.milliseconds(90)))
    }

    @Test func correctionIsLimited() {
        var corrector = ClockDriftCorrector()
        var largest = 0.0
        for index in 0..<100_000 {
            let now = time(Int64(index) * 10)
            if case .setCorrection(let ppm)? = corrector.blockRead(captureTime: now, expected: now - .milliseconds(29))
            {
                largest = max(largest, abs(ppm))
            }
        }
        #expect(largest == ClockDriftCorrector.largestCorrection)
    }
}

/// A card that follows a script.
private final class ScriptedCard: CapturePCM {
    let sampleRate: Int
    private let script: (Int) -> Result<PCMRead, MicrophoneError>
    private var index = 0

    init(sampleRate: Int, script: @escaping (Int) -> Result<PCMRead, MicrophoneError>) {
        self.sampleRate = sampleRate
        self.script = script
    }

    func read(until deadline: MediaTimestamp?) throws(MicrophoneError) -> PCMRead {
        index += 1
        return try script(index - 1).get()
    }
}

@Suite struct MicrophoneSourceTests {
    private func source(
        _ level: MicrophoneLevel = MicrophoneLevel(), cards: [ScriptedCard]
    ) throws -> (MicrophoneSource, ReportedEvents) {
        let events = ReportedEvents()
        var rest = cards[...]
        let source = try MicrophoneSource(
            MicrophoneControl(level), sampleRate: 44_100, stop: try EventFD(),
            notify: { event in events.update { $0.append(event) } }
        ) { () throws(MicrophoneError) in
            guard let card = rest.popFirst() else { throw .missing(device: "hw:9") }
            return card
        }
        return (source, events)
    }

    private func at(_ seconds: Double) -> MediaTimestamp { MediaTimestamp(nanoseconds: Int64((50 + seconds) * 1e9)) }

    @Test func overrunBecomesSilenceOfTheSameLength() throws {
        let loud = [Int16](repeating: 8000, count: 960)
        let card = ScriptedCard(sampleRate: 48_000) { index in
            switch index {
            case 50: .success(.overrun)
            // A quarter of a second is missing.
            case 51...: .success(.block(loud, time: at(Double(index - 1) * 0.01 + 0.25)))
            default: .success(.block(loud, time: at(Double(index) * 0.01)))
            }
        }
        let (source, _) = try source(cards: [card])
        var samples: [Int16] = []
        var last: AudioBlock?
        for _ in 0..<60 {
            let block = try #require(try source.nextBlock(frameCount: 1024))
            samples += block.samples
            last = block
        }
        #expect(source.statistics.overruns == 1)
        #expect(abs(source.statistics.silentSamples - 11_025) < 50)
        let silentFrames = samples.count { $0 == 0 } / 2
        #expect(abs(silentFrames - 11_025) < 200)
        let offset: Double = (try #require(last).captureTime - at(0)).inSeconds
        let expected: Double = 59 * 1024 / 44_100
        #expect(abs(offset - expected) < 0.005)
    }

    @Test func unpluggedMicrophoneBecomesSilenceUntilItReturns() throws {
        try VirtualTime().run {
            let start = MonotonicClock.now()
            let loud = [Int16](repeating: 8000, count: 960)
            let first = ScriptedCard(sampleRate: 48_000) { index in
                index < 10
                    ? .success(.block(loud, time: start + .milliseconds(10 * index))) : .failure(.gone(device: "x"))
            }
            let second = ScriptedCard(sampleRate: 48_000) { _ in .success(.block(loud, time: MonotonicClock.now())) }
            let (source, events) = try source(cards: [first, second])
            var blocks: [AudioBlock] = []
            while events.value.count < 2 { blocks.append(try #require(try source.nextBlock(frameCount: 1024))) }
            #expect(events.value.first == .interrupted(reason: "the microphone x is gone"))
            #expect(source.statistics.interruptions == 1)
            let silent = blocks.filter { $0.samples.allSatisfy { $0 == 0 } }.count
            #expect((35...60).contains(silent), "about a second: \(silent) blocks")
            // There is no gap between blocks.
            for (block, next) in zip(blocks, blocks.dropFirst()) {
                #expect(abs((next.captureTime - block.captureTime).inSeconds - 1024 / 44_100) < 1e-6)
            }
        }
    }

    /// When the first loud sample was captured, on the stream's clock.
    private func loudTime(_ blocks: [AudioBlock]) -> MediaTimestamp? {
        for block in blocks {
            guard let place = block.samples.firstIndex(where: { $0 > 6000 }) else { continue }
            return block.captureTime + .nanoseconds(Int64(place / 2) * 1_000_000_000 / 44_100)
        }
        return nil
    }

    /// Wherever the gap falls within the blocks, and even if the card had delivered too much before it.
    @Test(arguments: [0.0043, 0.02, 0.25, -0.012, -0.2])
    func audioAfterALossHasTheCorrectTime(gap: Double) throws {
        let quiet = [Int16](repeating: 1000, count: 960)
        let loud = [Int16](repeating: 8000, count: 960)
        let card = ScriptedCard(sampleRate: 48_000) { index in
            switch index {
            case 50: .success(.overrun)
            case 51...: .success(.block(index == 91 ? loud : quiet, time: at(Double(index - 1) * 0.01 + gap)))
            default: .success(.block(quiet, time: at(Double(index) * 0.01)))
            }
        }
        let (source, _) = try source(cards: [card])
        let blocks = try (0..<60).map { _ in try #require(try source.nextBlock(frameCount: 1024)) }
        let error = (try #require(loudTime(blocks)) - at(0.9 + gap)).inSeconds
        #expect(abs(error) < 0.0015, "\(error) s")
        // One sample more or less at the loss is fine: the block starts with earlier audio from the filter.
        let (silent, missing) = (Double(source.statistics.silentSamples), max(0, gap) * 44_100)
        #expect(abs(silent - missing) < 60)
    }

    /// Passes the card's samples through the resampler. Without correction, they would be 35 ms off after seventy seconds.
    @Test(arguments: [-500.0, 500])
    func outputFollowsTheSystemsClock(driftPPM: Double) throws {
        let quiet = [Int16](repeating: 1000, count: 960)
        let loud = [Int16](repeating: 8000, count: 960)
        func captured(_ index: Int) -> MediaTimestamp { at(Double(index) * 0.01 / (1 + driftPPM / 1e6)) }
        // A loud block every ten seconds.
        let card = ScriptedCard(sampleRate: 48_000) { index in
            .success(.block(index % 1000 == 900 ? loud : quiet, time: captured(index)))
        }
        let (source, _) = try source(cards: [card])
        var errors: [Double] = []
        for _ in 0..<(70 * 44_100 / 1024) {
            let block = try #require(try source.nextBlock(frameCount: 1024))
            guard let time = loudTime([block]) else { continue }
            let index = 1000 * errors.count + 900
            // A loud block may be split between two output blocks.
            if (time - captured(index)).inSeconds < -5 { continue }
            errors.append((time - captured(index)).inSeconds)
        }
        #expect(errors.count == 7)
        #expect(errors.allSatisfy { abs($0) < 0.006 }, "\(errors)")
        #expect(errors.suffix(2).allSatisfy { abs($0) < 0.002 }, "\(errors)")
        #expect(abs(try #require(source.statistics.driftPPM) - driftPPM) < 100)
        #expect(source.statistics.silentSamples == 0)
    }

    @Test func returningMicrophoneIsInSyncAtOnce() throws {
        try VirtualTime().run {
            let start = MonotonicClock.now()
            let quiet = [Int16](repeating: 1000, count: 960)
            let loud = [Int16](repeating: 8000, count: 960)
            let first = ScriptedCard(sampleRate: 48_000) { index in
                index < 5
                    ? .success(.block(quiet, time: start + .milliseconds(10 * index))) : .failure(.gone(device: "x"))
            }
            var reopened: MediaTimestamp?
            let second = ScriptedCard(sampleRate: 48_000) { index in
                let reopening = reopened ?? MonotonicClock.now()
                reopened = reopening
                // A block arrives after its last sample was captured.
                let end = reopening + .milliseconds(10 * (index + 1))
                MonotonicClock.sleep(until: end)
                return .success(.block(index == 20 ? loud : quiet, time: end - .milliseconds(10)))
            }
            let (source, events) = try source(cards: [first, second])
            var blocks: [AudioBlock] = []
            while loudTime(blocks) == nil, blocks.count < 200 {
                blocks.append(try #require(try source.nextBlock(frameCount: 1024)))
            }
            #expect(events.value.count == 2)
            let error = (try #require(loudTime(blocks)) - (try #require(reopened) + .milliseconds(200))).inSeconds
            #expect(abs(error) < 0.0015, "\(error) s")
        }
    }

    @Test func appliesGainAndMuteAndMeasuresTheLevel() throws {
        let quiet = [Int16](repeating: 1000, count: 882)
        func card() -> ScriptedCard {
            ScriptedCard(sampleRate: 44_100) { .success(.block(quiet, time: at(Double($0) * 0.01))) }
        }
        let (loud, _) = try source(MicrophoneLevel(gain: 20), cards: [card()])
        _ = try loud.nextBlock(frameCount: 1024)
        #expect(try #require(try loud.nextBlock(frameCount: 1024)).samples.allSatisfy { abs(Int($0) - 10_000) < 20 })
        #expect(abs(try #require(loud.statistics.peakDecibels) + 10.3) < 0.1)
        #expect(abs(try #require(loud.statistics.meanDecibels) + 10.3) < 0.1)
        let (clipped, _) = try source(MicrophoneLevel(gain: 40), cards: [card()])
        _ = try clipped.nextBlock(frameCount: 1024)
        #expect(try #require(try clipped.nextBlock(frameCount: 1024)).samples.allSatisfy { $0 == 32_767 })
        let (muted, _) = try source(MicrophoneLevel(isMuted: true), cards: [card()])
        #expect(try #require(try muted.nextBlock(frameCount: 1024)).samples.allSatisfy { $0 == 0 })
        #expect(muted.statistics.peakDecibels == nil)
    }
}

/// Collects a source's events from any thread.
private final class ReportedEvents: Sendable {
    private let events = Mutex<[MicrophoneSource.Event]>([])

    var value: [MicrophoneSource.Event] { events.withLock { $0 } }
    func update(_ body: (inout [MicrophoneSource.Event]) -> Void) { events.withLock { body(&$0) } }
}

@Suite struct ALSATests {
    private func failure(_ device: String) -> MicrophoneError? {
        do {
            _ = try ALSACapturePCM.open(device, sampleRate: 44_100, stop: EventFD())
            return nil
        } catch { return error as? MicrophoneError }
    }

    @Test func missingMicrophoneIsNamed() {
        #expect(failure("hw:NoSuchCard") == .missing(device: "hw:NoSuchCard"))
        #expect(failure("hw:31,7") == .missing(device: "hw:31,7"))
        #expect(failure("default") == .badName("default"))
        #expect(failure("hw:a b") == .badName("hw:a b"))
    }
}
