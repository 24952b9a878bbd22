import ApplianceLogic
import Media
import Testing

@Suite struct HardwareEncoderHealthTests {
    private static func time(_ seconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: seconds * 1000) }
    private func time(_ seconds: Int64) -> MediaTimestamp { Self.time(seconds) }

    /// A machine that checks its encoder every two seconds.
    private final class Machine {
        var health = HardwareEncoderHealth()

        /// The time of its first request to restart.
        func firstWish(
            from start: Int64, to end: Int64, isIdle: Bool = true, isAllowed: Bool = true
        ) -> Int64? {
            stride(from: start, through: end, by: 2).first {
                health.wantsRestart(isIdle: isIdle, isAllowed: isAllowed, now: time($0))
            }
        }
    }

    private func dead() -> Machine {
        let machine = Machine()
        machine.health.died(reason: "no answer")
        return machine
    }

    @Test func workingEncoderNeedsNoRestart() {
        let machine = Machine()
        #expect(!machine.health.isDead)
        #expect(machine.firstWish(from: 0, to: 10_000) == nil)
    }

    @Test func machineWaitsAWhileAfterAStream() {
        let machine = dead()
        #expect(machine.firstWish(from: 0, to: 600, isIdle: false) == nil)
        #expect(machine.firstWish(from: 602, to: 700) == 632)
        // The request stays until it is granted.
        #expect(machine.firstWish(from: 634, to: 700) == 634)
    }

    @Test func newStreamRestartsTheWait() {
        let machine = dead()
        #expect(machine.firstWish(from: 0, to: 28) == nil)
        #expect(machine.firstWish(from: 30, to: 100, isIdle: false) == nil)
        #expect(machine.firstWish(from: 102, to: 200) == 132)
    }

    @Test func boardThatDoesNotAllowItIsNeverRestarted() {
        let machine = dead()
        #expect(machine.firstWish(from: 0, to: 10_000, isAllowed: false) == nil)
        #expect(machine.firstWish(from: 10_002, to: 10_100) == 10_032)
    }

    @Test func refusedRestartIsNotRequestedAgainAtOnce() {
        let machine = dead()
        #expect(machine.firstWish(from: 0, to: 100) == 30)
        machine.health.restartRefused(until: time(2000), now: time(30))
        #expect(machine.firstWish(from: 32, to: 3000) == 2000)
        machine.health.restartRefused(now: time(2000))
        #expect(machine.firstWish(from: 2002, to: 3000) == 2600)
    }

    @Test func encoderStaysDeadForTheFollowingStreams() {
        let machine = dead()
        machine.health.encoderChanged()
        machine.health.statusReported(isHardware: false, givesFrames: true)
        machine.health.statusReported(isHardware: false, givesFrames: true)
        machine.health.died(reason: "no answer to the second stream either")
        // The reason for people does not change with each stream.
        #expect(machine.health.deathReason == "no answer")
    }

    @Test func framesFromTheHardwareProveThatItWorks() {
        let machine = dead()
        machine.health.encoderChanged()
        machine.health.statusReported(isHardware: true, givesFrames: true)
        #expect(machine.health.isDead, "these may be software's")
        machine.health.statusReported(isHardware: true, givesFrames: true)
        #expect(!machine.health.isDead)
        #expect(machine.firstWish(from: 0, to: 1000) == nil)
    }

    @Test func openingWithoutFramesProvesNothing() {
        let machine = dead()
        // Opened, silent, reopened, and finally software.
        machine.health.encoderChanged()
        machine.health.statusReported(isHardware: true, givesFrames: true)
        machine.health.statusReported(isHardware: true, givesFrames: false)
        machine.health.encoderChanged()
        machine.health.statusReported(isHardware: true, givesFrames: true)
        machine.health.encoderChanged()
        machine.health.statusReported(isHardware: false, givesFrames: true)
        machine.health.statusReported(isHardware: true, givesFrames: true)
        #expect(machine.health.isDead)
    }

    @Test func choosingSoftwareEndsTheFault() {
        let machine = dead()
        machine.health.hardwareUnwanted()
        #expect(!machine.health.isDead)
    }

    /// A whole machine whose encoder dies after each start restarts once per hour of running.
    @Test func firmwareThatKeepsDyingRestartsTheMachineOnceAnHour() {
        var saved: String?
        var restarts: [Int64] = []
        // Seconds of running, across all starts of the machine: a stream of 200 s after each start, then idle.
        var start: Int64 = 0
        while start < 3 * 3600 {
            var limit = RestartLimit(savedText: saved, now: time(0))
            limit.startTaken()
            var health = HardwareEncoderHealth()
            var second: Int64 = 0
            while start + second < 3 * 3600 {
                second += 2
                if second == 180 { health.died(reason: "silent") }
                let isIdle = second >= 200
                guard health.wantsRestart(isIdle: isIdle, isAllowed: true, now: time(second)) else { continue }
                if limit.restartWanted(for: .hardwareEncoder, resumesStream: false, now: time(second)) { break }
                health.restartRefused(
                    until: limit.earliest(for: .hardwareEncoder, now: time(second)), now: time(second))
            }
            saved = limit.savedText(now: time(second))
            start += second
            restarts.append(start)
        }
        // The last one is the end of the test.
        #expect(restarts == [230, 3830, 7430, 10_800])
    }
}
