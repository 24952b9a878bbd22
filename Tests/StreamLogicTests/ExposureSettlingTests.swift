import Media
import StreamLogic
import Testing

@Suite("Exposure after a change of the light") struct ExposureSettlingTests {
    /// Frames 40 ms apart, starting at the change.
    /// - Parameter exposures: in microseconds; the last one stays in effect.
    /// - Returns: the first good frame's time after the change, in milliseconds.
    private func settled(_ exposures: [Int64?]) -> Int64? {
        var settling = ExposureSettling(from: .zero)
        for frame in 1..<200 {
            let milliseconds = Int64(40 * frame)
            let exposure = exposures[min(frame, exposures.count) - 1].map { Duration.microseconds($0) }
            let time = MediaTimestamp(milliseconds: milliseconds)
            if settling.frameTaken(at: time, exposureTime: exposure, gain: exposure.map { _ in 2 }) {
                return milliseconds
            }
        }
        return nil
    }

    @Test func cameraWithoutReportsGetsHalfASecond() { #expect(settled([nil]) == 520) }

    @Test func stabilityBeforeTheReactionDoesNotCount() {
        // Stable for the first frames, adapting for five, then stable.
        let before = [Int64](repeating: 20_000, count: 4)
        #expect(settled(before + [16_000, 12_000, 9000, 7000, 6000]) == 480)
    }

    @Test func unchangedExposureIsAcceptedSoon() { #expect(settled([20_000]) == 280) }

    @Test func cameraThatNeverSettlesIsAcceptedAfterTheLimit() {
        #expect(settled((0..<200).map { $0 % 2 == 0 ? 10_000 : 20_000 }) == 2000)
    }
}
