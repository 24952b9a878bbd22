import Glibc
import Media
import Synchronization

/// What the named threads are at, for a watch that none of them hangs.
///
/// A thread waits while it is in `poll`; since it came from there it works, be that in a driver, for a lock, or in a
/// loop without end.
public enum ThreadActivity {
    /// The named threads that wait for nothing, and since when. Those that said so at their start are left out.
    public static func working() -> [(name: String, since: MediaTimestamp)] {
        pulses.withLock { pulses in
            pulses.compactMap { pulse in
                let since = pulse.workingSince.load(ordering: .relaxed)
                return since == Pulse.waiting ? nil : (pulse.name, MediaTimestamp(nanoseconds: since))
            }
        }
        .sorted { $0.since < $1.since }
    }

    /// The calling thread waits during `body`: in `poll`, for a disk, which answers when it likes, or for the end of a thread that
    /// is watched itself.
    public static func wait<Value: ~Copyable, Failure: Error>(
        during body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let context = pthread_getspecific(key) else { return try body() }
        let pulse = Unmanaged<Pulse>.fromOpaque(context).takeUnretainedValue()
        pulse.workingSince.store(Pulse.waiting, ordering: .relaxed)
        defer { pulse.worksFromNow() }
        return try body()
    }

    /// The calling thread is watched during `body`, which is all that it does.
    static func watch(_ name: String, _ body: () -> Void) {
        let pulse = Pulse(name)
        pulses.withLock { $0.append(pulse) }
        // The list above keeps it alive for as long as the thread has it.
        pthread_setspecific(key, Unmanaged.passUnretained(pulse).toOpaque())
        body()
        pthread_setspecific(key, nil)
        pulses.withLock { $0.removeAll { $0 === pulse } }
    }

    private final class Pulse: Sendable {
        static let waiting = Int64.min
        let name: String
        /// In nanoseconds of CLOCK_MONOTONIC, or `waiting`. Written by the thread itself only.
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
        // Keys run out after 1024 of them; this program has two.
        pthread_key_create(&key, nil)
        return key
    }()
}
