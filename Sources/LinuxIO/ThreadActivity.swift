import Glibc
import Media
import Synchronization

/// Tells which named threads are working, so that a watchdog can find one that hangs.
///
/// A thread counts as waiting while it is in `poll`. Otherwise it is working, whether in a driver, waiting for a lock, or in an
/// endless loop.
public enum ThreadActivity {
    /// The working threads and the start of their work. Threads that declared themselves blocking are not listed.
    public static func working() -> [(name: String, since: MediaTimestamp)] {
        pulses.withLock { pulses in
            pulses.compactMap { pulse in
                let since = pulse.workingSince.load(ordering: .relaxed)
                return since == Pulse.waiting ? nil : (pulse.name, MediaTimestamp(nanoseconds: since))
            }
        }
        .sorted { $0.since < $1.since }
    }

    /// Counts the calling thread as waiting during `body`: in `poll`, for a slow disk, or for the end of another watched
    /// thread.
    public static func wait<Value: ~Copyable, Failure: Error>(
        during body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let context = pthread_getspecific(key) else { return try body() }
        let pulse = Unmanaged<Pulse>.fromOpaque(context).takeUnretainedValue()
        pulse.workingSince.store(Pulse.waiting, ordering: .relaxed)
        defer { pulse.worksFromNow() }
        return try body()
    }

    /// Watches the calling thread during `body`, its whole life.
    static func watch(_ name: String, _ body: () -> Void) {
        let pulse = Pulse(name)
        pulses.withLock { $0.append(pulse) }
        // The list above keeps the pulse alive while the thread uses it.
        pthread_setspecific(key, Unmanaged.passUnretained(pulse).toOpaque())
        body()
        pthread_setspecific(key, nil)
        pulses.withLock { $0.removeAll { $0 === pulse } }
    }

    private final class Pulse: Sendable {
        static let waiting = Int64.min
        let name: String
        /// Nanoseconds of CLOCK_MONOTONIC, or `waiting`. Written only by the thread itself.
        let workingSince: Atomic<Int64>

        init(_ name: String) {
            self.name = name
            workingSince = Atomic(MonotonicClock.now().nanoseconds)
        }

        func worksFromNow() { workingSince.store(MonotonicClock.now().nanoseconds, ordering: .relaxed) }
    }

    private static let pulses = Mutex<[Pulse]>([])

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        // A process has 1024 keys; this program uses two.
        pthread_key_create(&key, nil)
        return key
    }()
}
