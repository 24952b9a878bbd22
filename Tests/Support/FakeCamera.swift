import DevicePorts
import LinuxIO
import Media
import Synchronization

/// A camera that a test unplugs, silences and plugs in again. Its frames are gray and follow the clock.
public final class FakeCamera: Camera {
    public struct Gone: Error, CustomStringConvertible {
        public let description = "it was unplugged"
    }

    public struct Busy: CameraFailure, CustomStringConvertible {
        public let mayBeContention = true
        public let description = "it is in use"
    }

    /// A resource that one camera at a time can use.
    public final class SharedDevice: Sendable {
        private let counts = Mutex((now: 0, most: 0))

        public init() {}

        public var mostAtOnce: Int { counts.withLock { $0.most } }

        fileprivate func take() -> Bool {
            counts.withLock { counts in
                guard counts.now == 0 else { return false }
                counts = (1, max(counts.most, 1))
                return true
            }
        }

        fileprivate func release() { counts.withLock { $0.now -= 1 } }
    }

    public enum Memory: Sendable {
        case ordinary
        /// Device memory whose descriptors outlive the camera.
        case dmabuf
        /// Device memory that disappears with the camera.
        case passingDMABUF
    }

    /// Shared with the test, which runs on another thread.
    public final class Script: Sendable {
        public struct Content: Sendable {
            public var isPluggedIn = true
            /// The camera is present but delivers nothing.
            public var isSilent = false
            /// The camera opens but does not start.
            public var failsToStart = false
            /// Age of a frame when it is delivered.
            public var age = Duration.zero
            public var layout: FrameLayout
            /// A smaller size that can be requested from the next opening on.
            public var smaller: FrameLayout?
            /// The camera accepts another size but ignores it.
            public var ignoresSize = false
            /// Frames that still come in the previous size after another was requested.
            public var framesUnderWay = 3
            public fileprivate(set) var selectedSizes: [FrameSize] = []
            public fileprivate(set) var selectedRates: [FrameRate] = []
            /// Cameras that share it cannot be open at the same time.
            public var device: SharedDevice?
            /// Calls of the camera block until it is signaled, as in a driver that hangs.
            public var hang: EventFD?
            /// The camera ends after this frame, or fails with the error.
            public var lastFrame: Int?
            public var finalFailure: (any CameraFailure)?
            /// How long opening takes.
            public var openingTime = Duration.zero
            public fileprivate(set) var openings = 0
            /// How many are open or opening.
            public fileprivate(set) var openCount = 0
            /// Frames that are held.
            public fileprivate(set) var leases = 0
            /// Called when a frame in device memory is released, on the thread that dropped it.
            public var frameDropped: (@Sendable () -> Void)?
            /// Frames delivered.
            public fileprivate(set) var frames = 0
        }

        public let content: Mutex<Content>
        public let memory: Memory
        public let frameRate: FrameRate
        /// Ends the camera's wait when signaled.
        public let stop: EventFD

        public init(
            layout: FrameLayout, frameRate: FrameRate = FrameRate(framesPerSecond: 30), memory: Memory = .ordinary,
            stop: EventFD
        ) {
            content = Mutex(Content(layout: layout))
            self.memory = memory
            self.frameRate = frameRate
            self.stop = stop
        }

        fileprivate func waitWhileHanging() throws {
            guard let hang = content.withLock({ $0.hang }) else { return }
            var entries = [PollEntry(hang.fileDescriptor)]
            try poll(&entries, until: nil)
        }
    }

    private let script: Script
    private let stop: EventFD
    private var nextTime = MonotonicClock.now()
    private let device: SharedDevice?
    public let name = "the fake camera"
    public let model = "fake camera"
    public let layout: FrameLayout
    private let smaller: FrameLayout?
    /// The next layout, and how many frames come before it.
    private var coming: (layout: FrameLayout, after: Int)
    private var present: FrameLayout
    public var frameRate: FrameRate { script.frameRate }
    public let colors: VideoColors? = nil
    public var memoryKind: FrameMemoryKind { script.memory == .ordinary ? .pooled : .dmabuf }
    public private(set) var statistics = VideoSourceStatistics()
    public private(set) var endingNote: String?

    /// - Parameter stop: used instead of the script's.
    /// - Throws: `Gone` while it is unplugged.
    public init(_ script: Script, stop: EventFD? = nil) throws {
        self.script = script
        self.stop = stop ?? script.stop
        let (layout, smaller, time) = script.content.withLock { content in
            content.openings += 1
            content.openCount += 1
            return (content.isPluggedIn ? content.layout : nil, content.smaller, content.openingTime)
        }
        MonotonicClock.sleep(until: MonotonicClock.now() + time)
        try script.waitWhileHanging()
        let device = script.content.withLock { $0.device }
        let isTaken = device?.take() ?? true
        guard let layout, isTaken else {
            if layout == nil, isTaken { device?.release() }
            script.content.withLock { $0.openCount -= 1 }
            if isTaken { throw Gone() } else { throw Busy() }
        }
        self.device = device
        self.layout = layout
        self.smaller = smaller
        present = layout
        coming = (layout, 0)
    }

    deinit {
        device?.release()
        script.content.withLock { $0.openCount -= 1 }
    }

    public func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame {
        while true {
            try script.waitWhileHanging()
            if try hasEnded() { return .stopped }
            let (isThere, isSilent, age) = script.content.withLock { ($0.isPluggedIn, $0.isSilent, $0.age) }
            guard isThere, !script.content.withLock({ $0.failsToStart }) else { throw Gone() }
            let now = MonotonicClock.now()
            if now >= nextTime {
                nextTime = max(nextTime + script.frameRate.frameDuration, now)
                if !isSilent { return .captured(frame(at: now - age)) }
            }
            guard now < deadline else { return .none }
            var entries = [PollEntry(stop.fileDescriptor)]
            // Detect changes by the test soon.
            let soon = min(nextTime, deadline, now + .milliseconds(10))
            if try poll(&entries, until: soon) > 0 { return .stopped }
        }
    }

    private func hasEnded() throws -> Bool {
        let (last, failure) = script.content.withLock { ($0.lastFrame, $0.finalFailure) }
        guard let last, statistics.capturedFrames >= last else { return false }
        if let failure { throw failure }
        endingNote = "it ended after \(last) frames"
        return true
    }

    private func frame(at time: MediaTimestamp) -> CapturedFrame {
        let number = script.content.withLock { content in
            content.frames += 1
            return content.frames
        }
        statistics.capturedFrames += 1
        if coming.after == 0 { present = coming.layout }
        coming.after = max(0, coming.after - 1)
        let layout = present
        let bytes = [UInt8](repeating: 128, count: layout.byteCount)
        let memory: any FrameMemory =
            switch script.memory {
            case .ordinary: PooledFrame(bytes)
            case .dmabuf: FakeDMABUF(bytes, number: number, outlivesCamera: true, script)
            case .passingDMABUF: FakeDMABUF(bytes, number: number, outlivesCamera: false, script)
            }
        return CapturedFrame(layout: layout, captureTime: time, memory: memory)
    }
}

extension FakeCamera: FrameRateSelection {
    public func selectFrameRate(_ rate: FrameRate) { script.content.withLock { $0.selectedRates.append(rate) } }
}

extension FakeCamera: FrameSizeSelection {
    public var layouts: SourceLayouts { SourceLayouts(layout, smaller: smaller.map { [$0] } ?? []) }

    public func selectSize(_ size: FrameSize) {
        let (ignores, underWay) = script.content.withLock { content in
            content.selectedSizes.append(size)
            return (content.ignoresSize, content.framesUnderWay)
        }
        guard !ignores, let layout = layouts.all.first(where: { $0.size == size }) else { return }
        // A camera that has delivered nothing has no frames on the way.
        coming = (layout, statistics.capturedFrames == 0 ? 0 : underWay)
    }
}

/// Memory with a descriptor number that is never opened.
private final class FakeDMABUF: FrameMemory {
    private let bytes: [UInt8]
    private let number: Int32
    private let outlivesCamera: Bool
    private let script: FakeCamera.Script

    init(_ bytes: [UInt8], number: Int, outlivesCamera: Bool, _ script: FakeCamera.Script) {
        self.bytes = bytes
        self.number = Int32(1000 + number % 6)
        self.outlivesCamera = outlivesCamera
        self.script = script
        script.content.withLock { $0.leases += 1 }
    }

    deinit {
        let dropped = script.content.withLock { content in
            content.leases -= 1
            return content.frameDropped
        }
        dropped?()
    }

    var dmabuf: Int32? { number }

    func detached() -> (any FrameMemory)? { outlivesCamera ? self : nil }

    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try bytes.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
    }
}
