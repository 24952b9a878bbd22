import Media
import StreamQuality
import Testing

@Suite struct SendBufferLimitsTests {
    @Test func defaultsMatchTheDocumentedLimits() throws {
        #expect(SendBufferLimits.standard.maxDuration == .seconds(3))
        #expect(SendBufferLimits.standard.lowThreshold == 0.2)
        #expect(SendBufferLimits.standard.highThreshold == 0.8)
        #expect(try SendBufferLimits(maxDuration: .seconds(3)) == .standard)
    }

    @Test(arguments: [(1.0, 0.0, 0.1), (5.0, 0.9, 1.0), (3.0, 0.2, 0.3), (3.0, 0.7, 0.8)])
    func valuesAtTheLimitsAreAllowed(seconds: Double, low: Double, high: Double) {
        #expect(throws: Never.self) {
            try SendBufferLimits(maxDuration: .seconds(seconds), lowThreshold: low, highThreshold: high)
        }
    }

    @Test(arguments: [0.999, 5.001, 0, -1])
    func durationOutOfRangeIsRefused(seconds: Double) {
        #expect(throws: SendBufferLimits.Violation.maxDurationOutOfRange(.seconds(seconds))) {
            try SendBufferLimits(maxDuration: .seconds(seconds))
        }
    }

    @Test func thresholdsOutOfRangeAreRefusedByName() {
        #expect(throws: SendBufferLimits.Violation.thresholdOutOfRange(name: "lowThreshold", value: -0.1)) {
            try SendBufferLimits(maxDuration: .seconds(3), lowThreshold: -0.1)
        }
        #expect(throws: SendBufferLimits.Violation.thresholdOutOfRange(name: "highThreshold", value: 1.1)) {
            try SendBufferLimits(maxDuration: .seconds(3), highThreshold: 1.1)
        }
        #expect(throws: SendBufferLimits.Violation.self) {
            try SendBufferLimits(maxDuration: .seconds(3), lowThreshold: .nan)
        }
    }

    @Test func thresholdsTooCloseAreRefusedWithTheRule() {
        let violation = SendBufferLimits.Violation.thresholdsTooClose(low: 0.2, high: 0.29)
        #expect(throws: violation) {
            try SendBufferLimits(maxDuration: .seconds(3), lowThreshold: 0.2, highThreshold: 0.29)
        }
        #expect(violation.description.contains("0.1 above"))
    }
}
