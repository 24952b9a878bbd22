import DevicePorts
import Glibc
import LinuxIO
import Media
import Synchronization
import Testing

@testable import V4L2Devices

/// An encoder that answers at once, until it is told to hang or to fail.
private final class ScriptedEncoder: VideoEncoder {
    struct Broken: Error {}

    /// Shared with the test, which runs on another thread.
    final class Script: Sendable {
        struct Content {
            var hangsInBitrate = false
            var hangsInPicture = false
            var hangsInClosing = false
            /// How long closing takes.
            var closing = Duration.zero
            var failsAt: Int?
            var bitrates: [Bitrate] = []
            var keyFrames = 0
            var isClosed = false
        }

        let content = Mutex(Content())
        /// What a hanging call waits for.
        let release: EventFD

        init() throws { release = try EventFD() }

        func hang() {
            var entries = [PollEntry(release.fileDescriptor)]
            _ = try? poll(&entries, until: MonotonicClock.now() + .seconds(20))
        }
    }

    private let script: Script
    private var count = 0

    init(_ script: Script) { self.script = script }

    deinit {
        let (hangs, closing) = script.content.withLock { ($0.hangsInClosing, $0.closing) }
        if hangs { script.hang() }
        MonotonicClock.sleep(until: MonotonicClock.now() + closing)
        script.content.withLock { $0.isClosed = true }
    }

    func encode(_ frame: consuming CapturedFrame) throws -> [EncodedPacket] {
        count += 1
        let time = frame.captureTime
        let (hangs, failsAt) = script.content.withLock { ($0.hangsInPicture, $0.failsAt) }
        if hangs { script.hang() }
        if failsAt == count { throw Broken() }
        let size = frame.withBytes { $0.count }
        return [
            EncodedPacket(kind: .video(isKeyFrame: false), decodeTime: time, payload: [UInt8(truncatingIfNeeded: size)])
        ]
    }

    func requestKeyFrame() { script.content.withLock { $0.keyFrames += 1 } }

    func setBitrate(_ bitrate: Bitrate) throws {
        let hangs = script.content.withLock { content in
            content.bitrates.append(bitrate)
            return content.hangsInBitrate
        }
        if hangs { script.hang() }
    }

    func setFrameRate(_ frameRate: FrameRate, keyFrameInterval: Int) throws {}

    var skippedFrameCount: Int { 0 }
    var conversionCount: Int { 0 }
}

/// Counts how many pictures are lent.
private final class CountedMemory: FrameMemory {
    private let lent: LentCount

    init(_ lent: LentCount) {
        self.lent = lent
        lent.count.add(1, ordering: .relaxed)
    }

    deinit { lent.count.subtract(1, ordering: .relaxed) }

    var dmabuf: Int32? { nil }

    func withBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let bytes: [UInt8] = [1, 2, 3]
        return try bytes.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
    }
}

private final class LentCount: Sendable {
    let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
}

@Suite(.serialized) struct EncoderThreadTests {
    private let layout = FrameLayout(packed: .i420, size: PictureSize(width: 64, height: 48))
    private let lent = LentCount()

    private func frame(_ number: Int) -> CapturedFrame {
        CapturedFrame(
            layout: layout, captureTime: MediaTimestamp(milliseconds: Int64(number)), memory: CountedMemory(lent))
    }

    private func thread(_ script: ScriptedEncoder.Script) throws -> EncoderThread {
        try EncoderThread(path: "/dev/video11") { ScriptedEncoder(script) }
    }

    @Test func everyPictureComesOutInOrderAndSettingsReachTheEncoder() throws {
        let script = try ScriptedEncoder.Script()
        let thread = try thread(script)
        thread.setBitrate(Bitrate(kilobitsPerSecond: 264))
        thread.requestKeyFrame()
        var times: [MediaTimestamp] = []
        for number in 0..<100 { times += try thread.encode(frame(number)).map(\.decodeTime) }
        times += thread.finish().map(\.decodeTime)
        #expect(times == (0..<100).map { MediaTimestamp(milliseconds: $0) })
        #expect(script.content.withLock { $0.bitrates } == [Bitrate(kilobitsPerSecond: 264)])
        #expect(script.content.withLock { $0.keyFrames } == 1)
        thread.close()
        #expect(thread.hasEnded && thread.skippedFrameCount == 0 && lent.value == 0)
        #expect(script.content.withLock { $0.isClosed })
    }

    @Test func aSettingThatHangsHoldsUpNobodyAndLosesNoMemory() throws {
        let script = try ScriptedEncoder.Script()
        let thread = try thread(script)
        _ = try thread.encode(frame(0))
        script.content.withLock { $0.hangsInBitrate = true }
        let begin = MonotonicClock.now()
        thread.setBitrate(Bitrate(kilobitsPerSecond: 150))
        #expect(MonotonicClock.now() - begin < .milliseconds(200))
        // The first picture waits a while, the others are left out at once.
        for number in 1..<20 { _ = try thread.encode(frame(number)) }
        #expect(MonotonicClock.now() - begin < .seconds(2))
        #expect(lent.value <= 1)
        #expect(thread.blockedSince(now: MonotonicClock.now()) != nil)
        thread.close()
        #expect(!thread.hasEnded && lent.value == 0)
        #expect(thread.skippedFrameCount == 19)
        script.release.signal()
        for _ in 0..<200 where !thread.hasEnded {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
        }
        #expect(thread.hasEnded && script.content.withLock { $0.isClosed })
    }

    @Test func aPictureThatHangsIsTakenBackFromTheEncoder() throws {
        let script = try ScriptedEncoder.Script()
        let thread = try thread(script)
        script.content.withLock { $0.hangsInPicture = true }
        #expect(try thread.encode(frame(0)).isEmpty)
        #expect(lent.value == 1)
        thread.close()
        #expect(lent.value == 0 && thread.skippedFrameCount == 1)
        script.release.signal()
        for _ in 0..<200 where !thread.hasEnded {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
        }
        #expect(thread.hasEnded)
    }

    @Test func anErrorComesWithTheNextPicture() throws {
        let script = try ScriptedEncoder.Script()
        let thread = try thread(script)
        script.content.withLock { $0.failsAt = 2 }
        #expect(try thread.encode(frame(0)).count == 1)
        #expect(try thread.encode(frame(1)).isEmpty)
        #expect(throws: ScriptedEncoder.Broken.self) { try thread.encode(frame(2)) }
        thread.close()
        #expect(thread.hasEnded && thread.skippedFrameCount == 1 && lent.value == 0)
    }

    @Test func anEncoderThatCannotBeOpenedSaysWhy() throws {
        #expect(throws: ScriptedEncoder.Broken.self) {
            try EncoderThread(path: "/dev/video11") { throw ScriptedEncoder.Broken() }
        }
    }

    @Test func anOpeningThatHangsIsTheOnlyOneAtItsNode() throws {
        let (path, other) = ("/dev/video61", "/dev/video62")
        let script = try ScriptedEncoder.Script()
        let openings = Atomic(0)
        @Sendable func open() -> any VideoEncoder {
            if openings.add(1, ordering: .relaxed).newValue == 1 { script.hang() }
            return ScriptedEncoder(script)
        }
        expectBlocked(at: path) { try EncoderThread(path: path, limit: .milliseconds(100), open: open) }
        // What has hung for five seconds is not waited for: those that follow fail at once, and no thread begins for them.
        expectBlocked(at: path) { try EncoderThread(path: path, open: open) }
        let begin = MonotonicClock.now()
        for _ in 0..<50 { expectBlocked(at: path) { try EncoderThread(path: path, open: open) } }
        #expect(MonotonicClock.now() - begin < .seconds(1))
        #expect(openings.load(ordering: .relaxed) == 1)
        // Another node's driver may be another one.
        let elsewhere = try ScriptedEncoder.Script()
        try EncoderThread(path: other) { ScriptedEncoder(elsewhere) }.close()
        #expect(elsewhere.content.withLock { $0.isClosed } && !script.content.withLock { $0.isClosed })

        // It opens at last, for nobody.
        script.release.signal()
        try waitUntil { script.content.withLock { $0.isClosed } }
        script.release.drain()
        let thread = try waitUntilFree { try EncoderThread(path: path, open: open) }
        #expect(openings.load(ordering: .relaxed) == 2)
        #expect(try thread.encode(frame(0)).count == 1)
        thread.close()
        #expect(thread.hasEnded && lent.value == 0)
    }

    @Test func anEncoderThatDoesNotLetItselfBeClosedIsTheOnlyOneAtItsNode() throws {
        let path = "/dev/video63"
        let script = try ScriptedEncoder.Script()
        script.content.withLock { $0.hangsInClosing = true }
        let thread = try EncoderThread(path: path) { ScriptedEncoder(script) }
        #expect(try thread.encode(frame(0)).count == 1)
        thread.close()
        #expect(!thread.hasEnded)
        for _ in 0..<50 {
            expectBlocked(at: path) {
                try EncoderThread(path: path) {
                    Issue.record("a second one is opened")
                    return ScriptedEncoder(script)
                }
            }
        }
        script.content.withLock { $0.hangsInClosing = false }
        script.release.signal()
        try waitUntil { thread.hasEnded }
        try EncoderThread(path: path) { ScriptedEncoder(script) }.close()
    }

    /// As the Pi's, which waits for its firmware when it is stalled: longer than whoever closes it does.
    @Test func anEncoderThatIsClosedSlowlyIsWaitedForByTheNextOne() throws {
        let path = "/dev/video60"
        let script = try ScriptedEncoder.Script()
        script.content.withLock { $0.closing = .milliseconds(2500) }
        let thread = try EncoderThread(path: path) { ScriptedEncoder(script) }
        #expect(try thread.encode(frame(0)).count == 1)
        let begin = MonotonicClock.now()
        thread.close()
        #expect(!thread.hasEnded && lent.value == 0 && MonotonicClock.now() - begin < .seconds(2))
        let next = try EncoderThread(path: path) {
            #expect(script.content.withLock { $0.isClosed }, "one is opened beside the other")
            script.content.withLock { $0.closing = .zero }
            return ScriptedEncoder(script)
        }
        #expect(try next.encode(frame(1)).count == 1)
        next.close()
        #expect(next.hasEnded)
    }

    /// The call that failed had kept pictures waiting; the closing that follows is another call.
    @Test func anEncoderThatFailsLateHasTheUsualTimeToClose() throws {
        let script = try ScriptedEncoder.Script()
        script.content.withLock { content in
            content.hangsInPicture = true
            content.failsAt = 1
            content.closing = .milliseconds(700)
        }
        let thread = try thread(script)
        #expect(try thread.encode(frame(0)).isEmpty)
        MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(300))
        #expect(thread.blockedSince(now: MonotonicClock.now()) != nil)
        script.release.signal()
        #expect(throws: ScriptedEncoder.Broken.self) {
            for number in 1..<100 {
                _ = try thread.encode(frame(number))
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(10))
            }
        }
        thread.close()
        #expect(thread.hasEnded && lent.value == 0)
    }

    private func expectBlocked(at path: String, _ open: () throws -> EncoderThread) {
        do {
            _ = try open()
            Issue.record("it has opened")
        } catch {
            guard case .blocked(path, _)? = error as? HardwareEncodingError else {
                Issue.record("\(error)")
                return
            }
        }
    }

    private func waitUntil(_ condition: () -> Bool) throws {
        for _ in 0..<500 where !condition() {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
        }
        try #require(condition())
    }

    /// The thread of the one before takes a moment to end.
    private func waitUntilFree(_ open: () throws -> EncoderThread) throws -> EncoderThread {
        for _ in 0..<500 {
            if let thread = try? open() { return thread }
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
        }
        return try open()
    }
}
