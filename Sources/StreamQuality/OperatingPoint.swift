import Media

/// What the encoders are meant to give.
public struct OperatingPoint: Hashable, Sendable {
    /// The row of the table that the video is at; `nil` without video.
    public var videoQuality: VideoQuality?
    public var videoBitrate: Bitrate
    public var frameRate: FrameRate
    /// What the frames are encoded at; `nil` where the size is no matter of the quality's.
    public var frameSize: FrameSize?
    /// `nil` without audio.
    public var audioQuality: AudioQuality?
}

/// Why the controller changed something. The text goes into events.
public enum QualityChangeReason: String, Sendable {
    case linkCarriesLess = "the link carries less than is sent"
    case stalled = "nothing gets through"
    case resumed = "the link is back"
    case backlogSent = "the backlog is sent"
    case probing = "the buffer stays low: trying more"
    case probeFailed = "the link did not carry more"
    case encoderSkips = "the encoder leaves out frames"
    case sizeFits = "a larger frame fits the link again"
    case sizeTooLarge = "the frame is too large for what the link carries"
    case tierSwitched = "the other profile tier fits the link"
    case settingsChanged = "the settings were changed"
}

/// A change of the operating point, for events and the live view. When the link is back (`resumed`) nothing has
/// changed yet, and `from` is `to`.
public struct QualityChange: Hashable, Sendable {
    public let from: OperatingPoint
    public let to: OperatingPoint
    public let reason: QualityChangeReason
    /// What the link was last seen to carry, all media together; `nil` while it was never full.
    public let linkEstimate: Bitrate?
}

/// What the controller wants done, in this order.
public enum QualityAction: Hashable, Sendable {
    /// Set the running video encoder. The bit rate may differ from the operating point's: it makes up for an encoder
    /// that gives more or less than it is asked for.
    /// With `stretchesKeyframes` they come as rarely as the service takes: each costs what the link does not have.
    case setVideo(bitrate: Bitrate, frameRate: FrameRate, stretchesKeyframes: Bool)
    /// Encode frames of the operating point's size from the next one on, which is a keyframe; before `setVideo`.
    case resizeVideo(OperatingPoint)
    case setAudio(AudioQuality)
    /// `SendBuffer.discardWaitingVideo`.
    case discardWaitingVideo
    case requestKeyframe
    /// End the stream cleanly and start it again, at a keyframe, with this quality's profile and this operating point.
    case restartStream(OperatingPoint)
    case reportChange(QualityChange)
}
