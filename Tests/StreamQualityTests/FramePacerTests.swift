import Media
import StreamQuality
import Testing

@Suite("Thinning out a faster source")
struct FramePacerTests {
    /// The numbers of the source's frames that are selected, out of `count`.
    private func taken(_ source: Int, _ wanted: Int, count: Int, missing: Set<Int> = []) -> [Int] {
        let source = FrameRate(framesPerSecond: source)
        var pacer = FramePacer(source: source, wanted: FrameRate(framesPerSecond: wanted))
        return (0..<count).filter { index in
            !missing.contains(index)
                && pacer.frameCaptured(at: MediaTimestamp(milliseconds: 5_000) + source.offset(ofFrame: index))
        }
    }

    @Test func halfTheRateTakesEverySecondFrame() {
        #expect(taken(30, 15, count: 10) == [0, 2, 4, 6, 8])
    }

    @Test(arguments: [(30, 12), (30, 15), (60, 12), (25, 12), (50, 30), (30, 29)])
    func eachFrameIsTheNearestToItsSlot(source: Int, wanted: Int) {
        let numbers = taken(source, wanted, count: source * 10)
        #expect(abs(numbers.count - wanted * 10) <= 1)
        for (place, number) in numbers.enumerated() {
            let distance = Double(number) / Double(source) - Double(place) / Double(wanted)
            #expect(abs(distance) <= 0.5 / Double(source) + 0.001, "frame \(number) at place \(place)")
        }
    }

    @Test(arguments: [(12, 12), (10, 30)])
    func slowerSourceLosesNothing(source: Int, wanted: Int) {
        #expect(taken(source, wanted, count: 20) == Array(0..<20))
    }

    @Test func gridContinuesAfterAGapWithoutCatchingUp() {
        #expect(taken(30, 15, count: 26, missing: Set(3..<20)) == [0, 2, 20, 22, 24])
    }
}
