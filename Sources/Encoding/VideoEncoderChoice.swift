import DevicePorts
import Media
import StreamLogic

/// Which encoder to use.
public protocol VideoEncoderChoice: Sendable {
    /// Whether the stream may start in software if the hardware fails.
    var mayUseSoftware: Bool { get }
    func factory(for needs: EncoderNeeds) -> any VideoEncoderFactory
}

/// Makes a stream's video encoders, depending on the choice and on the machine's hardware.
public protocol VideoEncoderFactory: Sendable {
    /// For a stream that starts.
    /// - Parameters:
    ///   - mayShrink: whether the caller can try a smaller frame if memory is short.
    ///   - log: receives messages for people.
    /// - Throws: the `EncoderFailure` of a lack of memory if so; else a `StreamFailure`.
    func make(
        _ configuration: VideoEncoderConfiguration, mayShrink: Bool, log: (String) -> Void
    ) throws -> any VideoEncoder

    /// For a live stream that changes its encoder. It continues in software if the hardware does not open.
    /// - Parameter frames: the source's present frames.
    /// - Throws: a `StreamFailure` if the software encoder does not open either.
    func makeWhileLive(
        _ configuration: VideoEncoderConfiguration, for frames: SourceFrames
    ) throws -> any VideoEncoder
}

/// A stream's requirements for its encoders.
public struct EncoderNeeds: Sendable {
    /// At the start.
    public var frames: SourceFrames
    /// Whether frames of another camera may follow.
    public var maySwitchCameras = false
    /// Whether a person chose the video's size or quality, so that the software encoder must keep them.
    public var isVideoChosen = false
    public let inUse: EncoderInUse
    public let output: VideoOutput
    package let report: @Sendable (EncoderEvent) -> Void

    package init(
        frames: SourceFrames, maySwitchCameras: Bool = false, isVideoChosen: Bool = false, inUse: EncoderInUse,
        output: VideoOutput, report: @escaping @Sendable (EncoderEvent) -> Void
    ) {
        self.frames = frames
        self.maySwitchCameras = maySwitchCameras
        self.isVideoChosen = isVideoChosen
        self.inUse = inUse
        self.output = output
        self.report = report
    }
}
