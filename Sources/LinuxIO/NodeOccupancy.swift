import Media
import Synchronization

/// Marks a device node as occupied while a call of its driver hangs, so that retries fail fast and only one thread is lost.
///
/// A hung call cannot be canceled and keeps its thread and descriptors until the kernel returns. An abandoned occupancy
/// applies to the whole process, whichever stream tries the node next. Any thread.
public final class NodeOccupancy: Sendable {
    private struct Abandoned: Sendable {
        let occupancy: NodeOccupancy
        /// When the hanging call started.
        let since: MediaTimestamp

        func waitForEnd() throws(NodeOccupancyError) {
            var entries = [PollEntry(occupancy.ending.fileDescriptor)]
            _ = try? poll(&entries, until: since + NodeOccupancy.longestCall)
            guard !occupancy.isOver.load(ordering: .acquiring) else { return }
            throw .blocked(path: occupancy.path, .seconds((MonotonicClock.now() - since).components.seconds))
        }
    }

    /// A longer call counts as hung. The slowest good call is closing: the Pi's driver waits up to two seconds for each queue
    /// of a stalled firmware.
    private static let longestCall = Duration.seconds(5)

    private static let abandoned = Mutex<[Abandoned]>([])

    private let path: String
    private let start: MediaTimestamp
    private let isOver = Atomic(false)
    /// Readable once the occupancy has ended.
    private let ending: EventFD

    /// Waits for an abandoned occupancy of this node while its call may still return: an encoder that closes slowly is not
    /// broken.
    /// - Throws: `blocked` if a call of an abandoned occupancy hangs at this node.
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

    /// The thread makes no more driver calls and has closed the node.
    public func end() {
        isOver.store(true, ordering: .releasing)
        ending.signal()
    }

    /// The owner stops waiting for the call.
    /// - Parameter since: when the hanging call started; `nil` for the first call.
    public func abandon(since: MediaTimestamp? = nil) {
        let entry = Abandoned(occupancy: self, since: since ?? start)
        Self.abandoned.withLock { all in
            all.removeAll { $0.occupancy.isOver.load(ordering: .acquiring) }
            if !all.contains(where: { $0.occupancy === self }) { all.append(entry) }
        }
    }
}

extension NodeOccupancy {
    /// How `call` starts its thread and waits for it. Tests make either of them fail.
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

    /// Runs a call that may hang on its own thread.
    /// - Parameters:
    ///   - timeout: how long to wait for it.
    ///   - body: calls the node's driver. Its result may keep the node open; if it comes too late, the thread drops it before
    ///     the occupancy ends.
    /// - Throws: `blocked` if this call, or that of an earlier occupancy, does not return in time.
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
            // The driver was not called, so the node is still free.
            occupancy.end()
            throw .failed(path: path, error)
        }
        do throws(SystemCallError) {
            try thread.wait(isDone, occupancy.start + timeout)
        } catch {
            // The thread may already be inside the driver.
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

    /// One call, shared by the thread that makes it and the one that waits for it.
    private final class Call<Value>: Sendable {
        enum End {
            case returned, abandoned
        }

        /// Locked by the thread during its call. Nobody else looks before `returned`.
        let value = Mutex<Value?>(nil)
        private let end = Mutex<End?>(nil)

        /// - Returns: true if the call ended as wanted, false if it had already ended differently.
        func ends(as wanted: End) -> Bool {
            end.withLock { end in
                if end == nil { end = wanted }
                return end == wanted
            }
        }
    }
}

/// Why a node's driver cannot be called.
public enum NodeOccupancyError: Error, Hashable, Sendable {
    /// A driver call hangs.
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
