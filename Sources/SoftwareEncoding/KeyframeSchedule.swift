import DevicePorts
import Media

/// Decides which pictures are key frames. It counts what comes in: pictures that
/// the encoder skips count too, and a source that is slower than configured still
/// gets its key frames in time.
struct KeyFrameSchedule {
    private var frameCount = 0
    private var lastKeyTime: MediaTimestamp?
    private var isRequested = false

    mutating func keyFrameRequested() { isRequested = true }

    /// - Returns: whether this picture is a key frame.
    mutating func frameArrived(at time: MediaTimestamp, configuration: VideoEncoderConfiguration) -> Bool {
        frameCount += 1
        guard let lastKeyTime, !isRequested else { return begin(at: time) }
        let interval = max(1, configuration.keyFrameInterval)
        // Half a picture late and more: the source does not keep its rate.
        let latest = configuration.frameRate.offset(ofFrame: interval) + configuration.frameRate.frameDuration / 2
        return frameCount >= interval || time - lastKeyTime >= latest ? begin(at: time) : false
    }

    private mutating func begin(at time: MediaTimestamp) -> Bool {
        frameCount = 0
        lastKeyTime = time
        isRequested = false
        return true
    }
}
