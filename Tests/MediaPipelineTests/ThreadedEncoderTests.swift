import DevicePorts
import Glibc
import LinuxIO
import Media
import MediaTestSupport
import Synchronization
import Testing

@testable import Encoding
@testable import MediaPipeline

@Suite(.serialized) struct ThreadedEncoderTests {
    private let time = VirtualTime()
    private let node = unusedNode()
    private let layout = FrameLayout(packed: .i420, size: FrameSize(width: 64, height: 48))
    private let leases = LeaseCount()
    private let output = CollectedPackets()

    private func frame(_ number: Int) -> CapturedFrame {
        CapturedFrame(
            layout: layout, captureTime: MediaTimestamp(milliseconds: Int64(number)), memory: CountedMemory(leases))
    }

    private func thread(_ script: ScriptedEncoder.Script, at path: String? = nil) throws -> ThreadedEncoder {
        let thread = try ThreadedEncoder(path: path ?? node, output: output.take) { ScriptedEncoder(script) }
        try thread.waitUntilOpen()
        return thread
    }

    @Test func everyFrameComesOutInOrderAndSettingsReachTheEncoder() throws {
        try time.run {
            let script = try ScriptedEncoder.Script()
            let thread = try thread(script)
            thread.setBitrate(Bitrate(kilobitsPerSecond: 264))
            thread.requestKeyframe()
            for number in 0..<100 {
                thread.submit(frame(number))
                try waitUntil { output.count == number + 1 }
            }
            thread.finish()
            #expect(output.times == (0..<100).map { MediaTimestamp(milliseconds: $0) })
            #expect(script.content.withLock { $0.bitrates } == [Bitrate(kilobitsPerSecond: 264)])
            #expect(script.content.withLock { $0.keyframes } == 1)
            #expect(thread.encodedFrameCount == 100 && thread.pendingFrameCount == 0)
            thread.close()
            try waitUntil { thread.hasEnded && leases.value == 0 }
            #expect(script.content.withLock { $0.isClosed })
        }
    }

    /// Like the Pi's encoder with leased frames: it must release what it has read although no new frame can arrive.
    @Test func encoderSlowerThanTheCameraReleasesLeasesByItself() throws {
        try time.run {
            let script = try ScriptedEncoder.Script()
            script.content.withLock { content in
                content.frameTime = .milliseconds(45)
                content.room = 4
            }
            let thread = try thread(script)
            // Six buffers at 30 frames per second; a frame can only be captured into a free buffer.
            let start = MonotonicClock.now()
            var number = 0
            var captured = 0
            while number < 60 {
                if leases.value < 6 {
                    thread.submit(
                        CapturedFrame(layout: layout, captureTime: MonotonicClock.now(), memory: CountedMemory(leases)))
                    captured += 1
                }
                number += 1
                MonotonicClock.sleep(until: start + Duration.microseconds(33_333) * number)
            }
            let gaps = zip(output.arrivals, output.arrivals.dropFirst()).map { $1 - $0 }
            // 2 s at 22 per second.
            #expect((42...45).contains(output.count) && captured == 60, "\(output.count) of \(captured)")
            #expect((gaps.max() ?? .zero) == .milliseconds(45))
            thread.close()
            try waitUntil { thread.hasEnded && leases.value == 0 }
        }
    }

    @Test func outputIsDeliveredWithoutAnotherFrame() throws {
        try time.run {
            let script = try ScriptedEncoder.Script()
            script.content.withLock { $0.frameTime = .milliseconds(20) }
            let thread = try thread(script)
            thread.submit(frame(0))
            try waitUntil { output.count == 1 }
            #expect(thread.pendingFrameCount == 0 && leases.value == 0)
            thread.close()
        }
    }

    @Test func newestFrameWaitsForRoom() throws {
        try time.run {
            let script = try ScriptedEncoder.Script()
            script.content.withLock { content in
                content.frameTime = .milliseconds(200)
                content.room = 1
            }
            let thread = try thread(script)
            thread.submit(frame(0))
            try waitUntil { thread.pendingFrameCount == 1 && script.content.withLock { $0.inputs } == 1 }
            for number in 1..<5 { thread.submit(frame(number)) }
            #expect(thread.pendingFrameCount == 2 && leases.value <= 2)
            thread.finish()
            #expect(output.times == [0, 4].map { MediaTimestamp(milliseconds: $0) })
            thread.close()
        }
    }

    @Test func hangingSettingDelaysNobodyAndLeaksNothing() throws {
        try time.run {
            let script = try ScriptedEncoder.Script()
            let thread = try thread(script)
            thread.submit(frame(0))
            try waitUntil { output.count == 1 }
            script.content.withLock { $0.hangsInBitrate = true }
            let start = MonotonicClock.now()
            thread.setBitrate(Bitrate(kilobitsPerSecond: 150))
            for number in 1..<20 { thread.submit(frame(number)) }
            #expect(MonotonicClock.now() - start < .milliseconds(200))
            #expect(leases.value <= 1)
            try waitUntil { thread.blockedSince(now: MonotonicClock.now()) != nil }
            thread.close()
            #expect(!thread.hasEnded && leases.value == 0 && thread.pendingFrameCount == 0)
            script.release.signal()
            try waitUntil { thread.hasEnded && script.content.withLock { $0.isClosed } }
        }
    }

    @Test func hangingFrameIsTakenBackFromTheEncoder() throws {
        try time.run {
            let script = try ScriptedEncoder.Script()
            let thread = try thread(script)
            script.content.withLock { $0.hangsInFrame = true }
            thread.submit(frame(0))
            try waitUntil { thread.blockedSince(now: MonotonicClock.now()) != nil }
            #expect(leases.value == 1)
            thread.close()
            #expect(leases.value == 0 && thread.pendingFrameCount == 0)
            script.release.signal()
            try waitUntil { thread.hasEnded }
            #expect(output.count == 0)
        }
    }

    @Test func errorEndsTheThread() throws {
        try time.run {
            let script = try ScriptedEncoder.Script()
            let thread = try thread(script)
            script.content.withLock { $0.failsAt = 2 }
            thread.submit(frame(0))
            try waitUntil { output.count == 1 }
            thread.submit(frame(1))
            try waitUntil { if case .failed(is ScriptedEncoder.Broken) = thread.progress { true } else { false } }
            thread.submit(frame(2))
            thread.close()
            try waitUntil { thread.hasEnded }
            #expect(leases.value == 0 && output.count == 1)
        }
    }

    @Test func encoderThatCannotOpenOrStartReportsWhy() throws {
        try time.run {
            let thread = try ThreadedEncoder(path: node, output: output.take) {
                throw ScriptedEncoder.Broken()
            }
            #expect(throws: ScriptedEncoder.Broken.self) { try thread.waitUntilOpen() }
            let script = try ScriptedEncoder.Script()
            script.content.withLock { content in
                content.failsAtStart = true
                content.closing = .milliseconds(800)
            }
            let start = MonotonicClock.now()
            let other = try ThreadedEncoder(path: node, output: output.take) { ScriptedEncoder(script) }
            #expect(throws: ScriptedEncoder.Broken.self) { try other.waitUntilOpen() }
            #expect(MonotonicClock.now() - start < .milliseconds(700), "closing it is not waited for")
            try waitUntil { other.hasEnded }
        }
    }

    @Test func hangingOpeningBlocksFurtherOnesAtItsNode() throws {
        try time.run {
            let (path, other) = ("/dev/video61", "/dev/video62")
            let script = try ScriptedEncoder.Script()
            let openings = Atomic(0)
            @Sendable func open() -> any PolledVideoEncoder {
                if openings.add(1, ordering: .relaxed).newValue == 1 { script.hang() }
                return ScriptedEncoder(script)
            }
            func attempt(timeout: Duration = ThreadedEncoder.openTimeout) throws -> ThreadedEncoder {
                let thread = try ThreadedEncoder(path: path, output: output.take, open: open)
                try thread.waitUntilOpen(timeout: timeout)
                return thread
            }
            expectBlocked(at: path) { try attempt(timeout: .milliseconds(100)) }
            // A hang of five seconds is not awaited: later attempts fail at once, and none opens in parallel.
            expectBlocked(at: path) { try attempt() }
            let start = MonotonicClock.now()
            for _ in 0..<50 { expectBlocked(at: path) { try attempt() } }
            #expect(MonotonicClock.now() - start < .seconds(1))
            #expect(openings.load(ordering: .relaxed) == 1)
            // Another node may have another driver.
            let elsewhere = try ScriptedEncoder.Script()
            try self.thread(elsewhere, at: other).close()
            try waitUntil { elsewhere.content.withLock { $0.isClosed } }
            #expect(!script.content.withLock { $0.isClosed })

            // It finally opens, but is no longer needed.
            script.release.signal()
            try waitUntil { script.content.withLock { $0.isClosed } }
            script.release.drain()
            let thread = try waitUntilFree { try attempt() }
            #expect(openings.load(ordering: .relaxed) == 2)
            thread.submit(frame(0))
            try waitUntil { output.count == 1 }
            thread.close()
            try waitUntil { thread.hasEnded && leases.value == 0 }
        }
    }

    @Test func encoderThatCannotBeClosedBlocksItsNode() throws {
        try time.run {
            let path = "/dev/video63"
            let script = try ScriptedEncoder.Script()
            script.content.withLock { $0.hangsInClosing = true }
            let thread = try thread(script, at: path)
            thread.close()
            for _ in 0..<3 {
                expectBlocked(at: path) {
                    let next = try ThreadedEncoder(path: path, output: output.take) {
                        Issue.record("a second one is opened")
                        return ScriptedEncoder(script)
                    }
                    try next.waitUntilOpen()
                    return next
                }
            }
            #expect(!thread.hasEnded)
            script.content.withLock { $0.hangsInClosing = false }
            script.release.signal()
            try waitUntil { thread.hasEnded }
            try self.thread(script, at: path).close()
        }
    }

    /// Like the Pi's driver, which waits for a stalled firmware.
    @Test func nextEncoderWaitsForASlowlyClosingOne() throws {
        try time.run {
            let path = "/dev/video60"
            let script = try ScriptedEncoder.Script()
            script.content.withLock { $0.closing = .milliseconds(2500) }
            let thread = try thread(script, at: path)
            thread.submit(frame(0))
            try waitUntil { output.count == 1 }
            let start = MonotonicClock.now()
            thread.close()
            #expect(!thread.hasEnded && leases.value == 0 && MonotonicClock.now() - start < .milliseconds(200))
            let next = try ThreadedEncoder(path: path, output: output.take) {
                #expect(script.content.withLock { $0.isClosed }, "one is opened beside the other")
                script.content.withLock { $0.closing = .zero }
                return ScriptedEncoder(script)
            }
            try next.waitUntilOpen()
            next.submit(frame(1))
            try waitUntil { output.count == 2 }
            next.close()
            try waitUntil { next.hasEnded }
        }
    }

    private func expectBlocked(at path: String, _ open: () throws -> ThreadedEncoder) {
        do {
            _ = try open()
            Issue.record("it has opened")
        } catch {
            guard case .blocked(path, _)? = error as? NodeOccupancyError else {
                Issue.record("\(error)")
                return
            }
        }
    }

    /// Before each look, all other threads have come to rest: nothing here wakes at a multiple of 19 ms.
    private func waitUntil(_ condition: () -> Bool) throws {
        for _ in 0..<500 {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(19))
            if condition() { return }
        }
        try #require(condition())
    }

    /// The previous thread takes a moment to end.
    private func waitUntilFree(_ open: () throws -> ThreadedEncoder) throws -> ThreadedEncoder {
        for _ in 0..<500 {
            if let thread = try? open() { return thread }
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
        }
        return try open()
    }
}
