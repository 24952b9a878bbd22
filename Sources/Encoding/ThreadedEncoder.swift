import DevicePorts
import LinuxIO
import Media
import Synchronization

/// A hardware encoder on its own thread: if a driver call does not return, other threads continue.
///
/// Drivers use one lock for everything and hold it while they wait for their firmware: a new bit rate can block every other
/// call for seconds. So settings and frames are left here for the thread, which waits for both its orders and its device and
/// passes packets on as soon as they exist. Only `waitUntilOpen` and `finish` wait. An encoder that does not return is
/// abandoned: the camera gets its memory back, and the thread ends when the kernel lets it. No other thread opens the node
/// before that. Used from the video thread.
public final class ThreadedEncoder: Sendable {
    /// A driver call that takes longer than this keeps frames waiting.
    private static let patience = Duration.milliseconds(250)
    /// Opening asks the firmware for a lot.
    public static let openTimeout = Duration.seconds(3)
    private static let finishTimeout = Duration.seconds(1)
    /// Limits a drain that never ends. The slowest needs 400 ms.
    static let drainTimeout = Duration.milliseconds(400)

    /// Work that the thread does at once, in this order, before it takes a frame.
    struct Orders: Sendable {
        var frameRate: (rate: FrameRate, keyframeInterval: Int)?
        var bitrate: Bitrate?
        var isKeyframeWanted = false
    }

    public enum Progress: Sendable {
        case opening
        case open
        /// It is no longer usable. It may still be closing.
        case failed(any Error)
        /// The thread has left the encoder for good.
        case ended
    }

    struct LeasedMemory: Sendable {
        weak var memory: RevocableMemory?
    }

    struct State: Sendable {
        var orders = Orders()
        /// The newest frame; the encoder has no room for it yet.
        var waiting: CapturedFrame?
        var isFinishWanted = false
        var isFinished = false
        var isCloseWanted = false
        var isOpen = false
        var hasEnded = false
        /// Since when this thread has the node. Before that, it waits for an earlier thread to release it.
        var occupancy: NodeOccupancy?
        var openingSince: MediaTimestamp?
        /// Since when the thread has been in the encoder; `nil` while it waits for something to do.
        var busySince: MediaTimestamp?
        var failure: (any Error)?
        /// Memory that the encoder may still read. It is returned when the encoder releases it.
        var leased: [LeasedMemory] = []
        /// Frames inside the encoder.
        var insideCount = 0
        var encodedCount = 0
        var conversionCount = 0
        var faultCount = 0
        var notes: [String] = []
    }

    let path: String
    let output: EncodedOutput
    let state = Mutex(State())
    let work: EventFD
    let progressed: EventFD

    /// Starts the thread, which opens the encoder.
    /// - Parameters:
    ///   - path: the device node, which one thread at a time uses.
    ///   - output: receives packets on the encoder's thread. After `close` has returned, at most one that was in flight.
    ///   - open: called on the thread.
    public init(
        path: String, output: @escaping EncodedOutput,
        open: @escaping @Sendable () throws -> any PolledVideoEncoder
    ) throws(SystemCallError) {
        self.path = path
        self.output = output
        work = try EventFD()
        progressed = try EventFD()
        // The recovery handles a hang in it, not the watchdog.
        _ = try NamedThread("encoder", mayBlock: true) { [self] in run(open) }
    }

    public var progress: Progress {
        state.withLock { state in
            if state.hasEnded, state.failure == nil { return .ended }
            if let failure = state.failure { return .failed(failure) }
            return state.isOpen ? .open : .opening
        }
    }

    /// Waits until the encoder is open, also for an earlier thread that is slow to release the node.
    /// - Parameter timeout: how long the opening itself may take.
    /// - Throws: its error; `NodeOccupancyError.blocked` if it has not returned, or an earlier thread hangs at this
    ///   node. The encoder is then closed.
    public func waitUntilOpen(timeout: Duration = ThreadedEncoder.openTimeout) throws {
        while true {
            progressed.drain()
            let (isOpen, failure, since) = state.withLock { ($0.isOpen, $0.failure, $0.openingSince) }
            if let failure {
                close()
                throw failure
            }
            if isOpen { return }
            let deadline = since.map { $0 + timeout }
            if let deadline, MonotonicClock.now() >= deadline {
                close()
                throw NodeOccupancyError.blocked(path: path, timeout)
            }
            var entries = [PollEntry(progressed.fileDescriptor)]
            try poll(&entries, until: deadline)
        }
    }

    /// Whether the thread has left the encoder for good.
    public var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Since when a call has kept frames waiting; `nil` if none does. Opening and closing do not count.
    public func blockedSince(now: MediaTimestamp) -> MediaTimestamp? {
        state.withLock { $0.isOpen && $0.failure == nil ? $0.busySince : nil }
            .flatMap { now - $0 > Self.patience ? $0 : nil }
    }

    /// Frames that have entered and not come out.
    public var pendingFrameCount: Int {
        state.withLock { $0.isCloseWanted ? 0 : $0.insideCount + ($0.waiting == nil ? 0 : 1) }
    }

    /// Frames that have come out so far.
    public var encodedFrameCount: Int { state.withLock { $0.encodedCount } }
    public var conversionCount: Int { state.withLock { $0.conversionCount } }
    /// Outputs that were marked as faulty or contained no frame.
    public var faultCount: Int { state.withLock { $0.faultCount } }

    /// News for people since the last call.
    public func takeNotes() -> [String] {
        state.withLock { state in
            defer { state.notes = [] }
            return state.notes
        }
    }

    /// Leaves a frame for the encoder. It replaces one that still waits, because the newest frame is worth most.
    public func submit(_ frame: CapturedFrame) {
        let memory = RevocableMemory(frame.memory)
        // Release replaced frames, and those that the encoder releases now, outside of the lock.
        _ = state.withLock { state -> (replaced: CapturedFrame?, leased: [RevocableMemory])? in
            guard state.failure == nil, !state.isCloseWanted, !state.isFinishWanted else { return nil }
            let (replaced, leased) = (state.waiting, state.leased.compactMap(\.memory))
            state.waiting = CapturedFrame(layout: frame.layout, captureTime: frame.captureTime, memory: memory)
            state.leased = (leased + [memory]).map { LeasedMemory(memory: $0) }
            return (replaced, leased)
        }
        work.signal()
    }

    public func requestKeyframe() { order { $0.isKeyframeWanted = true } }

    public func setBitrate(_ bitrate: Bitrate) { order { $0.bitrate = bitrate } }

    public func setFrameRate(_ frameRate: FrameRate, keyframeInterval: Int) {
        order { $0.frameRate = (frameRate, keyframeInterval) }
    }

    /// Does not wait. An error counts as a failure of the encoder.
    private func order(_ change: (inout Orders) -> Void) {
        state.withLock { change(&$0.orders) }
        work.signal()
    }

    /// Waits a short time for the frames still inside the encoder.
    public func finish() {
        state.withLock { $0.isFinishWanted = true }
        work.signal()
        let deadline = MonotonicClock.now() + Self.finishTimeout
        while true {
            progressed.drain()
            if state.withLock({ $0.isFinished || $0.isCloseWanted || !$0.isOpen || $0.failure != nil || $0.hasEnded }) {
                return
            }
            var entries = [PollEntry(progressed.fileDescriptor)]
            guard MonotonicClock.now() < deadline, (try? poll(&entries, until: deadline)) != nil else { return }
        }
    }

    /// Starts to close the encoder. All frames' memory is free at once. `hasEnded` tells when the thread has ended; the next
    /// thread at this node waits for that.
    public func close() {
        let now = MonotonicClock.now()
        let (waiting, leased, occupancy, since) = state.withLock { state in
            state.isCloseWanted = true
            defer { (state.waiting, state.leased) = (nil, []) }
            return (
                state.waiting, state.leased, state.hasEnded ? nil : state.occupancy,
                state.failure == nil ? state.busySince : nil
            )
        }
        withExtendedLifetime(waiting) { for entry in leased { entry.memory?.revoke() } }
        work.signal()
        occupancy?.abandon(since: since ?? now)
    }
}

extension NodeOccupancyError: EncoderFailure {
    public var isLackOfMemory: Bool { false }
    public var isRefusalOfSize: Bool { false }
    public var mayPassByItself: Bool { true }
    public var mayBeDeadFirmware: Bool { true }
}
