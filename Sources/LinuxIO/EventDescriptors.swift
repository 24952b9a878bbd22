import CLinux
import Glibc
import Media

/// A wake-up between threads (eventfd(2)): readable from `signal()` until `drain()`.
public final class EventFD: Sendable {
    private let descriptor: OwnedFileDescriptor

    public init() throws(SystemCallError) {
        let descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemCallError("eventfd") }
        self.descriptor = OwnedFileDescriptor(adopting: descriptor)
    }

    public var fileDescriptor: Int32 { descriptor.rawValue }

    /// Makes the descriptor readable. Never blocks or fails; any thread.
    public func signal() {
        // The only error is a full counter; the descriptor is already readable then.
        eventfd_write(descriptor.rawValue, 1)
    }

    /// Makes the descriptor unreadable.
    /// - Returns: whether there was a signal.
    @discardableResult
    public func drain() -> Bool {
        var count: eventfd_t = 0
        return eventfd_read(descriptor.rawValue, &count) == 0
    }

    /// Waits for a signal without draining it.
    public func isSignaled(until deadline: MediaTimestamp) -> Bool {
        var entries = [PollEntry(fileDescriptor)]
        guard let count = try? poll(&entries, until: deadline) else { return true }
        return count > 0
    }
}

/// Signals to the process as a descriptor (signalfd(2)).
///
/// Create it on the main thread before any other thread: it blocks the signals for the calling thread, and new threads inherit
/// that mask.
public final class SignalFD: Sendable {
    private let descriptor: OwnedFileDescriptor

    /// - Parameter signals: for example `[SIGINT, SIGTERM]`.
    public init(_ signals: [Int32]) throws(SystemCallError) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals {
            guard sigaddset(&set, signal) == 0 else { throw SystemCallError("sigaddset", subject: "signal \(signal)") }
        }
        let number = pthread_sigmask(SIG_BLOCK, &set, nil)
        guard number == 0 else { throw SystemCallError("pthread_sigmask", number: number) }
        let descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemCallError("signalfd") }
        self.descriptor = OwnedFileDescriptor(adopting: descriptor)
    }

    public var fileDescriptor: Int32 { descriptor.rawValue }

    /// The next pending signal, or `nil`.
    public func next() -> Int32? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        return Glibc.read(descriptor.rawValue, &info, size) == size ? Int32(truncatingIfNeeded: info.ssi_signo) : nil
    }
}
