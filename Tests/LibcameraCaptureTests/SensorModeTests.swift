import Media
import Testing

@testable import LibcameraCapture

/// The modes of the Raspberry Pi modules' drivers.
@Suite struct SensorModeTests {
    private static func mode(
        _ width: Int, _ height: Int, _ bits: Int, sees seen: (Int, Int), fps: Double
    ) -> SensorMode {
        SensorMode(
            size: FrameSize(width: width, height: height), bitDepth: bits,
            seen: FrameSize(width: seen.0, height: seen.1), shortestFrame: .seconds(1 / fps))
    }

    private static let imx219 = [
        mode(3280, 2464, 10, sees: (3280, 2464), fps: 21), mode(1920, 1080, 10, sees: (1920, 1080), fps: 47),
        mode(1640, 1232, 10, sees: (3280, 2464), fps: 41), mode(640, 480, 10, sees: (1280, 960), fps: 103),
        mode(3280, 2464, 8, sees: (3280, 2464), fps: 21), mode(1640, 1232, 8, sees: (3280, 2464), fps: 41),
    ]
    private static let imx708 = [
        mode(1536, 864, 10, sees: (3072, 1728), fps: 120), mode(2304, 1296, 10, sees: (4608, 2592), fps: 56),
        mode(4608, 2592, 10, sees: (4608, 2592), fps: 14),
    ]
    private static let imx477 = [
        mode(1332, 990, 10, sees: (2664, 1980), fps: 120), mode(2028, 1080, 12, sees: (4056, 2160), fps: 50),
        mode(2028, 1520, 12, sees: (4056, 3040), fps: 40), mode(4056, 3040, 12, sees: (4056, 3040), fps: 10),
    ]
    private static let ov5647 = [
        mode(640, 480, 10, sees: (2560, 1920), fps: 58), mode(1296, 972, 10, sees: (2592, 1944), fps: 43),
        mode(1920, 1080, 10, sees: (1928, 1080), fps: 30), mode(2592, 1944, 10, sees: (2592, 1944), fps: 15),
    ]

    private func chosen(_ modes: [SensorMode], _ width: Int, _ height: Int, _ fps: Int = 30) -> String? {
        SensorMode.best(
            of: modes, for: FrameSize(width: width, height: height), frameRate: FrameRate(framesPerSecond: fps)
        ).map { "\($0.size) \($0.bitDepth)" }
    }

    @Test(arguments: [(640, 480), (640, 360), (1280, 720)])
    func streamsUseTheWholeFieldOfView(width: Int, height: Int) {
        #expect(chosen(Self.imx219, width, height) == "1640x1232 10")
        #expect(chosen(Self.imx708, width, height) == "2304x1296 10")
    }

    /// An IMX219 cannot deliver 1920 columns of its full view at 30 frames per second.
    @Test func enlargingBeatsCropping() {
        #expect(chosen(Self.imx219, 1920, 1080) == "1640x1232 10")
        #expect(chosen(Self.imx219, 1920, 1080, 20) == "3280x2464 10")
    }

    @Test func croppingToTheStreamsShapeIsNotALoss() {
        #expect(chosen(Self.imx477, 1920, 1080) == "2028x1520 12")
        #expect(chosen(Self.imx477, 640, 480) == "2028x1520 12")
        #expect(chosen(Self.imx477, 640, 480, 10) == "2028x1520 12")
    }

    /// The 640x480 mode of an OV5647 lacks 32 of 2592 columns.
    @Test func slightLossOfFieldOfViewIsAccepted() {
        #expect(chosen(Self.ov5647, 640, 480) == "640x480 10")
        #expect(chosen(Self.ov5647, 1280, 720) == "1296x972 10")
    }

    @Test func frameRateTakesPrecedenceOverFieldOfView() {
        #expect(chosen(Self.imx708, 640, 360, 100) == "1536x864 10")
        #expect(chosen(Self.imx708, 640, 360, 240) == "1536x864 10")
    }

    @Test func withoutModesThereIsNoChoice() { #expect(chosen([], 640, 480) == nil) }
}
