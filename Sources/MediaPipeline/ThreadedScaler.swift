import DevicePorts
import LinuxIO
import Media
import Synchronization

/// A device that scales a stream's frames. What has failed once is not tried again in this stream: frames are needed
/// without a break, and the processor scales them as well. Any thread.
public final class ScalingDevice: Sendable {
    /// Opens the device, for frames in this layout and to this size. What it throws is for people.
    public typealias Opening = @Sendable (FrameLayout, FrameSize) throws -> any FrameScaler

    let path: String
    let open: Opening
    private let hasFailed = Atomic(false)

    /// - Parameters:
    ///   - path: of the device's node, which one thread at a time uses.
    ///   - open: done on that thread.
    public init(path: String, open: @escaping Opening) {
        self.path = path
        self.open = open
    }

    var isUsable: Bool { !hasFailed.load(ordering: .relaxed) }
    func failed() { hasFailed.store(true, ordering: .relaxed) }
}

/// A scaling device on a thread of its own: whoever wants a frame scaled waits for it, but not for a driver that hangs.
/// Of a device that does not come back the camera has its memory again; the thread ends when the kernel lets it, and no
/// other one starts at the node before. `scale` is for one thread, the rest for any.
final class ThreadedScaler: Sendable {
    /// A device that has not opened by then is left alone.
    private static let openTimeout = Duration.seconds(1)
    /// A frame that has not come by then is scaled by somebody else. Scalers take some milliseconds; a camera that is not
    /// asked for so long still has its buffers.
    private static let frameTimeout = Duration.milliseconds(250)

    private struct State: Sendable {
        /// Once it is open: what it gives.
        var output: (layout: FrameLayout, memory: FrameMemoryKind)?
        var failure: (any Error)?
        var waiting: CapturedFrame?
        var outcome: Result<CapturedFrame?, any Error>?
        var isCloseWanted = false
        var hasEnded = false
        /// Since when the node is this thread's.
        var stay: NodeOccupancy?
        /// Since when the thread has been in the driver.
        var busySince: MediaTimestamp?
    }

    let path: String
    /// Of the frames that it takes.
    let source: FrameLayout
    private let state = Mutex(State())
    private let work: EventFD
    /// Signalled for good once it is open, or has failed.
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
    /// - Returns: how its frames come; `nil` when it has failed, or not opened in time: then it never scales any.
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

    /// Waits for the scaled frame, for a quarter of a second at the most.
    /// - Returns: `nil` when the device has no memory for it now.
    /// - Throws: what the device threw, or `NodeOccupancyError.blocked`. It scales nothing any more then.
    func scale(_ frame: CapturedFrame) throws -> CapturedFrame? {
        let memory = RevocableMemory(frame.memory)
        let deadline = MonotonicClock.now() + Self.frameTimeout
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.waiting = CapturedFrame(layout: frame.layout, captureTime: frame.captureTime, memory: memory)
        }
        work.signal()
        while true {
            answered.drain()
            if let outcome = takeOutcome() { return try outcome.get() }
            var entries = [PollEntry(answered.fileDescriptor)]
            guard MonotonicClock.now() < deadline, try poll(&entries, until: deadline) > 0 else { break }
        }
        memory.revoke()
        let error = NodeOccupancyError.blocked(path: path, Self.frameTimeout)
        state.withLock { $0.failure = $0.failure ?? error }
        throw error
    }

    private func takeOutcome() -> Result<CapturedFrame?, any Error>? {
        state.withLock { state in
            defer { state.outcome = nil }
            return state.outcome ?? state.failure.map { .failure($0) }
        }
    }

    /// Starts to close the device. Frames that it has given stay valid.
    func close() {
        let now = MonotonicClock.now()
        let (stay, since) = state.withLock { state in
            state.isCloseWanted = true
            state.waiting = nil
            state.outcome = nil
            return (state.hasEnded ? nil : state.stay, state.busySince)
        }
        work.signal()
        stay?.abandon(since: since ?? now)
    }
}

// On the thread.
extension ThreadedScaler {
    private func run(_ open: () throws -> any FrameScaler) {
        do {
            let stay = try NodeOccupancy(at: path)
            defer { stay.end() }
            let isWanted = state.withLock { state in
                state.stay = stay
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
            // The frame goes back to its source before anybody hears of the scaled one.
            guard let outcome = takeFrame().map({ frame in Result { try scaler.scale(frame) } }) else { continue }
            // Nobody waits for it any more when it is closed; what it gave goes back.
            state.withLock { if !$0.isCloseWanted, $0.failure == nil { $0.outcome = outcome } }
            answered.signal()
            if case .failure(let error) = outcome { throw error }
        }
    }

    /// - Returns: false when the device is to be closed.
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
