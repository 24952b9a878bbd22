import LinuxIO
import Media
import Synchronization

/// Holds the tracks' threads until the server has taken the stream.
final class StartGate: Sendable {
    private let isOpen: EventFD
    private let stop: EventFD
    private let times = Mutex<(start: MediaTimestamp?, end: MediaTimestamp?)>((nil, nil))

    init(stop: EventFD) throws(SystemCallError) {
        isOpen = try EventFD()
        self.stop = stop
    }

    /// The stream's time zero; known once the gate is open. What was captured before is not part of the stream.
    var start: MediaTimestamp? { times.withLock { $0.start } }

    /// When media ends, if it was said; known once the gate is open.
    var end: MediaTimestamp? { times.withLock { $0.end } }

    func open(from start: MediaTimestamp, until end: MediaTimestamp?) {
        times.withLock { $0 = (start, end) }
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
