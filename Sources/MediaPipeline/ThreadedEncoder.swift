import DevicePorts
import Glibc
import LinuxIO
import Media
import Synchronization

/// A hardware encoder on a thread of its own: a call of its driver that does not return holds up nobody else.
///
/// Drivers take one lock for everything, and wait for their firmware with it: a new bit rate can keep every other call
/// waiting for seconds. So settings and frames are left here and taken by the thread, which waits for both its orders
/// and its device, and gives packets away as soon as they are there. Nothing here waits but `waitUntilOpen` and `finish`.
/// An encoder that does not come back is left alone: the camera gets its memory back, the thread ends when the kernel
/// lets it, and no other one begins at the node before. Used from one thread, the video thread.
public final class EncoderThread: Sendable {
    /// A thread that is longer in the driver than this keeps frames waiting.
    private static let patience = Duration.milliseconds(250)
    /// Opening asks the firmware for a lot.
    public static let openLimit = Duration.seconds(3)
    private static let finishLimit = Duration.seconds(1)
    /// A drain that never ends is cut off; 400 ms is what the slowest needs.
    private static let drainLimit = Duration.milliseconds(400)

    /// What the thread does in one go, in this order, before it takes a frame.
    private struct Orders: Sendable {
        var frameRate: (rate: FrameRate, keyFrameInterval: Int)?
        var bitrate: Bitrate?
        var isKeyFrameWanted = false
    }

    public enum Progress: Sendable {
        case opening
        case open
        /// It is of no use any more; closing may still be under way.
        case failed(any Error)
        /// The thread has left the encoder for good.
        case ended
    }

    private struct LeasedMemory: Sendable {
        weak var memory: RevocableMemory?
    }

    private struct State: Sendable {
        var orders = Orders()
        /// The newest frame that the encoder has had no room for.
        var waiting: CapturedFrame?
        var isFinishWanted = false
        var isFinished = false
        var isCloseWanted = false
        var isOpen = false
        var hasEnded = false
        /// Since when the node is this thread's; before that it waits for an earlier one to leave it.
        var stay: DriverStay?
        var openingSince: MediaTimestamp?
        /// Since when the thread has been in the encoder; `nil` while it waits for something to do.
        var busySince: MediaTimestamp?
        var failure: (any Error)?
        /// Memory that the encoder may still read. It goes back when the encoder drops it.
        var leased: [LeasedMemory] = []
        /// Frames inside the encoder.
        var insideCount = 0
        var encodedCount = 0
        var conversionCount = 0
        var faultCount = 0
        var notes: [String] = []
    }

    private let path: String
    private let output: EncodedOutput
    private let state = Mutex(State())
    private let work: EventFD
    private let progressed: EventFD

    /// Starts the thread, which opens the encoder.
    /// - Parameters:
    ///   - path: of the node, which one thread at a time uses.
    ///   - output: takes packets on the encoder's thread, none any more once `close` has returned but one that is just on
    ///     its way.
    ///   - open: done on the thread.
    public init(
        path: String, output: @escaping EncodedOutput,
        open: @escaping @Sendable () throws -> any PolledVideoEncoder
    ) throws(SystemCallError) {
        self.path = path
        self.output = output
        work = try EventFD()
        progressed = try EventFD()
        // What hangs in it is the ladder's business, not the watchdog's.
        _ = try NamedThread("encoder", mayBlock: true) { [self] in run(open) }
    }

    public var progress: Progress {
        state.withLock { state in
            if state.hasEnded, state.failure == nil { return .ended }
            if let failure = state.failure { return .failed(failure) }
            return state.isOpen ? .open : .opening
        }
    }

    /// Waits until the encoder is open; an earlier thread that is slow to leave the node is waited for, too.
    /// - Parameter limit: how long the opening itself may take.
    /// - Throws: what it threw; `DriverStayError.blocked` when it has not returned, or an earlier thread hangs
    ///   at this node. It is closed then.
    public func waitUntilOpen(limit: Duration = EncoderThread.openLimit) throws {
        while true {
            progressed.drain()
            let (isOpen, failure, since) = state.withLock { ($0.isOpen, $0.failure, $0.openingSince) }
            if let failure {
                close()
                throw failure
            }
            if isOpen { return }
            let deadline = since.map { $0 + limit }
            if let deadline, MonotonicClock.now() >= deadline {
                close()
                throw DriverStayError.blocked(path: path, limit)
            }
            var entries = [PollEntry(progressed.fileDescriptor)]
            try poll(&entries, until: deadline)
        }
    }

    /// Whether the thread has left the encoder for good.
    public var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Since when a call has kept frames waiting; `nil` when they are taken. Opening and closing are other matters.
    public func blockedSince(now: MediaTimestamp) -> MediaTimestamp? {
        state.withLock { $0.isOpen && $0.failure == nil ? $0.busySince : nil }
            .flatMap { now - $0 > Self.patience ? $0 : nil }
    }

    /// Frames that are here and have not come out.
    public var pendingFrameCount: Int {
        state.withLock { $0.isCloseWanted ? 0 : $0.insideCount + ($0.waiting == nil ? 0 : 1) }
    }

    /// Frames that have come out so far.
    public var encodedFrameCount: Int { state.withLock { $0.encodedCount } }
    public var conversionCount: Int { state.withLock { $0.conversionCount } }
    /// Outputs that were marked as faulty, or held no frame.
    public var faultCount: Int { state.withLock { $0.faultCount } }

    /// What people should know since it was asked last.
    public func takeNotes() -> [String] {
        state.withLock { state in
            defer { state.notes = [] }
            return state.notes
        }
    }

    /// Leaves a frame for the encoder, in place of one that it has had no room for: the newest is worth most.
    public func submit(_ frame: CapturedFrame) {
        let memory = RevocableMemory(frame.memory)
        state.withLock { state in
            guard state.failure == nil, !state.isCloseWanted, !state.isFinishWanted else { return }
            state.waiting = CapturedFrame(layout: frame.layout, captureTime: frame.captureTime, memory: memory)
            state.leased.removeAll { $0.memory == nil }
            state.leased.append(LeasedMemory(memory: memory))
        }
        work.signal()
    }

    public func requestKeyFrame() { order { $0.isKeyFrameWanted = true } }

    public func setBitrate(_ bitrate: Bitrate) { order { $0.bitrate = bitrate } }

    public func setFrameRate(_ frameRate: FrameRate, keyFrameInterval: Int) {
        order { $0.frameRate = (frameRate, keyFrameInterval) }
    }

    /// Does not wait: an error of it is a failure of the encoder.
    private func order(_ change: (inout Orders) -> Void) {
        state.withLock { change(&$0.orders) }
        work.signal()
    }

    /// Waits, not for long, for the frames that are still in the encoder.
    public func finish() {
        state.withLock { $0.isFinishWanted = true }
        work.signal()
        let deadline = MonotonicClock.now() + Self.finishLimit
        while true {
            progressed.drain()
            if state.withLock({ $0.isFinished || $0.isCloseWanted || !$0.isOpen || $0.failure != nil || $0.hasEnded }) {
                return
            }
            var entries = [PollEntry(progressed.fileDescriptor)]
            guard MonotonicClock.now() < deadline, (try? poll(&entries, until: deadline)) != nil else { return }
        }
    }

    /// Begins to close the encoder. Every frame's memory is free at once; when the thread has ended is told by
    /// `hasEnded`, and the next one at this node waits for it.
    public func close() {
        let now = MonotonicClock.now()
        let (leased, stay, since) = state.withLock { state in
            state.isCloseWanted = true
            state.waiting = nil
            defer { state.leased = [] }
            return (state.leased, state.hasEnded ? nil : state.stay, state.failure == nil ? state.busySince : nil)
        }
        work.signal()
        for entry in leased { entry.memory?.revoke() }
        stay?.abandon(since: since ?? now)
    }
}

// On the thread.
extension EncoderThread {
    private func run(_ open: () throws -> any PolledVideoEncoder) {
        do {
            let stay = try DriverStay(at: path)
            defer { stay.end() }
            let now = MonotonicClock.now()
            let isWanted = state.withLock { state in
                state.stay = stay
                state.openingSince = now
                state.busySince = now
                return !state.isCloseWanted
            }
            progressed.signal()
            // The encoder is closed when this returns.
            if isWanted { serve(open) }
        } catch {
            failed(error)
        }
        state.withLock { state in
            state.busySince = nil
            state.waiting = nil
            state.insideCount = 0
            state.hasEnded = true
        }
        progressed.signal()
    }

    /// What fails is told before the encoder is closed, which may take its time.
    private func serve(_ open: () throws -> any PolledVideoEncoder) {
        var encoder: (any PolledVideoEncoder)?
        do {
            let opened = try open()
            encoder = opened
            try opened.start()
            state.withLock { state in
                state.isOpen = true
                state.notes += opened.takeNotes()
            }
            progressed.signal()
            try encode(opened)
        } catch {
            if let encoder { tell(encoder) }
            failed(error)
        }
        encoder = nil
    }

    private func failed(_ error: any Error) {
        state.withLock { state in
            state.failure = error
            // What is slow from here on is the closing.
            state.busySince = MonotonicClock.now()
        }
        progressed.signal()
    }

    private func encode(_ encoder: any PolledVideoEncoder) throws {
        var drainEnd: MediaTimestamp?
        while let orders = takeOrders() {
            try obey(orders, encoder)
            give(try encoder.collect(), of: encoder)
            while encoder.hasRoom, let frame = takeFrame() {
                try encoder.submit(frame)
                give(try encoder.collect(), of: encoder)
            }
            drainEnd = drain(encoder, until: drainEnd)
            try wait(encoder, until: drainEnd)
        }
    }

    /// - Returns: `nil` when the encoder is to be closed.
    private func takeOrders() -> Orders? {
        work.drain()
        return state.withLock { state in
            guard !state.isCloseWanted else { return nil }
            state.busySince = MonotonicClock.now()
            defer { state.orders = Orders() }
            return state.orders
        }
    }

    private func takeFrame() -> CapturedFrame? {
        state.withLock { state in
            guard let frame = state.waiting else { return nil }
            state.waiting = nil
            state.insideCount += 1
            return frame
        }
    }

    private func obey(_ orders: Orders, _ encoder: any PolledVideoEncoder) throws {
        if let setting = orders.frameRate {
            try encoder.setFrameRate(setting.rate, keyFrameInterval: setting.keyFrameInterval)
        }
        if let bitrate = orders.bitrate { try encoder.setBitrate(bitrate) }
        if orders.isKeyFrameWanted { encoder.requestKeyFrame() }
    }

    /// Packets first, then the counts: a frame is in one of them at each moment.
    private func give(_ packets: [EncodedPacket], of encoder: any PolledVideoEncoder) {
        if !packets.isEmpty, !state.withLock({ $0.isCloseWanted }) { output(packets) }
        let frames = packets.count { $0.kind != .videoHeader }
        state.withLock { $0.encodedCount += frames }
        tell(encoder)
    }

    private func tell(_ encoder: any PolledVideoEncoder) {
        let (inside, conversions, faults) =
            (encoder.pendingFrameCount, encoder.conversionCount, encoder.faultCount)
        let notes = encoder.takeNotes()
        state.withLock { state in
            state.insideCount = inside
            state.conversionCount = conversions
            state.faultCount = faults
            state.notes += notes
        }
    }

    /// - Parameter end: when a drain that is under way is cut off.
    private func drain(_ encoder: any PolledVideoEncoder, until end: MediaTimestamp?) -> MediaTimestamp? {
        let isWanted = state.withLock { $0.isFinishWanted && !$0.isFinished && $0.waiting == nil }
        guard isWanted || end != nil else { return nil }
        if end == nil { encoder.startDraining() }
        let end = end ?? MonotonicClock.now() + Self.drainLimit
        guard encoder.isDrained || encoder.pendingFrameCount == 0 || MonotonicClock.now() >= end else { return end }
        state.withLock { $0.isFinished = true }
        progressed.signal()
        return nil
    }

    /// For orders and frames, and for the device until it was drained: from then on it is always ready.
    private func wait(_ encoder: any PolledVideoEncoder, until end: MediaTimestamp?) throws {
        let isFinished = state.withLock { state in
            state.busySince = nil
            return state.isFinished
        }
        let device = isFinished ? -1 : encoder.fileDescriptor ?? -1
        var entries = [PollEntry(work.fileDescriptor), PollEntry(device, [.readable, .writable])]
        try poll(&entries, until: end)
        // An error that no call reports would be reported for ever.
        if entries[1].ready.contains(.error), entries[1].ready.isDisjoint(with: [.readable, .writable]) {
            throw DriverStayError.failed(path: path, SystemCallError("poll", number: EIO))
        }
    }
}

/// A frame's memory that can be taken back from an encoder that does not return it.
private final class RevocableMemory: FrameMemory {
    private let memory: Mutex<(any FrameMemory)?>

    init(_ memory: any FrameMemory) { self.memory = Mutex(memory) }

    func revoke() { memory.withLock { $0 = nil } }

    var dmabuf: Int32? { memory.withLock { $0 }?.dmabuf }

    func detached() -> (any FrameMemory)? { memory.withLock { $0 }?.detached() }

    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let memory = memory.withLock({ $0 }) else {
            return try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return try memory.withBytes(body)
    }
}

extension DriverStayError: EncoderFailure {
    public var isLackOfMemory: Bool { false }
    public var mayPassByItself: Bool { true }
    public var mayBeDeadFirmware: Bool { true }
}
