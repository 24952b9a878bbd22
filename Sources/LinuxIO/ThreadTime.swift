import Glibc
import Media
import Synchronization

/// Replaces the kernel's clock and waits for some threads: a test's virtual time, in which whole engines run with their
/// threads.
///
/// A thread inherits the time of the thread that started it. By default that is the kernel's.
public protocol ThreadTime: AnyObject, Sendable {
    func now() -> MediaTimestamp
    /// Like the function `poll`.
    func poll(_ entries: inout [PollEntry], until deadline: MediaTimestamp?) throws(SystemCallError) -> Int
    /// A thread with this time is about to start. Called by the starting thread.
    /// - Returns: its number, for `threadEnded` and `waitForEnd`; not 0.
    /// - Throws: if no thread can be created.
    func threadStarts(_ name: String) throws(SystemCallError) -> Int
    /// Called by the thread itself as its last action.
    func threadEnded(_ number: Int)
    /// Returns when the thread has called `threadEnded`.
    func waitForEnd(of number: Int)
}

/// The clock of the calling thread.
public enum CurrentTime {
    /// `nil`: the kernel's.
    public static var replacement: (any ThreadTime)? {
        guard isReplaced.load(ordering: .relaxed), let context = pthread_getspecific(key) else { return nil }
        return Unmanaged<Setting>.fromOpaque(context).takeUnretainedValue().time
    }

    /// The calling thread has this time during `body`, and so have the threads that it starts then.
    public static func with<Value, Failure: Error>(
        _ time: any ThreadTime, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        isReplaced.store(true, ordering: .relaxed)
        let (outer, setting) = (pthread_getspecific(key), Setting(time))
        pthread_setspecific(key, Unmanaged.passUnretained(setting).toOpaque())
        defer {
            pthread_setspecific(key, outer)
            withExtendedLifetime(setting) {}
        }
        return try body()
    }

    private final class Setting {
        let time: any ThreadTime
        init(_ time: any ThreadTime) { self.time = time }
    }

    /// Whether any thread has ever had another time: asking for the thread's own costs more.
    private static let isReplaced = Atomic(false)

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        // Keys run out after 1024 of them; this program has two.
        pthread_key_create(&key, nil)
        return key
    }()
}
