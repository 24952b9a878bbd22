/// The configuration for opening an H.264 encoder.
public struct VideoEncoderConfiguration: Hashable, Sendable {
    public var size: FrameSize
    public var frameRate: FrameRate
    public var bitrate: Bitrate
    public var profile: H264Profile
    public var level: H264Level
    /// Frames from one keyframe to the next.
    public var keyframeInterval: Int

    public init(
        size: FrameSize, frameRate: FrameRate, bitrate: Bitrate, profile: H264Profile, level: H264Level,
        keyframeInterval: Int
    ) {
        self.size = size
        self.frameRate = frameRate
        self.bitrate = bitrate
        self.profile = profile
        self.level = level
        self.keyframeInterval = keyframeInterval
    }
}
