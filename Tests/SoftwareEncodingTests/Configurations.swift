import DevicePorts
import Media
import StreamQuality

extension VideoEncoderConfiguration {
    /// The product's encoder configuration: a keyframe every two seconds.
    init(_ quality: VideoQuality, size: FrameSize) throws {
        self.init(
            size: size, frameRate: quality.frameRate, bitrate: quality.bitrate, profile: quality.profile,
            level: try quality.level(for: size), keyframeInterval: 2 * quality.frameRate.framesPerSecond)
    }
}
