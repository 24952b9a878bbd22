import DevicePorts
import Glibc
import LinuxIO
import Media
import Synchronization

/// A hardware encoder in virtual time. It answers after a configurable time until it should hang or fail.
public final class ScriptedEncoder: PolledVideoEncoder {
    public struct Broken: Error {
        public init() {}
    }

    /// Shared with the test, which runs on another thread.
    public final class Script: Sendable {
        public struct Content: Sendable {
            public var hangsInBitrate = false
            public var hangsInFrame = false
            public var hangsInClosing = false
            public var failsAtStart = false
            /// Time per frame.
            public var frameTime = Duration.zero
            /// How many inputs it accepts at once.
            public var room = 100
            /// Frames go in but nothing comes out.
            public var isSilent = false
            /// Time for closing.
            public var closing = Duration.zero
            public var failsAt: Int?
            public var bitrates: [Bitrate] = []
            public var keyframes = 0
            public var inputs = 0
            /// How many of the inputs were in ordinary memory.
            public var ordinaryInputs = 0
            /// Sizes of the inputs.
            public var sizes: Set<FrameSize> = []
            public var starts = 0
            public var isClosed = false
        }

        public let content = Mutex(Content())
        /// Ends a hanging call when signaled.
        public let release: EventFD

        public init() throws { release = try EventFD() }

        public func hang() {
            var entries = [PollEntry(release.fileDescriptor)]
            _ = try? poll(&entries, until: MonotonicClock.now() + .seconds(20))
        }
    }

    private let script: Script
    private let timer: VirtualTimer
    private var count = 0
    private var inside: [(frame: CapturedFrame, isKey: Bool, due: MediaTimestamp)] = []
    private var lastDue = MediaTimestamp.zero
    private var isKeyframeWanted = true
    public private(set) var isDrained = false
    public let conversionCount = 0
    public let faultCount = 0

    public init(_ script: Script) {
        self.script = script
        guard let time = CurrentTime.replacement as? VirtualTime, let timer = try? VirtualTimer(in: time) else {
            preconditionFailure("a scripted encoder lives in virtual time")
        }
        self.timer = timer
        script.content.withLock { $0.isClosed = false }
    }

    deinit {
        let (hangs, closing) = script.content.withLock { ($0.hangsInClosing, $0.closing) }
        if hangs { script.hang() }
        MonotonicClock.sleep(until: MonotonicClock.now() + closing)
        script.content.withLock { $0.isClosed = true }
    }

    public func start() throws {
        let fails = script.content.withLock { content in
            content.starts += 1
            return content.failsAtStart
        }
        if fails { throw Broken() }
    }

    public var fileDescriptor: Int32? { timer.fileDescriptor }
    public var hasRoom: Bool { inside.count < script.content.withLock { $0.room } }
    public var pendingFrameCount: Int { inside.count }

    public func submit(_ frame: CapturedFrame) throws {
        count += 1
        let (hangs, failsAt, time) = script.content.withLock { content in
            content.inputs += 1
            if frame.dmabuf == nil { content.ordinaryInputs += 1 }
            content.sizes.insert(frame.layout.size)
            return (content.hangsInFrame, content.failsAt, content.frameTime)
        }
        if hangs { script.hang() }
        if failsAt == count { throw Broken() }
        lastDue = max(lastDue, MonotonicClock.now()) + time
        inside.append((frame, isKeyframeWanted, lastDue))
        isKeyframeWanted = false
        arm()
    }

    private func arm() { timer.arm(at: inside.first?.due) }

    public func collect() throws -> [EncodedPacket] {
        let now = MonotonicClock.now()
        let isSilent = script.content.withLock { $0.isSilent }
        var packets: [EncodedPacket] = []
        while let first = inside.first, first.due <= now {
            inside.removeFirst()
            guard !isSilent else { continue }
            let size = first.frame.withBytes { $0.count }
            packets.append(
                EncodedPacket(
                    kind: .video(isKeyframe: first.isKey), decodeTime: first.frame.captureTime,
                    payload: [UInt8(truncatingIfNeeded: size)]))
        }
        arm()
        return packets
    }

    public func startDraining() { isDrained = inside.isEmpty }

    public func requestKeyframe() {
        isKeyframeWanted = true
        script.content.withLock { $0.keyframes += 1 }
    }

    public func setBitrate(_ bitrate: Bitrate) throws {
        let hangs = script.content.withLock { content in
            content.bitrates.append(bitrate)
            return content.hangsInBitrate
        }
        if hangs { script.hang() }
    }

    public func setFrameRate(_ frameRate: FrameRate, keyframeInterval: Int) throws {}
    public func takeNotes() -> [String] { [] }
}

/// An encoder's packets and their arrival times.
public final class CollectedPackets: Sendable {
    private let content = Mutex<[(packet: EncodedPacket, arrival: MediaTimestamp)]>([])

    public init() {}

    public var take: EncodedOutput {
        { [self] packets in
            let now = MonotonicClock.now()
            content.withLock { $0 += packets.map { ($0, now) } }
        }
    }

    public var count: Int { content.withLock { $0.count } }
    public var times: [MediaTimestamp] { content.withLock { $0.map(\.packet.decodeTime) } }
    public var arrivals: [MediaTimestamp] { content.withLock { $0.map(\.arrival) } }
}

/// Memory of one frame that is counted while it is held.
public final class CountedMemory: FrameMemory {
    private let leases: LeaseCount
    public let dmabuf: Int32?
    private let dropped: @Sendable () -> Void

    /// - Parameters:
    ///   - dmabuf: a number that is never opened.
    ///   - dropped: called when the memory is released.
    public init(_ leases: LeaseCount, dmabuf: Int32? = nil, dropped: @escaping @Sendable () -> Void = {}) {
        self.leases = leases
        self.dmabuf = dmabuf
        self.dropped = dropped
        leases.count.add(1, ordering: .relaxed)
    }

    deinit {
        leases.count.subtract(1, ordering: .relaxed)
        dropped()
    }

    public func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let bytes: [UInt8] = [1, 2, 3]
        return try bytes.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
    }
}

public final class LeaseCount: Sendable {
    let count = Atomic(0)

    public init() {}

    public var value: Int { count.load(ordering: .relaxed) }
}
