import Media
import Synchronization

/// A thread's stay in the driver of one node.
///
/// A call that does not return cannot be ended from outside: it keeps its thread and its descriptors for as long as the
/// kernel likes. So a stay that nobody waits for any more is remembered, and none other begins at its node before it
/// is over, in whatever stream: a driver that hangs costs one thread, however often it is tried again. Any thread.
public final class DriverStay: Sendable {
    private struct Abandoned: Sendable {
        let stay: DriverStay
        /// When the call began that has not returned.
        let since: MediaTimestamp

        func waitForEnd() throws(DriverStayError) {
            var entries = [PollEntry(stay.ending.fileDescriptor)]
            _ = try? poll(&entries, until: since + DriverStay.longestCall)
            guard !stay.isOver.load(ordering: .acquiring) else { return }
            throw .blocked(path: stay.path, .seconds((MonotonicClock.now() - since).components.seconds))
        }
    }

    /// A call that takes longer hangs. Of those that do not, closing is the slowest: the Pi's driver waits two seconds
    /// for what a stalled firmware has of either queue.
    private static let longestCall = Duration.seconds(5)

    private static let abandoned = Mutex<[Abandoned]>([])

    private let path: String
    private let begin: MediaTimestamp
    private let isOver = Atomic(false)
    /// Readable once it is over.
    private let ending: EventFD

    /// Waits for an abandoned stay at this node as long as its call may return by itself: an encoder that is closed
    /// slowly is no broken one.
    /// - Throws: `blocked` while a call of an abandoned stay at this node hangs.
    public init(at path: String) throws(DriverStayError) {
        self.path = path
        do throws(SystemCallError) {
            ending = try EventFD()
        } catch {
            throw .failed(path: path, error)
        }
        while let earlier = Self.earlier(at: path) { try earlier.waitForEnd() }
        begin = MonotonicClock.now()
    }

    private static func earlier(at path: String) -> Abandoned? {
        abandoned.withLock { all in
            all.removeAll { $0.stay.isOver.load(ordering: .acquiring) }
            return all.first { $0.stay.path == path }
        }
    }

    /// The thread calls the driver no more, and nothing of the node is open.
    public func end() {
        isOver.store(true, ordering: .releasing)
        ending.signal()
    }

    /// Nobody waits for it any more.
    /// - Parameter since: when the call began that has not returned; `nil` when it is the first one.
    public func abandon(since: MediaTimestamp? = nil) {
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
    /// - Throws: `blocked` when it has not returned in time, or an earlier stay has not.
    public static func call<Value: Sendable>(
        of path: String, limit: Duration, _ body: @escaping @Sendable () -> Value
    ) throws(DriverStayError) -> Value {
        let stay = try DriverStay(at: path)
        let answer = Answer<Value>()
        do throws(SystemCallError) {
            let isDone = try EventFD()
            _ = try NamedThread("encoder", mayBlock: true) {
                let value = body()
                stay.end()
                answer.value.withLock { $0 = value }
                isDone.signal()
            }
            var entries = [PollEntry(isDone.fileDescriptor)]
            try poll(&entries, until: stay.begin + limit)
        } catch {
            throw .failed(path: path, error)
        }
        if let value = answer.value.withLock({ $0 }) { return value }
        stay.abandon()
        throw .blocked(path: path, limit)
    }

    private final class Answer<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }
}

/// Why nothing can be asked of a node's driver.
public enum DriverStayError: Error, Hashable, Sendable {
    /// A call of the driver does not return.
    case blocked(path: String, Duration)
    case failed(path: String, SystemCallError)
}

extension DriverStayError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .blocked(let path, let duration): "a call of \(path) has not returned for \(duration)"
        case .failed(let path, let error): "\(path): \(error)"
        }
    }
}
