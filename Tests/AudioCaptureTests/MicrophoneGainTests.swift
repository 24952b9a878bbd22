import DevicePorts
import LinuxIO
import Media
import Synchronization
import Testing

@testable import AudioCapture

/// A card with a constant signal, optionally with a capture volume that has steps and limits.
private final class AmplifiedCard: CapturePCM {
    let sampleRate = 44_100
    let volume: Volume?
    private var index = 0

    /// In dB.
    final class Volume: Sendable {
        let range: ClosedRange<Double>
        let step: Double
        let value: Mutex<Double>
        let settingCount = Mutex(0)

        init(_ range: ClosedRange<Double>, step: Double, value: Double) {
            self.range = range
            self.step = step
            self.value = Mutex(value)
        }

        var now: Double { value.withLock { $0 } }
        var settings: Int { settingCount.withLock { $0 } }
    }

    init(_ volume: Volume? = nil) { self.volume = volume }

    static let level = 1000

    func read(until deadline: MediaTimestamp?) throws(MicrophoneError) -> PCMRead {
        defer { index += 1 }
        let time = MediaTimestamp(milliseconds: 50_000 + Int64(index) * 10)
        return .block([Int16](repeating: Int16(Self.level), count: 882), time: time)
    }

    func setHardwareGain(_ decibels: Double?) -> Double? {
        guard let volume else { return nil }
        if let decibels {
            let bounded = min(max(decibels, volume.range.lowerBound), volume.range.upperBound)
            volume.value.withLock { $0 = (bounded / volume.step).rounded(.up) * volume.step }
            volume.settingCount.withLock { $0 += 1 }
        }
        return volume.now
    }
}

@Suite struct MicrophoneGainTests {
    private let control = MicrophoneControl()

    private func source(_ card: AmplifiedCard, _ control: MicrophoneControl) throws -> MicrophoneSource {
        try MicrophoneSource(control, sampleRate: 44_100, stop: try EventFD(), notify: { _ in }) {
            () throws(MicrophoneError) in card
        }
    }

    /// The left channel of the next blocks.
    private func samples(_ source: MicrophoneSource, blocks: Int) throws -> [Int] {
        try (0..<blocks).flatMap { _ in
            let block = try #require(try source.nextBlock(frameCount: 1024))
            #expect(block.samples.count == 2048)
            for frame in 0..<1024 { #expect(block.samples[2 * frame] == block.samples[2 * frame + 1]) }
            return (0..<1024).map { Int(block.samples[2 * $0]) }
        }
    }

    @Test func cardWithoutAVolumeIsAmplifiedDigitally() throws {
        let source = try source(AmplifiedCard(), control)
        #expect(control.applied?.gain == MicrophoneGain(hardware: nil, digital: 0))
        _ = try samples(source, blocks: 2)
        control.setGain(12)
        let changing = try samples(source, blocks: 2)
        #expect(control.applied?.gain == MicrophoneGain(hardware: nil, digital: 12))
        #expect(control.applied?.level == control.wanted)
        #expect(source.statistics.gain == MicrophoneGain(hardware: nil, digital: 12))
        #expect(abs((changing.last ?? 0) - 3981) < 4)
    }

    /// It takes twenty milliseconds, and no step is larger than that of a straight line.
    @Test(arguments: [20.0, -40, 0.5]) func changeIsGradualAndDoesNotClick(gain: Double) throws {
        let source = try source(AmplifiedCard(), control)
        _ = try samples(source, blocks: 2)
        for isMuted in [false, true, false] {
            control.setGain(gain)
            control.setMuted(isMuted)
            let changing = try samples(source, blocks: 2)
            let (first, last) = (changing[0], changing[changing.count - 1])
            let length = 44_100 / 50
            let straight = abs(last - first) / length + 2
            for (one, next) in zip(changing, changing.dropFirst()) { #expect(abs(next - one) <= straight) }
            #expect(changing[length...].allSatisfy { $0 == last })
            #expect(last == (isMuted ? 0 : changing[length]))
            if isMuted { #expect(abs(changing[length / 2] - first / 2) <= 2 * straight, "half of the way") }
        }
    }

    @Test func changeDuringAChangeContinuesFromThere() throws {
        let source = try source(AmplifiedCard(), control)
        _ = try samples(source, blocks: 2)
        control.setMuted(true)
        // Shorter than a change.
        let half = try #require(try source.nextBlock(frameCount: 441)).samples
        control.setMuted(false)
        let rest = try #require(try source.nextBlock(frameCount: 1024)).samples
        let turn = Int(half[880])
        #expect((400...600).contains(turn))
        #expect(abs(Int(rest[0]) - turn) <= 3)
        #expect(rest[2 * 900] == 1000)
    }

    @Test func initialLevelAppliesFromTheFirstSample() throws {
        let muted = try source(AmplifiedCard(), MicrophoneControl(MicrophoneLevel(gain: 6, isMuted: true)))
        #expect(try samples(muted, blocks: 1).allSatisfy { $0 == 0 })
        let plain = try samples(source(AmplifiedCard(), MicrophoneControl()), blocks: 1)
        let loud = try samples(source(AmplifiedCard(), MicrophoneControl(MicrophoneLevel(gain: 6))), blocks: 1)
        #expect(zip(plain, loud).allSatisfy { abs(Double($1) - 1.9953 * Double($0)) < 2 })
    }

    @Test(arguments: [
        // Inside the card's range, between two of its steps, beyond either end.
        (10.0, 10.0, 0.0), (10.4, 11, -0.6), (35, 30, 5), (-20, -12, -8),
    ])
    func cardsOwnVolumeIsUsedFirst(gain: Double, hardware: Double, digital: Double) throws {
        let volume = AmplifiedCard.Volume(-12...30, step: 1, value: 21)
        let source = try source(AmplifiedCard(volume), control)
        #expect(control.applied?.gain == MicrophoneGain(hardware: 21, digital: 0), "it is left as it was")
        #expect(volume.settings == 0)
        _ = try samples(source, blocks: 1)
        control.setGain(gain)
        let later = try samples(source, blocks: 2)
        let applied = try #require(control.applied?.gain)
        #expect(volume.now == hardware && applied.hardware == hardware)
        #expect(abs(applied.digital - digital) < 1e-9 && abs(applied.total - gain) < 1e-9)
        let factors = [0.0: 1.0, -0.6: 0.933, 5: 1.778, -8: 0.398]
        #expect(abs(Double(later[2000]) - 1000 * (factors[digital] ?? 0)) < 2)
    }

    /// Each access to a USB microphone's volume is a transfer.
    @Test func cardIsAccessedOnlyWhenItsGainChanges() throws {
        let volume = AmplifiedCard.Volume(0...30, step: 1, value: 3)
        let source = try source(AmplifiedCard(volume), control)
        _ = try samples(source, blocks: 3)
        control.setGain(20)
        _ = try samples(source, blocks: 3)
        control.setMuted(true)
        #expect(try samples(source, blocks: 3).suffix(1024).allSatisfy { $0 == 0 })
        control.setMuted(false)
        _ = try samples(source, blocks: 3)
        #expect(volume.settings == 1 && volume.now == 20)
        #expect(control.applied?.gain == MicrophoneGain(hardware: 20, digital: 0))
    }

    @Test func gainIsLimitedToTheRange() throws {
        for (wanted, bounded) in [(41.0, 40.0), (.infinity, 40), (-.infinity, -60), (-3.5, -3.5)] {
            control.setGain(wanted)
            #expect(control.wanted.gain == bounded)
        }
        control.setGain(6)
        control.setGain(.nan)
        #expect(control.wanted.gain == 6, "NaN changes nothing")
    }

    @Test func rampAcceptsAnyNumber() {
        for decibels in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
            var ramp = GainRamp(sampleRate: 0)
            ramp.change(toDecibels: 0, isMuted: false)
            ramp.change(toDecibels: decibels, isMuted: false)
            var samples: [Int16] = [0, 0, .max, .min, 5, 5, 7]
            ramp.amplify(&samples)
            #expect(samples[0] == 0 && samples[1] == 0)
        }
    }

    /// While another thread changes it as fast as it can.
    @Test func changesFromAnotherThreadArrive() throws {
        let source = try source(AmplifiedCard(), control)
        let other = try NamedThread("changes") { [control] in
            for round in 0..<20_000 {
                control.setGain(Double(round % 20))
                control.setMuted(round % 2 == 1)
            }
            control.setGain(20)
            control.setMuted(false)
        }
        let thread = JoinableThread(other)
        for _ in 0..<200 { _ = try source.nextBlock(frameCount: 256) }
        thread.join()
        #expect(try samples(source, blocks: 3).suffix(1024).allSatisfy { abs($0 - 10_000) < 10 })
    }

    @Test func reopenedCardGetsTheGainAgain() throws {
        let volume = AmplifiedCard.Volume(0...30, step: 1, value: 3)
        do {
            let first = try source(AmplifiedCard(volume), control)
            control.setGain(20)
            _ = try samples(first, blocks: 1)
        }
        #expect(control.applied == nil && control.wanted.gain == 20)
        volume.value.withLock { $0 = 0 }
        // The stream restarts with another sample rate.
        let second = try source(AmplifiedCard(volume), control)
        _ = try samples(second, blocks: 1)
        #expect(volume.now == 20 && control.applied?.gain.hardware == 20)
    }
}
