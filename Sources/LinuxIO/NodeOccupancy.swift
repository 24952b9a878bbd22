import Media
import Synchronization

/// Marks a node occupied while a call of its driver hangs: retries fail fast, and one thread is lost in all.
///
/// Such a call cannot be ended from outside, and keeps its thread and descriptors until the kernel returns. An abandoned
/// occupancy holds for the whole process, whichever stream tries the node next. Any thread.
public final class NodeOccupancy: Sendable {
    private struct Abandoned: Sendable {
        let occupancy: NodeOccupancy
        /// When the call started that has not returned.
        let since: MediaTimestamp

        func waitForEnd() throws(NodeOccupancyError) {
            var entries = [PollEntry(occupancy.ending.fileDescriptor)]
            _ = try? poll(&entries, until: since + NodeOccupancy.longestCall)
            guard !occupancy.isOver.load(ordering: .acquiring) else { return }
            throw .blocked(path: occupancy.path, .seconds((MonotonicClock.now() - since).components.seconds))
        }
    }

    /// A call that takes longer hangs. Of those that do not, closing is the slowest: the Pi's driver waits two seconds
    /// for what a stalled firmware has of either queue.
    private static let longestCall = Duration.seconds(5)

    private static let abandoned = Mutex<[Abandoned]>([])

    private let path: String
    private let start: MediaTimestamp
    private let isOver = Atomic(false)
    /// Readable once it is over.
    private let ending: EventFD

    /// Waits for an abandoned occupancy at this node as long as its call may return by itself: an encoder that is closed
    /// slowly is no broken one.
    /// - Throws: `blocked` while a call of an abandoned occupancy at this node hangs.
    public init(at path: String) throws(NodeOccupancyError) {
        self.path = path
        do throws(SystemCallError) {
            ending = try EventFD()
        } catch {
            throw .failed(path: path, error)
        }
        while let earlier = Self.earlier(at: path) { try earlier.waitForEnd() }
        start = MonotonicClock.now()
    }

    private static func earlier(at path: String) -> Abandoned? {
        abandoned.withLock { all in
            all.removeAll { $0.occupancy.isOver.load(ordering: .acquiring) }
            return all.first { $0.occupancy.path == path }
        }
    }

    /// The thread calls the driver no more, and nothing of the node is open.
    public func end() {
        isOver.store(true, ordering: .releasing)
        ending.signal()
    }

    /// Nobody waits for it any more.
    /// - Parameter since: when the call started that has not returned; `nil` when it is the first one.
    public func abandon(since: MediaTimestamp? = nil) {
        let entry = Abandoned(occupancy: self, since: since ?? start)
        Self.abandoned.withLock { all in
            all.removeAll { $0.occupancy.isOver.load(ordering: .acquiring) }
            if !all.contains(where: { $0.occupancy === self }) { all.append(entry) }
        }
    }
}

extension NodeOccupancy {
    /// How `call` starts its thread and waits for it; tests let either of them fail.
    struct CallThread: Sendable {
        var start: @Sendable (sending @escaping () -> Void) throws(SystemCallError) -> Void = {
            body throws(SystemCallError) in
            _ = try NamedThread("driver-call", mayBlock: true, body)
        }
        var wait: @Sendable (EventFD, MediaTimestamp) throws(SystemCallError) -> Void = {
            isDone, deadline throws(SystemCallError) in
            var entries = [PollEntry(isDone.fileDescriptor)]
            try poll(&entries, until: deadline)
        }
    }

    /// Does what may hang on a thread of its own.
    /// - Parameters:
    ///   - timeout: how long it is waited for.
    ///   - body: asks the driver of the node. What it returns may keep the node open: when it comes too late, the thread
    ///     drops it before the occupancy ends.
    /// - Throws: `blocked` when it has not returned in time, or an earlier occupancy has not.
    public static func call<Value>(
        of path: String, timeout: Duration, _ body: @escaping @Sendable () -> sending Value
    ) throws(NodeOccupancyError) -> sending Value {
        try call(of: path, timeout: timeout, on: CallThread(), body)
    }

    static func call<Value>(
        of path: String, timeout: Duration, on thread: CallThread, _ body: @escaping @Sendable () -> sending Value
    ) throws(NodeOccupancyError) -> sending Value {
        let occupancy = try NodeOccupancy(at: path)
        let call = Call<Value>()
        let isDone: EventFD
        do throws(SystemCallError) {
            let done = try EventFD()
            try thread.start {
                call.value.withLock { $0 = body() }
                if !call.ends(as: .returned) { call.value.withLock { $0 = nil } }
                occupancy.end()
                done.signal()
            }
            isDone = done
        } catch {
            // Nothing has asked the driver: the node is as free as before.
            occupancy.end()
            throw .failed(path: path, error)
        }
        do throws(SystemCallError) {
            try thread.wait(isDone, occupancy.start + timeout)
        } catch {
            // The thread may be in the driver by now.
            if call.ends(as: .abandoned) { occupancy.abandon() }
            throw .failed(path: path, error)
        }
        guard !call.ends(as: .abandoned) else {
            occupancy.abandon()
            throw .blocked(path: path, timeout)
        }
        let value = call.value.withLock { held in
            let value = held
            held = nil
            return value
        }
        guard let value else { throw .blocked(path: path, timeout) }
        return value
    }

    /// One call, seen by the thread that makes it and the one that waits for it.
    private final class Call<Value>: Sendable {
        enum End {
            case returned, abandoned
        }

        /// Held by the thread for as long as its call takes: nobody else looks before `returned`.
        let value = Mutex<Value?>(nil)
        private let end = Mutex<End?>(nil)

        /// - Returns: whether it ended so; false when it had ended otherwise.
        func ends(as wanted: End) -> Bool {
            end.withLock { end in
                if end == nil { end = wanted }
                return end == wanted
            }
        }
    }
}

/// Why nothing can be asked of a node's driver.
public enum NodeOccupancyError: Error, Hashable, Sendable {
    /// A call of the driver does not return.
    case blocked(path: String, Duration)
    case failed(path: String, SystemCallError)
}

extension NodeOccupancyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .blocked(let path, let duration): "a call of \(path) has not returned for \(duration)"
        case .failed(let path, let error): "\(path): \(error)"
        }
    }
}
