import Media
import Testing

@testable import LibcameraCapture

@Suite struct FrameDurationTests {
    private func durations(_ rate: Int, of own: Int = 30, slowest: Int = 30) -> [Double] {
        LibcameraCamera.frameDurations(
            FrameRate(framesPerSecond: rate), of: FrameRate(framesPerSecond: own),
            slowest: FrameRate(framesPerSecond: slowest))
    }

    @Test func cameraRateIsUsedExactly() { #expect(durations(30) == [33_333, 33_333]) }

    /// 12 frames per second, and no frame before its slot.
    @Test func lowerRateIsAThousandthSlower() { #expect(durations(12) == [83_416, 83_416]) }

    @Test func higherRateIsLimitedToTheCameras() { #expect(durations(60) == [33_333, 33_333]) }

    @Test func lowLightMaySlowDownAnyRate() {
        #expect(durations(30, slowest: 5) == [33_333, 200_000])
        #expect(durations(12, slowest: 5) == [83_416, 200_000])
    }
}
