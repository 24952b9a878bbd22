import Controls
import DevicePorts
import LinuxIO
import Media
import Synchronization

/// Passes frames and orders from other threads to the thread `webcam`.
final class WebcamFeed: Sendable {
    private struct Inner {
        var frame: (CapturedFrame, VideoColors?)?
        /// Whether a program has opened the webcam, so that frames are needed.
        var isWanted = false
        var statuses: [ControlStatus]?
        var isAllowed = false
        var isEnding = false
        var statistics = WebcamStatistics()
    }

    let wake: EventFD
    private let inner: Mutex<Inner>

    /// - Parameter controls: the camera's known controls.
    init(_ controls: [ControlStatus]) throws(SystemCallError) {
        wake = try EventFD()
        inner = Mutex(Inner(statuses: controls))
    }

    // MARK: Any thread

    func offer(_ frame: CapturedFrame, _ colors: VideoColors?) {
        // Drop the replaced frame outside of the lock, because that may call a driver.
        let (isWanted, replaced) = inner.withLock { inner -> (Bool, (CapturedFrame, VideoColors?)?) in
            guard inner.isWanted, !inner.isEnding else { return (false, nil) }
            let replaced = inner.frame
            inner.frame = (frame, colors)
            if replaced != nil { inner.statistics.lostFrames += 1 }
            return (true, replaced)
        }
        withExtendedLifetime(replaced) {}
        if isWanted { wake.signal() }
    }

    func framesEnded() { _ = takeFrame() }

    func controlsChanged(_ statuses: [ControlStatus]) {
        inner.withLock { $0.statuses = statuses }
        wake.signal()
    }

    func allow() {
        inner.withLock { $0.isAllowed = true }
        wake.signal()
    }

    func end() {
        inner.withLock { $0.isEnding = true }
        wake.signal()
    }

    var isWanted: Bool { inner.withLock { $0.isWanted } }
    var isEnding: Bool { inner.withLock { $0.isEnding } }
    var statistics: WebcamStatistics { inner.withLock { $0.statistics } }

    // MARK: The thread `webcam`

    func wants(_ isWanted: Bool) {
        let left = inner.withLock { inner in
            inner.isWanted = isWanted
            defer { inner.frame = isWanted ? inner.frame : nil }
            return isWanted ? nil : inner.frame
        }
        withExtendedLifetime(left) {}
    }

    /// Whether someone has agreed since the last call.
    func takeAllowance() -> Bool {
        inner.withLock { inner in
            defer { inner.isAllowed = false }
            return inner.isAllowed
        }
    }

    func takeFrame() -> (CapturedFrame, VideoColors?)? {
        inner.withLock { inner in
            defer { inner.frame = nil }
            return inner.frame
        }
    }

    func takeStatuses() -> [ControlStatus]? {
        inner.withLock { inner in
            defer { inner.statuses = nil }
            return inner.statuses
        }
    }

    func count(_ change: (inout WebcamStatistics) -> Void) {
        inner.withLock { change(&$0.statistics) }
    }
}
