import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Testing

@testable import VideoCapture

/// A camera, or a file in its place, whose driver or disk does not answer. Nobody who needs its frames waits for it.
@Suite struct HangingCameraTests {
    private let time = VirtualTime()
    private let stop: EventFD
    private let hang: EventFD
    private let reported: Mailbox<SourceEvent>
    private let script: FakeCamera.Script
    private let path: String

    init() throws {
        stop = try EventFD()
        hang = try EventFD()
        reported = try Mailbox()
        script = FakeCamera.Script(
            layout: FrameLayout(packed: .i420, size: FrameSize(width: 64, height: 48)), stop: stop)
        path = unusedNode()
    }

    private func open() throws -> ResilientCamera {
        let camera = SwitchableCamera(path: path, isFile: true) { [script] in try FakeCamera(script, stop: $0) }
        return try ResilientCamera(camera, stop: stop) { [reported] in reported.send($0) }
    }

    private func setHang(_ hang: EventFD?) { script.content.withLock { $0.hang = hang } }

    private var interruptions: Int {
        reported.takeAll().count { if case .interrupted = $0 { true } else { false } }
    }

    @Test func lastFrameRepeatsWhileAReadHangs() throws {
        try time.run {
            let camera = try open()
            for _ in 0..<10 { try #expect(try camera.nextFrame() != nil) }
            setHang(hang)
            let start = MonotonicClock.now()
            while MonotonicClock.now() - start < .seconds(20) { try #expect(try camera.nextFrame() != nil) }
            #expect(interruptions == 1)
            #expect(script.content.withLock { $0.openings } == 1)
            // The disk answers again.
            setHang(nil)
            hang.signal()
            let captured = camera.statistics.capturedFrames
            while camera.statistics.capturedFrames == captured { try #expect(try camera.nextFrame() != nil) }
            #expect(MonotonicClock.now() - start < .seconds(23))
        }
    }

    @Test func closingDoesNotWaitForAReadThatHangs() throws {
        try time.run {
            var camera: ResilientCamera? = try open()
            _ = try camera?.nextFrame()
            setHang(hang)
            while interruptions == 0 { _ = try camera?.nextFrame() }
            let start = MonotonicClock.now()
            camera = nil
            #expect(MonotonicClock.now() - start == CameraThreadError.closingTimeout)
            hang.signal()
        }
    }

    @Test func openingThatHangsFailsInTime() throws {
        try time.run {
            setHang(hang)
            let start = MonotonicClock.now()
            #expect(throws: CameraThreadError.notOpened) { try open() }
            #expect(MonotonicClock.now() - start == CameraThreadError.openingTimeout)
            hang.signal()
        }
    }

    /// Each attempt would leave another thread behind.
    @Test func noOtherThreadTriesAPathWhereOneHangs() throws {
        try time.run {
            setHang(hang)
            #expect(throws: CameraThreadError.notOpened) { try open() }
            for _ in 0..<3 { #expect(throws: NodeOccupancyError.self) { try open() } }
            #expect(script.content.withLock { $0.openings } == 1)
            setHang(nil)
            hang.signal()
            // Its thread ends.
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(10))
            try #expect(try open().nextFrame() != nil)
        }
    }

    @Test func aStopEndsTheWaitForAnOpeningThatHangs() throws {
        try time.run {
            setHang(hang)
            stop.signal()
            let start = MonotonicClock.now()
            #expect(throws: CameraThreadError.notOpened) { try open() }
            #expect(MonotonicClock.now() - start <= CameraThreadError.closingTimeout)
            hang.signal()
        }
    }

    @Test func everyFrameBeforeTheEndIsDelivered() throws {
        try time.run {
            script.content.withLock { $0.lastFrame = 5 }
            let camera = try open()
            for _ in 0..<5 { try #expect(try camera.nextFrame() != nil) }
            try #expect(try camera.nextFrame() == nil)
            #expect(camera.endingNote == "it ended after 5 frames")
        }
    }

    private struct Broken: CameraFailure {
        let mayBeContention = false
        let isPermanent = true
    }

    @Test func aFileWithBrokenContentIsNotOpenedAgain() throws {
        try time.run {
            script.content.withLock { content in
                content.lastFrame = 5
                content.finalFailure = Broken()
            }
            let camera = try open()
            for _ in 0..<5 { try #expect(try camera.nextFrame() != nil) }
            #expect(throws: Broken.self) { while try camera.nextFrame() != nil {} }
            #expect(interruptions == 0)
        }
    }
}
