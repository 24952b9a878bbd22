import Glibc
import Media

/// A lock between processes. While this value exists, no other process can take the lock. The empty file stays behind, and the
/// kernel releases the lock however the process ends.
public struct FileLock: ~Copyable, Sendable {
    private let file: OwnedFileDescriptor

    /// Creates the file if necessary and waits for the lock.
    /// - Throws: `EWOULDBLOCK` when another process holds it for longer than `timeout`.
    public init(_ path: String, within timeout: Duration) throws(SystemCallError) {
        let file = try OwnedFileDescriptor(
            opening: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW | O_NOCTTY, permissions: 0o600)
        let deadline = MonotonicClock.now() + timeout
        while flock(file.rawValue, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, MonotonicClock.now() < deadline else {
                throw SystemCallError("flock", subject: path)
            }
            ThreadActivity.wait { MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(5)) }
        }
        self.file = file
    }

    /// Releases the lock. Dropping the value releases it as well, possibly right after its last use.
    public consuming func release() {}
}
