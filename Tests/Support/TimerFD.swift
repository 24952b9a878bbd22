import CLinux
import Glibc
import LinuxIO
import Media

/// A timer on CLOCK_MONOTONIC as a descriptor (timerfd_create(2)): readable when it has expired.
final class TimerFD {
    private let descriptor: OwnedFileDescriptor

    init() throws(SystemCallError) {
        let descriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemCallError("timerfd_create") }
        self.descriptor = OwnedFileDescriptor(adopting: descriptor)
    }

    var fileDescriptor: Int32 { descriptor.rawValue }

    /// Expires at `time`, at once when that is past; never with `nil`. What has expired before is forgotten.
    func arm(at time: MediaTimestamp?) throws(SystemCallError) {
        // Zero would disarm.
        let nanoseconds = time.map { max(1, $0.nanoseconds) } ?? 0
        let first = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        var setting = itimerspec(it_interval: timespec(), it_value: first)
        guard timerfd_settime(descriptor.rawValue, Int32(TFD_TIMER_ABSTIME), &setting, nil) == 0 else {
            throw SystemCallError("timerfd_settime")
        }
    }
}
