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

    /// Makes the descriptor readable. Never waits, never fails, from any thread.
    public func signal() {
        // The only error is a full counter, and then the descriptor is readable already.
        eventfd_write(descriptor.rawValue, 1)
    }

    /// Makes the descriptor unreadable.
    /// - Returns: whether there was a signal.
    @discardableResult
    public func drain() -> Bool {
        var count: eventfd_t = 0
        return eventfd_read(descriptor.rawValue, &count) == 0
    }
}

/// A timer on CLOCK_MONOTONIC as a descriptor (timerfd_create(2)): readable when it has expired.
public final class TimerFD: Sendable {
    private let descriptor: OwnedFileDescriptor

    public init() throws(SystemCallError) {
        let descriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
        guard descriptor >= 0 else { throw SystemCallError("timerfd_create") }
        self.descriptor = OwnedFileDescriptor(adopting: descriptor)
    }

    public var fileDescriptor: Int32 { descriptor.rawValue }

    /// Expires at `time`, at once when that is past, and then every `interval` if one is given.
    public func arm(at time: MediaTimestamp, every interval: Duration? = nil) throws(SystemCallError) {
        // Zero would disarm.
        try set(first: max(1, time.nanoseconds), interval: interval?.wholeNanoseconds ?? 0)
    }

    public func disarm() throws(SystemCallError) { try set(first: 0, interval: 0) }

    /// How often the timer has expired since it was asked last.
    public func takeExpirations() -> UInt64 {
        var count: UInt64 = 0
        let size = MemoryLayout<UInt64>.size
        return Glibc.read(descriptor.rawValue, &count, size) == size ? count : 0
    }

    private func set(first: Int64, interval: Int64) throws(SystemCallError) {
        var setting = itimerspec(
            it_interval: timespec(nanoseconds: interval), it_value: timespec(nanoseconds: first))
        guard timerfd_settime(descriptor.rawValue, Int32(TFD_TIMER_ABSTIME), &setting, nil) == 0 else {
            throw SystemCallError("timerfd_settime")
        }
    }
}

/// Signals to the process as a descriptor (signalfd(2)).
///
/// Make it on the main thread before any other thread: it blocks the signals
/// for the calling thread, and threads inherit that.
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

    /// The next signal that has arrived, `nil` when there is none.
    public func next() -> Int32? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        return Glibc.read(descriptor.rawValue, &info, size) == size ? Int32(truncatingIfNeeded: info.ssi_signo) : nil
    }
}
