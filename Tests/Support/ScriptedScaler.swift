import DevicePorts
import LinuxIO
import Media
import Synchronization

/// A scaling device that delivers black frames at once until it should hang, fail, or lack memory.
public final class ScriptedScaler: FrameScaler {
    /// Shared with the test, which runs on another thread.
    public final class Script: Sendable {
        public struct Content: Sendable {
            public var failsToOpen = false
            public var hangsInOpening = false
            /// Number of the frame that fails, starting at 1.
            public var failsAt: Int?
            public var hangsAt: Int?
            /// How many frames it delivers before one must be released.
            public var room = 6
            public fileprivate(set) var openings = 0
            /// Number of input frames.
            public fileprivate(set) var frames = 0
            public fileprivate(set) var isClosed = false
        }

        public let content = Mutex(Content())
        /// Delivered frames that are still held.
        public let leases = LeaseCount()
        /// Ends a hanging call when signaled.
        public let release: EventFD

        public init() throws { release = try EventFD() }

        fileprivate func hang() {
            var entries = [PollEntry(release.fileDescriptor)]
            _ = try? poll(&entries, until: MonotonicClock.now() + .seconds(20))
        }
    }

    public struct Broken: Error, CustomStringConvertible {
        public let description = "the scripted scaler broke"
    }

    public let source: FrameLayout
    public let target: FrameLayout
    public let memoryKind = FrameMemoryKind.dmabuf
    public let passCount = 0
    private let script: Script

    public init(_ script: Script, from source: FrameLayout, to size: FrameSize) throws {
        self.script = script
        self.source = source
        target = FrameLayout(packed: source.format, size: size)
        let (fails, hangs) = script.content.withLock { content in
            content.openings += 1
            content.isClosed = false
            return (content.failsToOpen, content.hangsInOpening)
        }
        if hangs { script.hang() }
        if fails { throw Broken() }
    }

    deinit { script.content.withLock { $0.isClosed = true } }

    public func scale(_ frame: CapturedFrame) throws -> CapturedFrame? {
        let (hangs, fails, room) = script.content.withLock { content in
            content.frames += 1
            return (content.hangsAt == content.frames, content.failsAt == content.frames, content.room)
        }
        if hangs { script.hang() }
        if fails { throw Broken() }
        guard script.leases.value < room else { return nil }
        return CapturedFrame(
            layout: target, captureTime: frame.captureTime, memory: CountedMemory(script.leases, dmabuf: 2000))
    }
}
