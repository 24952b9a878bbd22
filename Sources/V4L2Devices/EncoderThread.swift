import DevicePorts
import LinuxIO
import Media
import Synchronization

/// A hardware encoder on a thread of its own: a call of its driver that does not return holds up nobody else.
///
/// Drivers take one lock for everything, and wait for their firmware with it: a new bit rate can keep every other call
/// waiting for seconds. So settings are left here and done by the thread, pictures wait for it a short while only, and
/// an encoder that does not come back is left alone: the camera gets its memory back, the thread ends when the kernel
/// lets it, and no other one begins at the node before. Used from one thread, the video thread.
public final class EncoderThread: Sendable {
    /// So long a picture waits for the encoder to take it; then those that follow are left out and counted.
    private static let patience = Duration.milliseconds(250)
    /// Opening asks the firmware for a lot.
    public static let openLimit = Duration.seconds(3)
    /// An encoder that waits for an input does so for a second; one that is known to hang is not waited for.
    private static let closeLimit = (usual: Duration.milliseconds(1500), hanging: Duration.milliseconds(100))
    private static let finishLimit = Duration.seconds(1)

    private struct Picture: Sendable {
        let layout: FrameLayout
        let time: MediaTimestamp
        let memory: RevocableMemory
    }

    /// What the thread does in one go, in this order.
    private struct Work: Sendable {
        var frameRate: (rate: FrameRate, keyFrameInterval: Int)?
        var bitrate: Bitrate?
        var isKeyFrameWanted = false
        var picture: Picture?
        var isFinishWanted = false

        var isEmpty: Bool {
            frameRate == nil && bitrate == nil && !isKeyFrameWanted && picture == nil && !isFinishWanted
        }
    }

    private struct LentMemory: Sendable {
        weak var memory: RevocableMemory?
    }

    private struct State: Sendable {
        var waiting = Work()
        var isCloseWanted = false
        var isOpen = false
        var hasEnded = false
        /// Since when the thread has been in the encoder; `nil` while it has nothing to do.
        var busySince: MediaTimestamp?
        var packets: [EncodedPacket] = []
        var failure: (any Error)?
        /// Memory that the encoder may still read. It goes back when the encoder drops it.
        var lent: [LentMemory] = []
        var submittedCount = 0
        var returnedCount = 0
        /// As the encoder counts, while it is open.
        var skippedCount = 0
        var refusedCount = 0
        var convertedCount = 0
        var faultCount = 0
    }

    private let stay: DriverStay
    private let state = Mutex(State())
    private let work: EventFD
    private let progress: EventFD

    /// Starts the thread and waits until `open` has returned there. What it returns later is closed at once.
    /// - Parameter limit: how long it is waited for.
    /// - Throws: what `open` threw; `HardwareEncodingError.blocked` when it has not returned, or an earlier thread hangs
    ///   at this node.
    public init(
        path: String, limit: Duration = EncoderThread.openLimit,
        open: @escaping @Sendable () throws -> any VideoEncoder
    ) throws {
        stay = try DriverStay(at: path)
        work = try EventFD()
        progress = try EventFD()
        state.withLock { $0.busySince = MonotonicClock.now() }
        // What hangs in it is the ladder's business, not the watchdog's.
        _ = try NamedThread("encoder", mayBlock: true) { [self] in run(open) }
        let isDone = wait(until: MonotonicClock.now() + limit) { $0.isOpen || $0.failure != nil }
        let failure = state.withLock { state in
            state.isCloseWanted = state.isCloseWanted || !isDone
            return state.failure
        }
        if let failure { throw failure }
        guard isDone else {
            stay.abandon()
            throw HardwareEncodingError.blocked(path: path, limit)
        }
    }

    /// Whether the thread has left the encoder for good.
    public var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Since when a call has kept pictures waiting; `nil` when they are taken.
    public func blockedSince(now: MediaTimestamp) -> MediaTimestamp? {
        state.withLock { $0.busySince }.flatMap { now - $0 > Self.patience ? $0 : nil }
    }

    /// Pictures that went in and never came out, those included that were not taken in time.
    public var skippedFrameCount: Int {
        state.withLock { $0.refusedCount + ($0.isOpen ? $0.skippedCount : $0.submittedCount - $0.returnedCount) }
    }

    public var conversionCount: Int { state.withLock { $0.convertedCount } }
    /// Outputs that were marked as faulty, or held no picture.
    public var faultCount: Int { state.withLock { $0.faultCount } }

    public func encode(_ frame: consuming CapturedFrame) throws -> [EncodedPacket] {
        let picture = Picture(
            layout: frame.layout, time: frame.captureTime, memory: RevocableMemory(frame.takeMemory()))
        let (isTaken, failure) = submit(picture)
        if let failure { throw failure }
        guard isTaken else { return takePackets() }
        work.signal()
        wait(until: MonotonicClock.now() + Self.patience) { state in
            state.failure != nil || (state.busySince == nil && state.waiting.isEmpty)
        }
        return takePackets()
    }

    private func submit(_ picture: Picture) -> (isTaken: Bool, failure: (any Error)?) {
        let now = MonotonicClock.now()
        return state.withLock { state in
            guard state.failure == nil, !state.isCloseWanted else { return (false, state.failure) }
            let isBlocked = state.busySince.map { now - $0 > Self.patience } ?? false
            guard !isBlocked, state.waiting.picture == nil else {
                state.refusedCount += 1
                return (false, nil)
            }
            state.submittedCount += 1
            state.waiting.picture = picture
            state.lent.removeAll { $0.memory == nil }
            state.lent.append(LentMemory(memory: picture.memory))
            return (true, nil)
        }
    }

    public func requestKeyFrame() { order { $0.isKeyFrameWanted = true } }

    public func setBitrate(_ bitrate: Bitrate) { order { $0.bitrate = bitrate } }

    public func setFrameRate(_ frameRate: FrameRate, keyFrameInterval: Int) {
        order { $0.frameRate = (frameRate, keyFrameInterval) }
    }

    /// Does not wait: an error of it comes with the next picture.
    private func order(_ change: (inout Work) -> Void) {
        state.withLock { change(&$0.waiting) }
        work.signal()
    }

    /// Waits, not for long, for the pictures that are still in the encoder.
    public func finish() -> [EncodedPacket] {
        order { $0.isFinishWanted = true }
        wait(until: MonotonicClock.now() + Self.finishLimit) { state in
            state.failure != nil || (state.busySince == nil && state.waiting.isEmpty)
        }
        return takePackets()
    }

    /// Closes the encoder, or leaves it alone when it does not let itself be closed. Every picture's memory is free.
    public func close() {
        let now = MonotonicClock.now()
        let blocked = blockedSince(now: now)
        let limit = blocked == nil ? Self.closeLimit.usual : Self.closeLimit.hanging
        state.withLock { $0.isCloseWanted = true }
        work.signal()
        if !wait(until: now + limit, { $0.hasEnded }) { stay.abandon(since: blocked ?? now) }
        let lent = state.withLock { state in
            state.isOpen = false
            state.waiting = Work()
            defer { state.lent = [] }
            return state.lent
        }
        for entry in lent { entry.memory?.revoke() }
    }

    private func takePackets() -> [EncodedPacket] {
        state.withLock { state in
            defer { state.packets = [] }
            state.returnedCount += state.packets.count { $0.kind != .videoHeader }
            return state.packets
        }
    }

    /// - Returns: whether the condition was met in time.
    @discardableResult
    private func wait(until deadline: MediaTimestamp, _ condition: (borrowing State) -> Bool) -> Bool {
        while true {
            progress.drain()
            if state.withLock({ condition($0) }) { return true }
            var entries = [PollEntry(progress.fileDescriptor)]
            guard MonotonicClock.now() < deadline, (try? poll(&entries, until: deadline)) != nil else { return false }
        }
    }
}

// On the thread.
extension EncoderThread {
    private func run(_ open: () throws -> any VideoEncoder) {
        do {
            try serve(open())
        } catch {
            state.withLock { $0.failure = error }
            progress.signal()
        }
        // The encoder is closed by now.
        stay.end()
        state.withLock { state in
            state.busySince = nil
            state.hasEnded = true
        }
        progress.signal()
    }

    private func serve(_ encoder: any VideoEncoder) throws {
        state.withLock { $0.isOpen = true }
        while let work = nextWork() {
            do {
                let packets = try perform(work, encoder)
                publish(packets, of: encoder)
            } catch {
                // Told before the encoder is closed, which may take its time.
                publish([], of: encoder)
                state.withLock { state in
                    state.failure = error
                    // What is slow from here on is the closing, and is given the time for that.
                    state.busySince = MonotonicClock.now()
                }
                progress.signal()
                return
            }
        }
    }

    private func nextWork() -> Work? {
        while true {
            work.drain()
            let (next, isOver) = state.withLock { state -> (Work?, Bool) in
                if state.isCloseWanted { return (nil, true) }
                guard !state.waiting.isEmpty else {
                    state.busySince = nil
                    return (nil, false)
                }
                state.busySince = MonotonicClock.now()
                defer { state.waiting = Work() }
                return (state.waiting, false)
            }
            if isOver { return nil }
            if let next { return next }
            progress.signal()
            var entries = [PollEntry(work.fileDescriptor)]
            guard (try? poll(&entries, until: nil)) != nil else { return nil }
        }
    }

    private func perform(_ work: Work, _ encoder: any VideoEncoder) throws -> [EncodedPacket] {
        if let setting = work.frameRate {
            try encoder.setFrameRate(setting.rate, keyFrameInterval: setting.keyFrameInterval)
        }
        if let bitrate = work.bitrate { try encoder.setBitrate(bitrate) }
        if work.isKeyFrameWanted { encoder.requestKeyFrame() }
        var packets: [EncodedPacket] = []
        if let picture = work.picture {
            packets = try encoder.encode(
                CapturedFrame(layout: picture.layout, captureTime: picture.time, memory: picture.memory))
        }
        if work.isFinishWanted { packets += try encoder.finish() }
        return packets
    }

    private func publish(_ packets: [EncodedPacket], of encoder: any VideoEncoder) {
        let (skipped, converted, faults) =
            (encoder.skippedFrameCount, encoder.conversionCount, encoder.faultCount)
        state.withLock { state in
            state.packets += packets
            state.skippedCount = skipped
            state.convertedCount = converted
            state.faultCount = faults
        }
    }
}

/// A picture's memory that can be taken back from an encoder that does not return it.
private final class RevocableMemory: FrameMemory {
    private let memory: Mutex<(any FrameMemory)?>

    init(_ memory: any FrameMemory) { self.memory = Mutex(memory) }

    func revoke() { memory.withLock { $0 = nil } }

    var dmabuf: Int32? { memory.withLock { $0 }?.dmabuf }

    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let memory = memory.withLock({ $0 }) else {
            return try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return try memory.withBytes(body)
    }
}
