import DevicePorts
import Media

/// Decides which frames are keyframes. It counts input frames, so frames that the encoder skips count too, and a source slower
/// than configured still gets its keyframes in time.
struct KeyframeSchedule {
    private var frameCount = 0
    private var lastKeyTime: MediaTimestamp?
    private var isRequested = false

    mutating func keyframeRequested() { isRequested = true }

    /// - Returns: whether this frame is a keyframe.
    mutating func frameArrived(at time: MediaTimestamp, configuration: VideoEncoderConfiguration) -> Bool {
        frameCount += 1
        guard let lastKeyTime, !isRequested else { return start(at: time) }
        let interval = max(1, configuration.keyframeInterval)
        // More than half a frame late: the source is slower than configured.
        let latest = configuration.frameRate.offset(ofFrame: interval) + configuration.frameRate.frameDuration / 2
        return frameCount >= interval || time - lastKeyTime >= latest ? start(at: time) : false
    }

    private mutating func start(at time: MediaTimestamp) -> Bool {
        frameCount = 0
        lastKeyTime = time
        isRequested = false
        return true
    }
}
