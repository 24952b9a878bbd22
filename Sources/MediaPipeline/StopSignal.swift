import LinuxIO
import Media

extension EventFD {
    /// Waits for it; it is not drained.
    func isSignalled(until deadline: MediaTimestamp) -> Bool {
        var entries = [PollEntry(fileDescriptor)]
        guard let count = try? poll(&entries, until: deadline) else { return true }
        return count > 0
    }
}
