import Media
import Testing

@testable import Filters

@Suite struct FilterLoadTests {
    /// Frames one after the other, each as late as the filters make it.
    /// - Parameter cost: in milliseconds of all filters, by how many of them are left out and the time in seconds.
    /// - Returns: decisions with their times in seconds.
    private func decisions(seconds: Int, rate: Int = 30, cost: (_ dropped: Int, _ second: Double) -> Int) -> [String] {
        var load = FilterLoad()
        var time = MediaTimestamp(milliseconds: 1000)
        var made: [String] = []
        while time < MediaTimestamp(milliseconds: Int64(1000 + 1000 * seconds)) {
            let second = (time - MediaTimestamp(milliseconds: 1000)).inSeconds
            let milliseconds = cost(load.droppedCount, second)
            time += .milliseconds(max(milliseconds + 5, 1000 / rate))
            let decision = load.frame(
                at: time, took: .milliseconds(milliseconds), wanted: FrameRate(framesPerSecond: rate))
            if let decision { made.append("\(decision) \(Int(second.rounded()))") }
        }
        return made
    }

    @Test func whatKeepsUpStays() {
        #expect(decisions(seconds: 60) { _, _ in 30 } == [])
        // 11 frames a second are few, but enough.
        #expect(decisions(seconds: 60) { _, _ in 85 } == [])
    }

    @Test func whatDoesNotIsDroppedUntilFramesComeOftenEnough() {
        #expect(decisions(seconds: 9) { dropped, _ in 300 - 100 * dropped } == ["drop 1", "drop 3", "drop 5"])
    }

    @Test func whatWasBusyForAMomentComesBack() {
        let made = decisions(seconds: 30) { dropped, second in dropped == 0 && second < 5 ? 200 : 20 }
        #expect(made == ["drop 1", "restore 11"])
    }

    @Test func triesBecomeRare() {
        let made = decisions(seconds: 200) { dropped, _ in dropped == 0 ? 200 : 20 }
        #expect(made.first == "drop 1" && made.filter { $0.hasPrefix("restore") }.count == 4, "\(made)")
        let times = made.filter { $0.hasPrefix("restore") }.compactMap { Int($0.dropFirst(8)) }
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 20 } && times.last ?? 0 > 70, "\(times)")
    }

    @Test func slownessOfOthersDropsNothing() {
        var load = FilterLoad()
        for second in 0..<600 {
            let time = MediaTimestamp(milliseconds: Int64(200 * second))
            let decision = load.frame(at: time, took: .milliseconds(10), wanted: FrameRate(framesPerSecond: 30))
            #expect(decision == nil)
        }
    }

    @Test func framesThatAreWantedRarelyAreNotSlow() {
        #expect(decisions(seconds: 60, rate: 5) { _, _ in 150 } == [])
    }
}
