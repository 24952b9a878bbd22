import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import Synchronization
import Testing

@testable import AudioCapture

/// A card in virtual time with its own clock rate. Its blocks of ten milliseconds arrive after their last sample was captured.
/// The signal is constant, with five loud blocks every ten seconds of true time.
private final class TimedCard: CapturePCM {
    let sampleRate = 48_000
    private let level: Int16
    private let driftPPM: Double
    private let fault: (Double) -> Fault?
    private let creation = MonotonicClock.now()
    private var start: MediaTimestamp?
    private var index = 0

    enum Fault { case gone, quiet }

    /// - Parameter fault: what goes wrong at this many seconds after the card was created.
    init(level: Int16, driftPPM: Double = 0, fault: @escaping (Double) -> Fault? = { _ in nil }) {
        self.level = level
        self.driftPPM = driftPPM
        self.fault = fault
    }

    private func time(_ index: Int) -> MediaTimestamp {
        let offset = Double(index) * 0.01 / (1 + driftPPM / 1e6)
        return (start ?? creation) + .nanoseconds(Int64(offset * 1e9))
    }

    func read(until deadline: MediaTimestamp?) throws(MicrophoneError) -> PCMRead {
        if start == nil { start = MonotonicClock.now() }
        switch fault((MonotonicClock.now() - creation).inSeconds) {
        case .gone: throw .gone(device: "hw:9")
        case .quiet:
            if let deadline { MonotonicClock.sleep(until: deadline) }
            return .late
        case nil: break
        }
        // The card's buffer holds what was captured while nobody was reading.
        let end = time(index + 1)
        if let deadline, end > deadline {
            MonotonicClock.sleep(until: deadline)
            return .late
        }
        MonotonicClock.sleep(until: end)
        let second = (time(index) - creation).inSeconds.truncatingRemainder(dividingBy: 10)
        index += 1
        let isLoud = second >= 9 && second < 9.05
        return .block([Int16](repeating: isLoud ? level * 4 : level, count: 960), time: time(index - 1))
    }
}

@Suite struct MixedSourceTests {
    private final class Events: Sendable {
        let list = Mutex<[MicrophoneSource.Event]>([])
        var count: Int { list.withLock { $0.count } }
    }

    private let events = Events()

    private func microphone(
        _ card: TimedCard, _ level: MicrophoneLevel = MicrophoneLevel(), reopened: TimedCard? = nil
    ) throws -> MicrophoneSource {
        var rest = [card]
        let events = events
        return try MicrophoneSource(
            MicrophoneControl(level), sampleRate: 44_100, stop: try EventFD(),
            notify: { event in events.list.withLock { $0.append(event) } }
        ) { () throws(MicrophoneError) in
            if let next = rest.popLast() { return next }
            guard let reopened, MonotonicClock.now() >= self.returnTime else { throw .missing(device: "hw:9") }
            return reopened
        }
    }

    /// When a lost card returns.
    private var returnTime: MediaTimestamp { start + .seconds(5) }
    private let time = VirtualTime()
    private let start: MediaTimestamp

    init() { start = time.now() }

    private func blocks(_ mix: MixedSource, seconds: Double) throws -> [AudioBlock] {
        try (0..<Int(seconds * 44_100 / 1024)).map { _ in try #require(try mix.nextBlock(frameCount: 1024)) }
    }

    /// The left channel, from the first frame on.
    private func left(_ blocks: [AudioBlock]) -> [Int] {
        blocks.flatMap { block in stride(from: 0, to: block.samples.count, by: 2).map { Int(block.samples[$0]) } }
    }

    private func expectOneTimeline(_ blocks: [AudioBlock]) {
        for (index, block) in blocks.enumerated() {
            #expect(block.captureTime == blocks[0].captureTime + .ofFrames(1024 * index, sampleRate: 44_100))
            #expect(block.samples.count == 2048)
        }
    }

    @Test func mixHasTheSumAndReportsEachLevel() throws {
        try time.run {
            let mix = MixedSource(
                [
                    try microphone(TimedCard(level: 1000)),
                    try microphone(TimedCard(level: 200), MicrophoneLevel(gain: 20)),
                    try microphone(TimedCard(level: 5000), MicrophoneLevel(isMuted: true)),
                ], sampleRate: 44_100)
            let blocks = try blocks(mix, seconds: 3)
            expectOneTimeline(blocks)
            #expect(left(blocks)[4410...].allSatisfy { abs($0 - 3000) < 10 })
            let levels = mix.statistics.sources.map(\.peakDecibels)
            #expect(abs(try #require(levels[0]) + 30.3) < 0.1)
            #expect(abs(try #require(levels[1]) + 24.3) < 0.1)
            #expect(levels[2] == nil)
            #expect(abs(try #require(mix.statistics.peakDecibels) + 20.8) < 0.1)
            #expect(mix.statistics.capturedSamples > 3 * 120_000)
            #expect(mix.endingNote == nil)
        }
    }

    /// Without correction, two clocks 600 ppm apart would differ by 36 ms after a minute.
    @Test func eachMicrophoneFollowsItsOwnClock() throws {
        try time.run {
            let mix = MixedSource(
                [
                    try microphone(TimedCard(level: 1000, driftPPM: 300)),
                    try microphone(TimedCard(level: 2000, driftPPM: -300)),
                ], sampleRate: 44_100)
            let blocks = try blocks(mix, seconds: 70)
            expectOneTimeline(blocks)
            let samples = left(blocks)
            for seconds in [49.0, 59, 69] {
                func level(_ offset: Double) -> Int {
                    let time = start + .nanoseconds(Int64((seconds + offset) * 1e9))
                    return samples[Int((time - blocks[0].captureTime).inSeconds * 44_100)]
                }
                // The first loud block starts, and the last one ends, within ten milliseconds; clocks are up to six off.
                for offset in [-0.008, 0.068] { #expect(abs(level(offset) - 3000) < 300, "\(seconds + offset)") }
                for offset in [0.018, 0.042] { #expect(abs(level(offset) - 12_000) < 600, "\(seconds + offset)") }
            }
            let drifts = mix.statistics.sources.map(\.driftPPM)
            #expect(abs(try #require(drifts[0]) - 300) < 100)
            #expect(abs(try #require(drifts[1]) + 300) < 100)
            // Only before each card's first sample.
            #expect(mix.statistics.silentSamples < 2 * 4410)
        }
    }

    @Test func lostMicrophoneIsSilentUntilItReturns() throws {
        try time.run {
            let lost = TimedCard(level: 2000) { $0 > 2 ? .gone : nil }
            let mix = MixedSource(
                [try microphone(lost, reopened: TimedCard(level: 3000)), try microphone(TimedCard(level: 1000))],
                sampleRate: 44_100)
            let blocks = try blocks(mix, seconds: 8)
            expectOneTimeline(blocks)
            let samples = left(blocks)
            func level(_ seconds: Double) -> ArraySlice<Int> {
                samples[Int(seconds * 44_100)..<Int((seconds + 0.5) * 44_100)]
            }
            #expect(level(1).allSatisfy { abs($0 - 3000) < 10 })
            #expect(level(3).allSatisfy { abs($0 - 1000) < 10 }, "the other one is heard all the time")
            #expect(level(7).allSatisfy { abs($0 - 4000) < 10 })
            #expect(samples[4410...].allSatisfy { $0 > 990 })
            #expect(events.count == 2)
            let each = mix.statistics.sources
            #expect(each.map(\.interruptions) == [1, 0])
            // Lost at 2 s, back between 5 and 6 s.
            #expect((3 * 44_100...4 * 44_100 + 4410).contains(each[0].silentSamples) && each[1].silentSamples < 4410)
        }
    }

    /// A card that delivers nothing but does not count as lost yet.
    @Test func lateMicrophoneDoesNotDelayTheOthers() throws {
        try time.run {
            let late = TimedCard(level: 2000) { (2..<3).contains($0) ? .quiet : nil }
            let mix = MixedSource(
                [try microphone(late), try microphone(TimedCard(level: 1000))], sampleRate: 44_100)
            var blocks: [AudioBlock] = []
            for _ in 0..<215 {
                blocks.append(try #require(try mix.nextBlock(frameCount: 1024)))
                let end = blocks[blocks.count - 1].captureTime + .ofFrames(1024, sampleRate: 44_100)
                #expect(MonotonicClock.now() - end <= MixedSource.patience + .milliseconds(20))
            }
            expectOneTimeline(blocks)
            let samples = left(blocks)
            #expect(samples[4410...].allSatisfy { $0 > 990 }, "the other one is heard all the time")
            #expect(samples[(44_100 * 5 / 2)..<(44_100 * 27 / 10)].allSatisfy { abs($0 - 1000) < 10 })
            #expect(samples[(44_100 * 9 / 2)...].allSatisfy { abs($0 - 3000) < 10 })
            #expect(events.count == 0)
        }
    }

    /// First one file ends, then the other.
    @Test func mixEndsWhenAllSourcesHaveEnded() throws {
        try time.run {
            let events = events
            let parts = try [1, 2].map { seconds in
                try MicrophoneSource(
                    ConstantFile(level: 1000 * Int16(seconds), seconds: seconds), control: MicrophoneControl(),
                    gapThreshold: .milliseconds(250), sampleRate: 44_100, stop: try EventFD(),
                    notify: { event in events.list.withLock { $0.append(event) } })
            }
            let mix = MixedSource(parts, sampleRate: 44_100)
            var blocks: [AudioBlock] = []
            while let block = try mix.nextBlock(frameCount: 1024) { blocks.append(block) }
            expectOneTimeline(blocks)
            #expect(mix.endingNote == "every audio source has ended")
            #expect((86...90).contains(blocks.count))
            #expect(left(blocks)[22_050..<30_000].allSatisfy { abs($0 - 3000) < 10 })
            #expect(left(blocks)[55_000..<80_000].allSatisfy { abs($0 - 2000) < 10 })
            #expect(events.list.withLock { $0 } == [.ended(note: "1 s are over"), .ended(note: "2 s are over")])
            #expect(mix.statistics.interruptions == 0)
        }
    }

    /// Each is read in turn but must not start only then.
    @Test func filesStartTogether() throws {
        try time.run {
            let parts = try (1...4).map { quarters in
                try MicrophoneSource(
                    ConstantFile(level: 1000, seconds: 2, silentUntil: Double(quarters) / 4),
                    control: MicrophoneControl(), gapThreshold: .milliseconds(250), sampleRate: 44_100,
                    stop: try EventFD(), notify: { _ in })
            }
            let samples = left(try blocks(MixedSource(parts, sampleRate: 44_100), seconds: 1.5))
            let onsets = (0..<4).map { count in samples.firstIndex { $0 > 1000 * count + 500 } ?? 0 }
            for (index, onset) in onsets.enumerated() {
                let expected = Double(index + 1) / 4
                #expect(abs(Double(onset) / 44_100 - expected) < 0.001, "source \(index) of \(onsets)")
            }
        }
    }

    @Test func loudSumsAreLimitedAndNeverOverflow() {
        var last = Int16.min
        for sum in stride(from: Int32(-131_072), through: 131_072, by: 7) {
            let limited = MixedSource.limited(sum)
            #expect(limited >= last)
            #expect(MixedSource.limited(-sum) == -limited)
            if sum.magnitude <= UInt32(MixedSource.knee) { #expect(Int32(limited) == sum) }
            last = limited
        }
        #expect(MixedSource.limited(32_767) < 31_000)
        #expect((32_700...32_767).contains(MixedSource.limited(65_534)))
        #expect(MixedSource.limited(4 * 32_767) <= 32_767 && MixedSource.limited(4 * -32_768) >= -32_767)
    }
}

/// Paced by the clock, mono, at its own rate.
private final class ConstantFile: AudioSource {
    let format = AudioFormat(sampleRate: 16_000, channelCount: 1)
    private(set) var endingNote: String?
    private let level: Int16
    private let seconds: Int
    private let silentUntil: Double
    private var start: MediaTimestamp?
    private var frameCount = 0

    init(level: Int16, seconds: Int, silentUntil: Double = 0) {
        self.level = level
        self.seconds = seconds
        self.silentUntil = silentUntil
    }

    func start(at time: MediaTimestamp) { start = time }

    func nextBlock(frameCount wanted: Int) throws -> AudioBlock? {
        let start = start ?? MonotonicClock.now()
        self.start = start
        guard frameCount < seconds * format.sampleRate else {
            endingNote = "\(seconds) s are over"
            return nil
        }
        let time = start + .ofFrames(frameCount, sampleRate: format.sampleRate)
        let first = Int(silentUntil * Double(format.sampleRate))
        let samples = (frameCount..<frameCount + wanted).map { $0 < first ? 0 : level }
        frameCount += wanted
        MonotonicClock.sleep(until: start + .ofFrames(frameCount, sampleRate: format.sampleRate))
        return AudioBlock(samples: samples, captureTime: time)
    }
}
