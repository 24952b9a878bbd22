import Glibc
import Media

/// A file that says who may go on, among processes: as long as this exists, no other has it. The file stays behind,
/// empty; a process that ends in any way lets go of it.
public struct FileLock: ~Copyable, Sendable {
    private let file: OwnedFileDescriptor

    /// Makes the file if it is not there, and waits for the lock.
    /// - Throws: `EWOULDBLOCK` when another has it for longer than `timeout`.
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

    /// Lets the next one go on; dropping the lock does so too, perhaps as soon as nothing uses it any more.
    public consuming func release() {}
}
