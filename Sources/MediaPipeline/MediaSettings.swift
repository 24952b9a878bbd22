import Controls
import DevicePorts
import Encoding
import FrameFiltering
import Media
import SoftwareEncoding
import StreamQuality
import SyntheticSources
import VideoCapture

/// What to capture and how to encode it.
public struct MediaSettings: Sendable {
    public var video: any VideoSourceChoice
    /// The cameras between which the live stream can switch, starting with `video`; empty if there is only one source.
    public var cameras: [NamedCamera] = []
    public var audio: any AudioSourceChoice
    public var quality: VideoQuality
    /// Whether the quality may be changed while the stream is live.
    public var isQualityChangeable = false
    public var audioQuality: AudioQuality
    /// The size at which the source is opened, and the largest that is encoded.
    public var dimension: VideoDimension
    /// Adaptation does not go below this size; `nil` for `FrameSizeLadder`'s own limit.
    public var smallestSize: FrameSize?
    /// Whether adaptation may reduce the frame size at all.
    public var mayResize = false
    /// Whether size or quality was requested, as opposed to a default.
    public var isVideoChosen = true
    /// The rotation of the source's frames.
    public var rotation = FrameRotation()
    public var keyframes = KeyframeSpacing()
    /// The camera's initial settings.
    public var controls: [ControlChange] = []
    /// Filters applied before encoding.
    public var filters = LoadedFilters()
    public var encoder: any VideoEncoderChoice
    public var duration: Duration?
    /// Whether each frame contains the time of day of its capture.
    public var hasTimecode = false
    /// Shows the source's frames beside the stream; `nil` for no preview.
    public var preview: (any PreviewSink)?
    /// Additional receivers of frames and audio: a computer.
    public var frameSinks: [any FrameSink] = []
    public var audioSinks: [any AudioSink] = []
    /// Whether the camera is opened for still images, however slow, instead of a stream.
    public var takesStills = false

    /// If asked for more, cameras deliver their largest frames.
    private static let beyondCameras = FrameSize(width: 8192, height: 8192)
    /// Sensors deliver their largest frames at this rate.
    private static let stillRate = FrameRate(framesPerSecond: 10)

    var sourceWish: SourceWish {
        SourceWish(
            size: takesStills && video.isCamera ? Self.beyondCameras : rotation.rotated(dimension.size),
            secondSize: secondSourceSize, frameRate: sourceFrameRate, flips: rotation.flips,
            isForStills: takesStills)
    }

    /// The sizes at which frames may be encoded.
    public var frameSizes: FrameSizeLadder? {
        video.isNone ? nil : FrameSizeLadder(full: dimension.size, smallest: smallestSize)
    }

    /// The size for a second stream of the source; `nil` if that is not useful, because the CPU has to process rotated frames
    /// anyway.
    private var secondSourceSize: FrameSize? {
        mayResize && !takesStills && rotation.isOfACamera ? frameSizes?.ofSecondStream : nil
    }

    /// The frame rate at which the source is opened, for the whole life of the stream: every reachable quality gets enough
    /// frames. Surplus frames do not reach the encoder.
    public var sourceFrameRate: FrameRate {
        guard !takesStills else { return Self.stillRate }
        return isQualityChangeable
            ? (VideoQuality.presets + [quality]).map(\.frameRate).max() ?? quality.frameRate : quality.frameRate
    }

    /// Whether frames or audio come from standard input.
    public var readsStandardInput: Bool { video.readsStandardInput || audio.readsStandardInput }

    public var trackCount: Int { (video.isNone ? 0 : 1) + (audio.isNone ? 0 : 1) }

    public init(
        video: any VideoSourceChoice, audio: any AudioSourceChoice, quality: VideoQuality, audioQuality: AudioQuality,
        dimension: VideoDimension, encoder: any VideoEncoderChoice, duration: Duration? = nil
    ) {
        self.video = video
        self.audio = audio
        self.quality = quality
        self.audioQuality = audioQuality
        self.dimension = dimension
        self.encoder = encoder
        self.duration = duration
    }

    /// For a service that does not show streams without audio.
    public mutating func addSilence() { audio = AudioSourceDescription.silence }
}
