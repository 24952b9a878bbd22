import LinuxIO
import Media
import Synchronization

/// Holds the tracks' threads until the server has taken the stream.
final class StartGate: Sendable {
    private let isOpen: EventFD
    private let stop: EventFD
    private let endTime = Mutex<MediaTimestamp?>(nil)

    init(stop: EventFD) throws(SystemCallError) {
        isOpen = try EventFD()
        self.stop = stop
    }

    /// When media ends, if it was said; known once the gate is open.
    var end: MediaTimestamp? { endTime.withLock { $0 } }

    func open(until end: MediaTimestamp?) {
        endTime.withLock { $0 = end }
        isOpen.signal()
    }

    /// - Parameter duration: that is waited at the most.
    /// - Returns: whether nothing is waited for any more: the server has taken the stream, or it was stopped.
    func isPassed(within duration: Duration) -> Bool {
        var entries = [PollEntry(isOpen.fileDescriptor), PollEntry(stop.fileDescriptor)]
        guard let count = try? poll(&entries, until: MonotonicClock.now() + duration) else { return true }
        return count > 0
    }

    /// - Returns: false when the stream was stopped instead.
    func waitForStart() -> Bool {
        var entries = [PollEntry(isOpen.fileDescriptor), PollEntry(stop.fileDescriptor)]
        guard (try? poll(&entries, until: nil)) != nil else { return false }
        return entries[1].ready.isEmpty
    }
}
