import DevicePorts
import LinuxIO
import Media
import Synchronization

/// A thread's stay in the driver of one node.
///
/// A call that does not return cannot be ended from outside: it keeps its thread and its descriptor for as long as the
/// kernel likes. So a stay that nobody waits for any more is remembered, and none other begins at its node before it
/// is over, in whatever stream: a driver that hangs costs one thread, however often it is tried again. Any thread.
final class DriverStay: Sendable {
    private struct Abandoned: Sendable {
        let stay: DriverStay
        /// When the call began that has not returned.
        let since: MediaTimestamp
    }

    private static let abandoned = Mutex<[Abandoned]>([])

    private let path: String
    private let begin = MonotonicClock.now()
    private let isOver = Atomic(false)

    /// - Throws: `blocked` while a call of an abandoned stay at this node has not returned.
    init(at path: String) throws(HardwareEncodingError) {
        self.path = path
        let earlier = Self.abandoned.withLock { all in
            all.removeAll { $0.stay.isOver.load(ordering: .acquiring) }
            return all.first { $0.stay.path == path }
        }
        if let earlier {
            throw .blocked(path: path, .seconds((begin - earlier.since).components.seconds))
        }
    }

    /// The thread calls the driver no more, and nothing of the node is open.
    func end() { isOver.store(true, ordering: .releasing) }

    /// Nobody waits for it any more.
    /// - Parameter since: when the call began that has not returned; `nil` when it is the first one.
    func abandon(since: MediaTimestamp? = nil) {
        let entry = Abandoned(stay: self, since: since ?? begin)
        Self.abandoned.withLock { all in
            all.removeAll { $0.stay.isOver.load(ordering: .acquiring) }
            if !all.contains(where: { $0.stay === self }) { all.append(entry) }
        }
    }
}

extension DriverStay {
    /// Does what may hang on a thread of its own.
    /// - Parameters:
    ///   - limit: how long it is waited for.
    ///   - body: asks the driver of the node, and leaves nothing of it open.
    /// - Throws: what `body` threw; `blocked` when it has not returned in time, or an earlier stay has not.
    static func call<Value: Sendable>(
        of path: String, limit: Duration,
        _ body: @escaping @Sendable () throws(HardwareEncodingError) -> Value
    ) throws(HardwareEncodingError) -> Value {
        let stay = try DriverStay(at: path)
        let answer = Answer<Value>()
        do throws(SystemCallError) {
            let isDone = try EventFD()
            _ = try NamedThread("encoder", mayBlock: true) {
                let result = Result { () throws(HardwareEncodingError) in try body() }
                stay.end()
                answer.result.withLock { $0 = result }
                isDone.signal()
            }
            var entries = [PollEntry(isDone.fileDescriptor)]
            try poll(&entries, until: stay.begin + limit)
        } catch {
            throw .failed(path: path, error)
        }
        if let result = answer.result.withLock({ $0 }) { return try result.get() }
        stay.abandon()
        throw .blocked(path: path, limit)
    }

    private final class Answer<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, HardwareEncodingError>?>(nil)
    }
}
