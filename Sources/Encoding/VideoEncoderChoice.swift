import DevicePorts
import Media
import StreamLogic

/// Which encoder makes H.264 of the frames.
public protocol VideoEncoderChoice: Sendable {
    /// Whether software may start the stream where hardware does not.
    var mayUseSoftware: Bool { get }
    func factory(for needs: EncoderNeeds) -> any VideoEncoderFactory
}

/// Makes a stream's video encoders, by what was chosen and what the machine has.
public protocol VideoEncoderFactory: Sendable {
    /// For a stream that starts.
    /// - Parameters:
    ///   - mayShrink: whether a smaller frame can be tried when memory lacks.
    ///   - log: takes what a person should know.
    /// - Throws: the `EncoderFailure` of a lack of memory if so; else a `StreamFailure`.
    func make(
        _ configuration: VideoEncoderConfiguration, mayShrink: Bool, log: (String) -> Void
    ) throws -> any VideoEncoder

    /// For a stream that is live and gets another encoder: it goes on in software when the hardware does not open.
    /// - Parameter frames: of the source as it is now.
    /// - Throws: a `StreamFailure` when software does not open either.
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
    /// Whether a person chose the size or quality of the video: software keeps to them.
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
