import ApplianceLogic
import Media
import StreamLogic
import Testing

@Suite("The torch that follows the light") struct TorchPolicyTests {
    /// Rooms with these light levels, each for five seconds, measured twice a second.
    /// - Parameter torch: brightness added while the torch is lit.
    /// - Returns: whether the torch is lit at the end of each room.
    private func lit(_ rooms: [Double], torch: Double) -> [Bool] {
        var policy = TorchPolicy()
        var now = MediaTimestamp.zero
        return rooms.map { lux in
            for _ in 0..<10 {
                now += .milliseconds(500)
                _ = policy.measured(.lux(lux + (policy.isLit ? torch : 0)), now: now)
            }
            return policy.isLit
        }
    }

    @Test func darkRoomIsLit() {
        #expect(lit([300, 4], torch: 200) == [false, true])
        var policy = TorchPolicy()
        for seconds in 1...3 {
            _ = policy.measured(.luma(22), now: MediaTimestamp(milliseconds: Int64(1000 * seconds)))
        }
        #expect(policy.isLit)
    }

    @Test func levelsBetweenTheLimitsChangeNothing() {
        #expect(lit([300, 20, 11], torch: 200) == [false, false, false])
        #expect(lit([4, 9, 25], torch: 10) == [true, true, true])
    }

    @Test func torchsOwnLightIsNotDaylight() { #expect(lit([4, 5, 100, 4], torch: 200) == [true, true, true, true]) }

    @Test func daylightTurnsTheTorchOff() {
        #expect(lit([4, 300, 400], torch: 200) == [true, false, false])
        #expect(lit([4, 60, 4], torch: 10) == [true, false, true])
    }

    @Test func shortChangesAreIgnored() {
        var policy = TorchPolicy()
        let measured: [(Int64, Double)] = [(0, 300), (500, 2), (1000, 2), (1400, 300), (1500, 2), (2400, 2)]
        for (milliseconds, lux) in measured {
            policy.measured(.lux(lux), now: MediaTimestamp(milliseconds: milliseconds))
            #expect(!policy.isLit)
        }
        policy.measured(.lux(2), now: MediaTimestamp(milliseconds: 2500))
        #expect(policy.isLit)
    }

    @Test func invalidNumbersAreIgnored() {
        #expect(lit([.nan, -.infinity], torch: 1) == [false, false])
    }
}
