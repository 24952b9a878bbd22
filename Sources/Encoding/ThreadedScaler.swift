import DevicePorts
import LinuxIO
import Media
import Synchronization

/// A device that scales a stream's frames. After a failure it is not retried in this stream, because frames are needed
/// without a gap and the processor can scale them. Any thread.
public final class ScalingDevice: Sendable {
    /// Opens the device for frames of this layout, to scale them to this size. Its errors are shown to people.
    public typealias Opening = @Sendable (FrameLayout, FrameSize) throws -> any FrameScaler

    let path: String
    let open: Opening
    private let hasFailed = Atomic(false)

    /// - Parameters:
    ///   - path: the device node, which one thread at a time uses.
    ///   - open: called on that thread.
    public init(path: String, open: @escaping Opening) {
        self.path = path
        self.open = open
    }

    var isUsable: Bool { !hasFailed.load(ordering: .relaxed) }
    func failed() { hasFailed.store(true, ordering: .relaxed) }
}

/// A scaling device on its own thread: the caller waits for a frame, but not for a hanging driver. A late frame is dropped,
/// and so are frames that arrive while it is inside. If the device does not return, the camera gets its memory back, and the
/// thread ends when the kernel lets it. No other thread opens the node before that. `scale` is for one thread, the rest for
/// any.
final class ThreadedScaler: Sendable {
    /// A device that takes longer to open is abandoned.
    private static let openTimeout = Duration.milliseconds(1500)
    /// How long to wait for a frame. Scalers take some milliseconds, and cameras have enough buffers for this wait.
    private static let patience = Duration.milliseconds(100)
    /// A device that keeps a frame longer than this will not return it.
    private static let longestHold = Duration.seconds(1)

    private struct State: Sendable {
        /// Layout and memory kind of its frames, once it is open.
        var output: (layout: FrameLayout, memory: FrameMemoryKind)?
        var failure: (any Error)?
        /// Left for the thread.
        var waiting: CapturedFrame?
        /// The frame that the thread has not answered yet.
        var asked: (at: MediaTimestamp, memory: RevocableMemory)?
        /// Whether the caller still waits for the answer.
        var isAwaited = false
        var result: Result<CapturedFrame?, any Error>?
        var isCloseWanted = false
        var hasEnded = false
        /// Since when the node is this thread's.
        var occupancy: NodeOccupancy?
        /// Since when the thread has been in the driver.
        var busySince: MediaTimestamp?
    }

    let path: String
    /// Layout of the frames that it scales.
    let source: FrameLayout
    private let state = Mutex(State())
    private let work: EventFD
    /// Signaled for good once it is open, or has failed.
    private let opened: EventFD
    private let answered: EventFD

    /// Starts the thread, which opens the device.
    init(_ device: ScalingDevice, from source: FrameLayout, to size: FrameSize) throws(SystemCallError) {
        path = device.path
        self.source = source
        work = try EventFD()
        opened = try EventFD()
        answered = try EventFD()
        _ = try NamedThread("scaler", mayBlock: true) { [self] in run { try device.open(source, size) } }
    }

    /// Waits until it is open.
    /// - Returns: layout and memory kind of its frames; `nil` if it failed or did not open in time, so that it never scales any.
    func waitUntilOpen() -> (layout: FrameLayout, memory: FrameMemoryKind)? {
        let deadline = MonotonicClock.now() + Self.openTimeout
        var entries = [PollEntry(opened.fileDescriptor)]
        _ = try? poll(&entries, until: deadline)
        return state.withLock { state in
            if state.output == nil, state.failure == nil {
                state.failure = NodeOccupancyError.blocked(path: path, Self.openTimeout)
            }
            return state.failure == nil ? state.output : nil
        }
    }

    /// Waits for the scaled frame, for at most a tenth of a second.
    /// - Returns: `nil` for a frame to drop: the device has no memory for it now, or is late.
    /// - Throws: the device's error, or `NodeOccupancyError.blocked`. It then scales no more frames.
    func scale(_ frame: CapturedFrame) throws -> CapturedFrame? {
        guard try ask(for: frame) else { return nil }
        work.signal()
        let deadline = MonotonicClock.now() + Self.patience
        while true {
            answered.drain()
            if let result = takeResult() { return try result.get() }
            var entries = [PollEntry(answered.fileDescriptor)]
            guard MonotonicClock.now() < deadline, try poll(&entries, until: deadline) > 0 else { break }
        }
        return state.withLock { state in
            defer { state.result = nil }
            state.isAwaited = false
            return try? state.result?.get()
        }
    }

    private enum Asking {
        case done
        /// An earlier frame is inside.
        case busy
        /// It has been for too long.
        case blocked(RevocableMemory)
    }

    /// Leaves the frame for the thread.
    /// - Returns: false while an earlier one is inside.
    private func ask(for frame: CapturedFrame) throws -> Bool {
        let (now, memory) = (MonotonicClock.now(), RevocableMemory(frame.memory))
        let asking = try state.withLock { state -> Asking in
            if let failure = state.failure { throw failure }
            if let asked = state.asked {
                guard now - asked.at >= Self.longestHold else { return .busy }
                state.failure = NodeOccupancyError.blocked(path: path, Self.longestHold)
                return .blocked(asked.memory)
            }
            state.asked = (now, memory)
            state.isAwaited = true
            state.waiting = CapturedFrame(layout: frame.layout, captureTime: frame.captureTime, memory: memory)
            return .done
        }
        switch asking {
        case .done: return true
        case .busy: return false
        case .blocked(let memory):
            memory.revoke()
            throw NodeOccupancyError.blocked(path: path, Self.longestHold)
        }
    }

    private func takeResult() -> Result<CapturedFrame?, any Error>? {
        state.withLock { state in
            defer { state.result = nil }
            return state.result ?? state.failure.map { .failure($0) }
        }
    }

    /// Starts to close the device. Frames that it returned stay valid.
    func close() {
        let now = MonotonicClock.now()
        // Frames are dropped outside of the lock.
        let (_, asked, occupancy, since) = state.withLock { state in
            state.isCloseWanted = true
            defer { (state.waiting, state.result) = (nil, nil) }
            return (
                (state.waiting, state.result), state.asked?.memory, state.hasEnded ? nil : state.occupancy,
                state.busySince
            )
        }
        asked?.revoke()
        work.signal()
        occupancy?.abandon(since: since ?? now)
    }
}

// Runs on the scaler's thread.
extension ThreadedScaler {
    private func run(_ open: () throws -> any FrameScaler) {
        do {
            let occupancy = try NodeOccupancy(at: path)
            defer { occupancy.end() }
            let isWanted = state.withLock { state in
                state.occupancy = occupancy
                state.busySince = MonotonicClock.now()
                return !state.isCloseWanted
            }
            // The device is closed when this returns.
            if isWanted { try serve(open) }
        } catch {
            state.withLock { $0.failure = $0.failure ?? error }
        }
        state.withLock { $0.hasEnded = true }
        opened.signal()
        answered.signal()
    }

    private func serve(_ open: () throws -> any FrameScaler) throws {
        let scaler = try open()
        state.withLock { $0.output = (scaler.target, scaler.memoryKind) }
        opened.signal()
        while try waitForWork() {
            // Return the frame to its source before reporting the scaled one.
            guard let result = takeFrame().map({ frame in Result { try scaler.scale(frame) } }) else { continue }
            _ = state.withLock { state in
                if state.isAwaited, !state.isCloseWanted { state.result = result }
                return state.asked.take()
            }
            answered.signal()
            if case .failure(let error) = result { throw error }
        }
    }

    /// - Returns: false if the device should be closed.
    private func waitForWork() throws -> Bool {
        var entries = [PollEntry(work.fileDescriptor)]
        state.withLock { $0.busySince = nil }
        try poll(&entries, until: nil)
        work.drain()
        return state.withLock { state in
            state.busySince = MonotonicClock.now()
            return !state.isCloseWanted
        }
    }

    private func takeFrame() -> CapturedFrame? {
        state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
    }
}
