import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Synchronization
import Testing

@testable import MediaPipeline
@testable import VideoCapture

/// An unplugged, silent or late camera, as its stream sees it.
@Suite struct ResilientCameraTests {
    private let time = VirtualTime()
    private let stop: EventFD
    private let reported: Mailbox<SourceEvent>

    init() throws {
        stop = try EventFD()
        reported = try Mailbox()
    }

    private func script(_ memory: FakeCamera.Memory = .ordinary) -> FakeCamera.Script {
        FakeCamera.Script(
            layout: FrameLayout(packed: .i420, size: FrameSize(width: 64, height: 48)), memory: memory, stop: stop)
    }

    private func camera(_ script: FakeCamera.Script) throws -> ResilientCamera {
        try ResilientCamera(stop: stop, notify: { [reported] in reported.send($0) }) { try FakeCamera(script) }
    }

    /// Takes frames until the condition is true.
    private func frames(
        of camera: ResilientCamera, within timeout: Duration = .seconds(10), until condition: ([CapturedFrame]) -> Bool
    ) throws -> [CapturedFrame] {
        let end = MonotonicClock.now() + timeout
        var frames: [CapturedFrame] = []
        while !condition(frames) {
            try #require(MonotonicClock.now() < end, "\(frames.count) frames")
            frames.append(try #require(try camera.nextFrame()))
        }
        return frames
    }

    private func names() -> [String] {
        reported.takeAll().map { event in
            switch event {
            case .interrupted(_, let source, let reason): "\(source) interrupted: \(reason)"
            case .returned(_, let source, _): "\(source) returned"
            case .started: "started"
            }
        }
    }

    @Test(arguments: [FakeCamera.Memory.ordinary, .dmabuf])
    func unpluggedCamerasLastFrameRepeatsUntilItReturns(memory: FakeCamera.Memory) throws {
        try time.run {
            let script = script(memory)
            let camera = try camera(script)
            _ = try frames(of: camera) { $0.count == 10 }
            script.content.withLock { $0.isPluggedIn = false }
            let repeated = try frames(of: camera) { $0.count == 10 }
            #expect(names() == ["the fake camera interrupted: it was unplugged"])
            // Like the camera's frames: the same kind of memory, and separate times.
            #expect(camera.memoryKind == (memory == .ordinary ? .pooled : .dmabuf))
            #expect(repeated.allSatisfy { ($0.dmabuf != nil) == (memory == .dmabuf) })
            #expect(repeated.allSatisfy { $0.withBytes { $0.count } == $0.layout.byteCount })
            #expect(zip(repeated, repeated.dropFirst()).allSatisfy { $0.captureTime < $1.captureTime })
            script.content.withLock { $0.isPluggedIn = true }
            let before = script.content.withLock { $0.frames }
            _ = try frames(of: camera) { _ in script.content.withLock { $0.frames } >= before + 5 }
            #expect(names() == ["the fake camera returned"])
            let statistics = camera.statistics
            #expect(statistics.interruptions == 1 && statistics.repeatedFrames >= 10)
            #expect(statistics.capturedFrames == script.content.withLock { $0.frames })
            #expect(statistics.droppedFrames == 0)
        }
    }

    /// An encoder that reads device memory in place would copy all later frames because of one frame in other memory.
    @Test func lastFrameIsNotRepeatedInOtherMemory() throws {
        try time.run {
            let script = script(.passingDMABUF)
            let camera = try camera(script)
            _ = try frames(of: camera) { $0.count == 10 }
            script.content.withLock { $0.isPluggedIn = false }
            let pause = MonotonicClock.now()
            let replug = JoinableThread(
                try NamedThread("replug") {
                    MonotonicClock.sleep(until: pause + .milliseconds(700))
                    script.content.withLock { $0.isPluggedIn = true }
                })
            let next = try frames(of: camera) { $0.count == 10 }
            replug.join()
            #expect(next.allSatisfy { $0.dmabuf != nil })
            #expect(next[0].captureTime - pause >= .milliseconds(700))
            #expect(camera.statistics.repeatedFrames == 0 && script.content.withLock { $0.openings } >= 2)
            #expect(names().last == "the fake camera returned")
        }
    }

    @Test func shortSilenceIsFilledWithoutClosing() throws {
        try time.run {
            let script = script()
            let camera = try camera(script)
            let last = try frames(of: camera) { $0.count == 10 }[9]
            script.content.withLock { $0.isSilent = true }
            let repeated = try frames(of: camera) { $0.count == 10 }
            #expect(repeated[0].captureTime - last.captureTime >= CaptureContinuity.repeatDelay - .milliseconds(50))
            script.content.withLock { $0.isSilent = false }
            let before = camera.statistics.capturedFrames
            _ = try frames(of: camera) { _ in camera.statistics.capturedFrames > before + 3 }
            #expect(names().isEmpty && script.content.withLock { $0.openings } == 1)
            #expect(camera.statistics.interruptions == 0)
        }
    }

    /// When a frame arrives, it is older than the repetition delivered in its place, whose time is that of its delivery.
    @Test func timesIncreaseWhenASilentCameraReturns() throws {
        try time.run {
            let script = script()
            script.content.withLock { $0.age = .milliseconds(80) }
            let camera = try camera(script)
            var all = try frames(of: camera) { $0.count == 10 }
            script.content.withLock { $0.isSilent = true }
            all += try frames(of: camera) { $0.count == 10 }
            script.content.withLock { $0.isSilent = false }
            let before = script.content.withLock { $0.frames }
            all += try frames(of: camera) { _ in script.content.withLock { $0.frames } > before + 5 }
            #expect(zip(all, all.dropFirst()).allSatisfy { $0.captureTime < $1.captureTime })
            let statistics = camera.statistics
            #expect((2...3).contains(statistics.supersededFrames) && statistics.droppedFrames == 0)
            #expect(statistics.capturedFrames + statistics.supersededFrames == script.content.withLock { $0.frames })
            #expect(statistics.capturedFrames + statistics.repeatedFrames == all.count)
        }
    }

    @Test func returningCameraIsAskedForItsFormerRate() throws {
        try time.run {
            let script = script()
            let camera = try camera(script)
            _ = try frames(of: camera) { $0.count == 3 }
            camera.selectFrameRate(FrameRate(framesPerSecond: 12))
            script.content.withLock { $0.isPluggedIn = false }
            _ = try frames(of: camera) { _ in camera.statistics.interruptions == 1 }
            script.content.withLock { $0.isPluggedIn = true }
            _ = try frames(of: camera) { _ in script.content.withLock { $0.selectedRates.count } == 2 }
            #expect(script.content.withLock { $0.selectedRates.map(\.framesPerSecond) } == [12, 12])
        }
    }

    @Test func longSilenceIsAnInterruption() throws {
        try time.run {
            let script = script()
            let camera = try camera(script)
            _ = try frames(of: camera) { $0.count == 10 }
            script.content.withLock { $0.isSilent = true }
            let start = MonotonicClock.now()
            _ = try frames(of: camera) { _ in script.content.withLock { $0.openings } == 2 }
            #expect(MonotonicClock.now() - start >= CaptureContinuity.silenceTimeout)
            #expect(names() == ["the fake camera interrupted: the camera delivers no frames"])
        }
    }

    @Test func staleFramesAreDropped() throws {
        try time.run {
            let script = script()
            let camera = try camera(script)
            _ = try frames(of: camera) { $0.count == 10 }
            script.content.withLock { $0.age = .milliseconds(900) }
            let resume = JoinableThread(
                try NamedThread("resume") {
                    MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(300))
                    script.content.withLock { $0.age = .zero }
                })
            let next = try frames(of: camera) { $0.count == 10 }
            resume.join()
            #expect(next.allSatisfy { MonotonicClock.now() - $0.captureTime < .milliseconds(900) })
            let statistics = camera.statistics
            #expect(statistics.droppedFrames > 0 && statistics.repeatedFrames == 0)
            #expect(statistics.capturedFrames + statistics.droppedFrames == script.content.withLock { $0.frames })
        }
    }

    /// The camera has become slower.
    @Test func permanentlyLateCameraIsAccepted() throws {
        try time.run {
            let script = script()
            let camera = try camera(script)
            _ = try frames(of: camera) { $0.count == 3 }
            script.content.withLock { $0.age = .milliseconds(900) }
            _ = try frames(of: camera) { $0.count == 20 }
            #expect(camera.statistics.droppedFrames == 16)
        }
    }

    @Test(arguments: [true, false]) func stopEndsTheSourceAtOnce(isPluggedIn: Bool) throws {
        try time.run {
            let script = script()
            let camera = try camera(script)
            _ = try frames(of: camera) { $0.count == 3 }
            script.content.withLock { content in
                content.isPluggedIn = isPluggedIn
                content.isSilent = true
            }
            stop.signal()
            let start = MonotonicClock.now()
            var given = 0
            while try camera.nextFrame() != nil { given += 1 }
            #expect(given <= 1 && MonotonicClock.now() - start < .milliseconds(400))
        }
    }

    @Test func cameraThatCannotStartIsAnError() throws {
        try time.run { () throws in
            let script = script()
            script.content.withLock { $0.failsToStart = true }
            let camera = try camera(script)
            #expect(throws: FakeCamera.Gone.self) { try camera.nextFrame() }
            #expect(names() == [])
        }
    }

    /// Once it has worked, it may take its time.
    @Test func cameraThatCannotRestartIsAwaited() throws {
        try time.run {
            let script = script()
            let camera = try camera(script)
            _ = try frames(of: camera) { $0.count == 3 }
            script.content.withLock { $0.failsToStart = true }
            _ = try frames(of: camera) { _ in script.content.withLock { $0.openings } >= 3 }
            script.content.withLock { $0.failsToStart = false }
            let before = script.content.withLock { $0.frames }
            _ = try frames(of: camera) { _ in script.content.withLock { $0.frames } > before + 3 }
            #expect(names().last == "the fake camera returned")
        }
    }

    @Test func cameraMissingAtTheStartIsAnError() throws {
        try time.run { () throws in
            let script = script()
            script.content.withLock { $0.isPluggedIn = false }
            #expect(throws: FakeCamera.Gone.self) { try camera(script) }
        }
    }
}
