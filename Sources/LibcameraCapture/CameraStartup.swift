import CLibcamera
import Media

/// What becomes of a camera's first frames. Exposure and white balance start from a guess: the first frames may be black
/// or green, and libcamera marks those that come before its algorithms have settled. They are kept back, for half a second
/// at the most: viewers are to see the camera's best first frame, not to wait for a perfect one.
struct CameraStartup {
    enum Verdict {
        case whole
        /// Kept back, and no fault.
        case settling
        case broken
    }

    static let longest = Duration.milliseconds(500)

    private var firstArrival: MediaTimestamp?
    private var isOver = false

    /// Called for each completed request but cancelled ones.
    mutating func verdict(_ status: clibcamera_status, now: MediaTimestamp) -> Verdict {
        let first = firstArrival ?? now
        firstArrival = first
        if now - first >= Self.longest { isOver = true }
        switch status {
        case CLIBCAMERA_WHOLE:
            isOver = true
            return .whole
        case CLIBCAMERA_SETTLING: return isOver ? .whole : .settling
        // Some sensors' very first frames are unusable.
        default: return isOver ? .broken : .settling
        }
    }
}
