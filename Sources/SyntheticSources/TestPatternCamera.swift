import DevicePorts
import LinuxIO
import Media

/// A test pattern where one of several cameras is wanted. Its clock and counter start anew with each opening.
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

    /// A frame comes at its time, be it later than the deadline.
    public func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame {
        guard let frame = try pattern.nextFrame() else { return .stopped }
        return .captured(frame)
    }
}
