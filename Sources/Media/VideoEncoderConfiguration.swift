/// What an H.264 encoder is opened with.
public struct VideoEncoderConfiguration: Hashable, Sendable {
    public var size: PictureSize
    public var frameRate: FrameRate
    public var bitrate: Bitrate
    public var profile: H264Profile
    public var level: H264Level
    /// Pictures from one key frame to the next.
    public var keyFrameInterval: Int

    public init(
        size: PictureSize, frameRate: FrameRate, bitrate: Bitrate, profile: H264Profile, level: H264Level,
        keyFrameInterval: Int
    ) {
        self.size = size
        self.frameRate = frameRate
        self.bitrate = bitrate
        self.profile = profile
        self.level = level
        self.keyFrameInterval = keyFrameInterval
    }
}
