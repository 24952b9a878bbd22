import DevicePorts
import LinuxIO
import Media
import StreamLogic
import SyntheticSources

// What a stream is made of, chosen by somebody and opened when it starts. Cameras, microphones and the machine's encoders
// are known to the executable only.

/// What a stream wants of a source, for what the choice of the source leaves open.
public struct SourceWish: Hashable, Sendable {
    public let size: FrameSize
    /// That a camera may give beside, by `FrameSizeSelection`, if the processor has no part in it.
    public let secondSize: FrameSize?
    public let frameRate: FrameRate
    /// That a camera may do; `VideoSource.flips` and `Camera.flips` say whether it does.
    public let flips: FrameFlips
    /// One frame of full size is wanted.
    public let isForStills: Bool

    public init(
        size: FrameSize, secondSize: FrameSize? = nil, frameRate: FrameRate, flips: FrameFlips = FrameFlips(),
        isForStills: Bool = false
    ) {
        self.size = size
        self.secondSize = secondSize
        self.frameRate = frameRate
        self.flips = flips
        self.isForStills = isForStills
    }
}

/// Where frames come from.
public protocol VideoSourceChoice: Sendable {
    /// No video at all.
    var isNone: Bool { get }
    /// Whether frames come from a device, in its own memory.
    var isCamera: Bool { get }
    /// Whether what is not read of it is lost, as of cameras and test patterns; files and pipes wait.
    var isLive: Bool { get }
    /// What is known of it before anything is opened.
    var frameRate: FrameRate? { get }
    var readsStandardInput: Bool { get }

    /// - Parameter stop: once signalled, the source ends at once. It is not drained.
    func open(
        _ wish: SourceWish, stop: EventFD, notify: @escaping @Sendable (SourceEvent) -> Void
    ) throws -> (any VideoSource)?

    /// What opens it as one of several cameras. `nil` for what is no camera, and cannot be left and taken up again.
    func cameraOpening(_ wish: SourceWish) -> CameraOpening?
}

extension VideoSourceChoice {
    public func cameraOpening(_ wish: SourceWish) -> CameraOpening? { nil }
}

/// One of several cameras, by the name that commands have for it.
public struct NamedCamera: Sendable {
    public let name: String
    public let choice: any VideoSourceChoice

    public init(name: String, choice: any VideoSourceChoice) {
        self.name = name
        self.choice = choice
    }
}

/// Where audio comes from.
public protocol AudioSourceChoice: Sendable {
    /// No audio at all.
    var isNone: Bool { get }
    /// Whether it gives audio at the rate that is asked for; that of a file or pipe is what it is.
    var takesSampleRate: Bool { get }
    var readsStandardInput: Bool { get }
    /// Gain and mute of each source that has them, in their order, before they are opened, while they are, and when they are
    /// opened again.
    var microphones: [MicrophoneControl] { get }

    /// As `VideoSourceChoice.open`.
    /// - Parameter notify: gets the loss and the return of a device, and the end of one of several sources.
    func open(
        sampleRate: Int, stop: EventFD, notify: @escaping @Sendable (TrackEvent) -> Void
    ) throws -> (any AudioSource)?
}

extension AudioSourceDescription: AudioSourceChoice {
    public var isNone: Bool { self == .none }
    public var takesSampleRate: Bool { if case .raw = self { false } else { true } }
    public var readsStandardInput: Bool { if case .raw("-", _, _) = self { true } else { false } }
    public var microphones: [MicrophoneControl] { [] }

    public func open(
        sampleRate: Int, stop: EventFD, notify: @escaping @Sendable (TrackEvent) -> Void
    ) throws -> (any AudioSource)? { try open(sampleRate: sampleRate, stop: stop) }
}

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

/// What a stream's encoders are to fit.
public struct EncoderNeeds: Sendable {
    /// At the start.
    public var frames: SourceFrames
    /// Whether frames of another camera may follow.
    public var maySwitchCameras = false
    /// Whether somebody asked for the size or the quality of the video: software keeps to them.
    public var isVideoChosen = false
    public let inUse: EncoderInUse
    public let output: VideoOutput
    public let reports: Mailbox<TrackEvent>
}
