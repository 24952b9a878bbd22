import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import Synchronization
import Testing

@testable import Encoding
@testable import MediaPipeline
@testable import VideoCapture

/// A thread must not hold a lock while it drops a frame's last reference, because anyone who waits for that lock would wait for
/// the frame's source.
@Suite(.serialized) struct FrameDropTests {
    private let time = VirtualTime()
    private let layout = FrameLayout(packed: .i420, size: FrameSize(width: 64, height: 48))
    private let drops = Drops()

    /// Counts dropped frames, and those dropped under the lock.
    private final class Drops: Sendable {
        private let counts = Mutex((all: 0, locked: 0))

        var all: Int { counts.withLock { $0.all } }
        var locked: Int { counts.withLock { $0.locked } }

        /// - Parameter tryLock: whether the lock is free; no third thread runs at that time.
        func happened(_ tryLock: @escaping @Sendable () -> Bool) {
            // A thread that requests a lock it already holds would end the program.
            do {
                JoinableThread(
                    try NamedThread("try-lock") { [self] in
                        let isFree = tryLock()
                        counts.withLock { $0 = ($0.all + 1, $0.locked + (isFree ? 0 : 1)) }
                    }
                ).join()
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    /// Time passes only when every thread waits.
    private func letOthersWork() { MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(10)) }

    @Test func encodersThreadDropsFramesOutsideItsLock() throws {
        try time.run {
            let script = try ScriptedEncoder.Script()
            script.content.withLock { $0.room = 0 }
            let encoder = try ThreadedEncoder(path: unusedNode(), output: { _ in }) { ScriptedEncoder(script) }
            try encoder.waitUntilOpen()
            let leases = LeaseCount()
            for number in 0..<3 {
                let memory = CountedMemory(leases) { [drops] in
                    drops.happened { encoder.state.withLockIfAvailable { _ in true } ?? false }
                }
                encoder.submit(
                    CapturedFrame(
                        layout: layout, captureTime: MediaTimestamp(milliseconds: Int64(number)), memory: memory))
                letOthersWork()
            }
            #expect(drops.all == 2)
            encoder.close()
            letOthersWork()
            #expect(drops.all == 3 && drops.locked == 0)
        }
    }

    @Test func camerasThreadDropsFramesOutsideItsLock() throws {
        try time.run {
            let script = FakeCamera.Script(layout: layout, memory: .dmabuf, stop: try EventFD())
            let thread = try CameraThread(
                SwitchableCamera { stop in try FakeCamera(script, stop: stop) }, patience: .zero)
            script.content.withLock { content in
                content.frameDropped = { [drops] in
                    drops.happened { thread.state.withLockIfAvailable { _ in true } ?? false }
                }
            }
            thread.turnOn()
            // At 30 per second; three are kept.
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(330))
            #expect(drops.all >= 5)
            thread.close()
            letOthersWork()
            #expect(script.content.withLock { $0.leases } == 0 && drops.locked == 0)
        }
    }
}
