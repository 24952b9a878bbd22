import Media

/// The encoders' targets.
public struct OperatingPoint: Hashable, Sendable {
    /// The row of the quality table; `nil` without video.
    public var videoQuality: VideoQuality?
    public var videoBitrate: Bitrate
    public var frameRate: FrameRate
    /// The encoded size; `nil` if quality control does not determine the size.
    public var frameSize: FrameSize?
    /// `nil` without audio.
    public var audioQuality: AudioQuality?
}

/// Why the controller changed something. The text is shown in events.
public enum QualityChangeReason: String, Sendable {
    case linkCarriesLess = "the link carries less than is sent"
    case stalled = "nothing gets through"
    case resumed = "the link is back"
    case backlogSent = "the backlog is sent"
    case probing = "the buffer stays low; probing for more"
    case probeFailed = "the link did not carry more"
    case encoderSkips = "the encoder skips frames"
    case sizeFits = "a larger frame fits the link again"
    case sizeTooLarge = "the frame is too large for the link"
    case tierSwitched = "the other profile tier fits the link"
    case settingsChanged = "the settings were changed"
}

/// A change of the operating point, for events and the live view. For `resumed`, nothing has changed yet and `from`
/// equals `to`.
public struct QualityChange: Hashable, Sendable {
    public let from: OperatingPoint
    public let to: OperatingPoint
    public let reason: QualityChangeReason
    /// The link's last estimated rate, all media together; `nil` if it was never full.
    public let linkEstimate: Bitrate?
}

/// The controller's requests, in order.
public enum QualityAction: Hashable, Sendable {
    /// Configure the running video encoder. The bit rate may differ from the operating point's to correct an encoder
    /// that outputs more or less than its target. With `stretchesKeyframes`, keyframes are as rare as the service
    /// allows: the link cannot afford more.
    case setVideo(bitrate: Bitrate, frameRate: FrameRate, stretchesKeyframes: Bool)
    /// Encode frames of the operating point's size from the next one on, which is a keyframe; comes before `setVideo`.
    case resizeVideo(OperatingPoint)
    case setAudio(AudioQuality)
    /// `SendBuffer.discardWaitingVideo`.
    case discardWaitingVideo
    case requestKeyframe
    /// End the stream properly and start it again at a keyframe, with this quality's profile and this operating point.
    case restartStream(OperatingPoint)
    case reportChange(QualityChange)
}
