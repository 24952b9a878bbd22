import DevicePorts
import Encoding
import LinuxIO
import Media
import MediaPipeline
import MediaTestSupport
import StreamLogic
import VideoCapture

/// A fake camera as a stream's choice of source.
public struct FakeCameraChoice: VideoSourceChoice {
    /// What the stream requests from the camera.
    public struct Wish: Sendable {
        public let size: FrameSize
        public let secondSize: FrameSize?
        public let frameRate: FrameRate
        public let stop: EventFD

        fileprivate init(_ wish: SourceWish, stop: EventFD) {
            size = wish.size
            secondSize = wish.secondSize
            frameRate = wish.frameRate
            self.stop = stop
        }
    }

    public let isNone = false
    public let isCamera = true
    public let isLive = true
    public let readsStandardInput = false
    public let frameRate: FrameRate? = nil
    private let script: @Sendable (Wish) -> FakeCamera.Script

    /// - Parameter script: makes the camera's script for a request.
    public init(script: @escaping @Sendable (Wish) -> FakeCamera.Script) { self.script = script }

    public func open(
        _ wish: SourceWish, stop: EventFD, notify: @escaping @Sendable (SourceEvent) -> Void
    ) throws -> (any VideoSource)? {
        let script = script(Wish(wish, stop: stop))
        return try ResilientCamera(stop: stop, notify: notify) { try FakeCamera(script) }
    }

    public func cameraOpening(_ wish: SourceWish) -> CameraOpening? {
        { [script] stop in try FakeCamera(script(Wish(wish, stop: stop)), stop: stop) }
    }
}

/// The test's encoder as a stream's choice of encoder.
public struct FakeEncoderChoice: VideoEncoderChoice, VideoEncoderFactory {
    public typealias Opening = @Sendable (VideoEncoderConfiguration, EncoderNeeds) throws -> any VideoEncoder

    public let mayUseSoftware: Bool
    private let open: Opening
    private var needs: EncoderNeeds?

    public init(mayUseSoftware: Bool, open: @escaping Opening) {
        self.mayUseSoftware = mayUseSoftware
        self.open = open
    }

    public func factory(for needs: EncoderNeeds) -> any VideoEncoderFactory {
        var factory = self
        factory.needs = needs
        return factory
    }

    public func make(
        _ configuration: VideoEncoderConfiguration, mayShrink: Bool, log: (String) -> Void
    ) throws -> any VideoEncoder {
        guard let needs else { throw StreamFailure(.videoEncodingFailed, "nobody asked for it") }
        return try open(configuration, needs)
    }

    public func makeWhileLive(
        _ configuration: VideoEncoderConfiguration, for frames: SourceFrames
    ) throws -> any VideoEncoder {
        guard var needs else { throw StreamFailure(.videoEncodingFailed, "nobody asked for it") }
        needs.frames = frames
        return try open(configuration, needs)
    }
}
