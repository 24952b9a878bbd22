import ApplianceLogic
import Media
import Testing

@Suite("LED")
struct LEDTests {
    /// One LED on a timeline in milliseconds.
    private struct Lamp {
        var sequencer = LEDSequencer()
        var isLit = false
        var timer: MediaTimestamp?

        mutating func perform(_ actions: [LEDSequencer.Action]) {
            for action in actions {
                switch action {
                case .setLED(let isLit): self.isLit = isLit
                case .setTimer(let deadline): timer = deadline
                }
            }
        }

        /// Lit (#) and dark (.) in steps of 50 ms.
        mutating func film(from start: Int64, to end: Int64) -> String {
            stride(from: start, to: end, by: 50).map { time in
                let now = MediaTimestamp(milliseconds: time)
                while let due = timer, due <= now {
                    timer = nil
                    perform(sequencer.timerFired(now: due))
                }
                return isLit ? "#" : "."
            }.joined()
        }
    }

    private func film(_ pattern: LEDPattern, milliseconds: Int64) -> String {
        var lamp = Lamp()
        lamp.perform(lamp.sequencer.patternChanged(to: pattern, now: .zero))
        return lamp.film(from: 0, to: milliseconds)
    }

    @Test func patternsMatchTheDocumentation() {
        #expect(film(.off, milliseconds: 300) == "......")
        #expect(film(.steady, milliseconds: 300) == "######")
        #expect(film(.slow, milliseconds: 1500) == "##########..........##########")
        #expect(film(.flicker, milliseconds: 1600) == "#.#.#.#" + String(repeating: ".", count: 23) + "#.")
        #expect(film(.gaps, milliseconds: 1100) == "##################..##")
        #expect(film(.doubleGaps, milliseconds: 1100) == "##############..##..##")
        #expect(
            film(.longDark, milliseconds: 3100) == String(repeating: "#", count: 20) + String(repeating: ".", count: 40)
                + "##")
        #expect(film(.shortShortShortLong, milliseconds: 1600) == "##..##..##..##############......")
        #expect(
            film(.count(2), milliseconds: 2600) == "#####.....#####" + String(repeating: ".", count: 30) + "#####..")
    }

    @Test func allPatternsDiffer() {
        let states: [ApplianceState] = [
            .boot, .updating, .ready, .asked, .connecting, .live, .degraded, .liveInSoftware, .paused, .reconnecting,
            .stopping,
        ]
        let patterns = states.map(\.pattern) + ApplianceFault.allCases.map { ApplianceState.fault($0).pattern } + [.off]
        #expect(Set(patterns).count == patterns.count)
        #expect(Set(ApplianceFault.allCases.map(\.blinkCount)).count == ApplianceFault.allCases.count)
        #expect(ApplianceFault.allCases.allSatisfy { (2...11).contains($0.blinkCount) && !$0.meaning.isEmpty })
    }

    @Test func everyCycleAlternatesAndEnds() {
        for pattern in [
            LEDPattern.slow, .fast, .heartbeat, .flicker, .gaps, .doubleGaps, .longDark, .verySlow, .shortShortLong,
            .count(10),
            .count(0),
        ] {
            #expect(pattern.steps.count % 2 == 0)
            #expect(pattern.period > .zero)
        }
    }

    @Test func pressIsAnsweredAtOnceAndThePatternContinues() {
        var lamp = Lamp()
        lamp.perform(lamp.sequencer.patternChanged(to: .steady, now: .zero))
        _ = lamp.film(from: 0, to: 1000)
        lamp.perform(lamp.sequencer.answerWanted(.press, now: MediaTimestamp(milliseconds: 1000)))
        #expect(!lamp.isLit)
        #expect(lamp.film(from: 1000, to: 1300) == "..####")
        lamp.perform(lamp.sequencer.answerWanted(.longPress, now: MediaTimestamp(milliseconds: 2000)))
        #expect(lamp.film(from: 2000, to: 2800) == "..##..##..######")
        lamp.perform(lamp.sequencer.answerWanted(.doublePress, now: MediaTimestamp(milliseconds: 3000)))
        #expect(lamp.film(from: 3000, to: 3800) == "..####..####..##")
    }

    @Test func samePatternIsNotRestarted() {
        var lamp = Lamp()
        lamp.perform(lamp.sequencer.patternChanged(to: .slow, now: .zero))
        _ = lamp.film(from: 0, to: 300)
        #expect(lamp.sequencer.patternChanged(to: .slow, now: MediaTimestamp(milliseconds: 300)) == [])
        #expect(lamp.film(from: 300, to: 700) == "####....")
    }

    @Test func lateTimerFindsTheRightPhase() {
        var sequencer = LEDSequencer()
        _ = sequencer.patternChanged(to: .slow, now: .zero)
        #expect(
            sequencer.timerFired(now: MediaTimestamp(milliseconds: 3_600_750)) == [
                .setLED(isLit: false), .setTimer(MediaTimestamp(milliseconds: 3_601_000)),
            ])
    }
}
