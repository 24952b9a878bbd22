import CLibcamera
import Media

/// Decides which of a camera's first frames to use. Exposure and white balance start from a guess, so the first frames may be
/// black or green; libcamera marks frames as unsettled until its algorithms converge. Those frames are held back for half a
/// second at most: viewers should see a good first frame early rather than wait for a perfect one.
struct CameraStartup {
    enum Verdict {
        case whole
        /// Held back, but not a fault.
        case settling
        case broken
    }

    static let longest = Duration.milliseconds(500)

    private var firstArrival: MediaTimestamp?
    private var isOver = false

    /// Called for each completed request except canceled ones.
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
