import DevicePorts
import LinuxIO
import Media

/// The test pattern as one of several cameras. Its clock and counter restart with each opening.
public final class TestPatternCamera: Camera {
    public let name = "the test pattern"
    public let model = "test pattern"
    public let memoryKind = FrameMemoryKind.pooled
    private let pattern: TestPattern

    public init(size: FrameSize, frameRate: FrameRate, stop: EventFD) {
        pattern = TestPattern(size: size, frameRate: frameRate, stop: stop)
    }

    public var layout: FrameLayout { pattern.layout }
    public var frameRate: FrameRate { pattern.frameRate }
    public var colors: VideoColors? { pattern.colors }
    public var statistics: VideoSourceStatistics { pattern.statistics }

    /// Always returns the next frame, even if it is due after the deadline.
    public func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame {
        guard let frame = try pattern.nextFrame() else { return .stopped }
        return .captured(frame)
    }
}
