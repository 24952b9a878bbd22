import Controls
import DevicePorts
import Encoding
import FrameFiltering
import Media
import SoftwareEncoding
import StreamQuality
import SyntheticSources
import VideoCapture

/// What is to be captured, and how it is to be encoded.
public struct MediaSettings: Sendable {
    public var video: any VideoSourceChoice
    /// The cameras between which the live stream can be switched, the first of which is `video`; empty where there is one
    /// source only.
    public var cameras: [NamedCamera] = []
    public var audio: any AudioSourceChoice
    public var quality: VideoQuality
    /// Whether somebody may ask for another quality while the stream is live.
    public var isQualityChangeable = false
    public var audioQuality: AudioQuality
    /// What the source is opened at, and the largest that is encoded.
    public var dimension: VideoDimension
    /// Adaptation makes frames no smaller than this; `nil` for `FrameSizeLadder`'s own floor.
    public var smallestSize: FrameSize?
    /// Whether adaptation may make frames smaller at all.
    public var mayResize = false
    /// Whether somebody asked for the size or the quality, and it is no default.
    public var isVideoChosen = true
    /// Of the source's frames.
    public var rotation = FrameRotation()
    public var keyframes = KeyframeSpacing()
    /// What the camera is set to at the start.
    public var controls: [ControlChange] = []
    /// That frames pass on their way to the encoder.
    public var filters = LoadedFilters()
    public var encoder: any VideoEncoderChoice
    public var duration: Duration?
    /// Where the source's frames are shown beside the stream; `nil` for nowhere.
    public var preview: (any PreviewSink)?
    /// What else takes the source's frames, and its audio: a computer.
    public var frameSinks: [any FrameSink] = []
    public var audioSinks: [any AudioSink] = []
    /// A camera is opened for what it shows, however slowly, and not for a stream.
    public var takesStills = false

    /// Cameras give the largest frames that they have when they are asked for more.
    private static let beyondCameras = FrameSize(width: 8192, height: 8192)
    /// Sensors give their largest frames at this rate.
    private static let stillRate = FrameRate(framesPerSecond: 10)

    var sourceWish: SourceWish {
        SourceWish(
            size: takesStills && video.isCamera ? Self.beyondCameras : rotation.rotated(dimension.size),
            secondSize: secondSourceSize, frameRate: sourceFrameRate, flips: rotation.flips,
            isForStills: takesStills)
    }

    /// The sizes that the frames may be encoded at.
    public var frameSizes: FrameSizeLadder? {
        video.isNone ? nil : FrameSizeLadder(full: dimension.size, smallest: smallestSize)
    }

    /// Of a second stream of the source's frames; `nil` where none is of use: frames on their side are the processor's anyway.
    private var secondSourceSize: FrameSize? {
        mayResize && !takesStills && rotation.isOfACamera ? frameSizes?.ofSecondStream : nil
    }

    /// What the source is opened at, as it stays open for as long as the stream lives: no quality that can be reached
    /// lacks frames. Those beyond the present one's rate reach no encoder.
    public var sourceFrameRate: FrameRate {
        guard !takesStills else { return Self.stillRate }
        return isQualityChangeable
            ? VideoQuality.allCases.map(\.frameRate).max() ?? quality.frameRate : quality.frameRate
    }

    /// Whether frames or audio come from there.
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

    /// For a service that shows no stream without audio.
    public mutating func addSilence() { audio = AudioSourceDescription.silence }
}
