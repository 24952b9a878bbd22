import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import Synchronization
import Testing

@testable import MediaPipeline
@testable import VideoCapture

/// Several cameras as one source: whose frames are delivered, and what happens if a camera fails.
@Suite struct CameraSwitcherTests {
    private let time = VirtualTime()
    private let stop: EventFD
    private let requests = EncoderRequests()
    private let reported: Mailbox<SourceEvent>
    private let failures: Mailbox<String>
    private let front: FakeCamera.Script
    private let back: FakeCamera.Script
    private let side: FakeCamera.Script
    /// Blocks the front camera's driver.
    private let hang = Hang()

    init() throws {
        stop = try EventFD()
        reported = try Mailbox()
        failures = try Mailbox()
        func script(_ width: Int, _ framesPerSecond: Int) throws -> FakeCamera.Script {
            FakeCamera.Script(
                layout: FrameLayout(packed: .i420, size: FrameSize(width: width, height: 48)),
                frameRate: FrameRate(framesPerSecond: framesPerSecond), memory: .dmabuf, stop: try EventFD())
        }
        front = try script(64, 30)
        back = try script(80, 15)
        side = try script(96, 30)
    }

    private func switcher() throws -> CameraSwitcher {
        let (front, hang) = (front, hang)
        let first = SwitchableCamera(name: "front") { stop in
            HangingCamera(try FakeCamera(front, stop: stop), hang)
        }
        let others = [("back", back), ("side", side)].map { name, script in
            SwitchableCamera(name: name) { stop in try FakeCamera(script, stop: stop) }
        }
        let cameras = [first] + others
        let switcher = try CameraSwitcher(cameras, takeWish: requests.takeCamera, stop: stop) { [reported] in
            reported.send($0)
        } failed: { [failures] in
            failures.send("\($0): \($1)")
        }
        return try #require(switcher)
    }

    /// Takes frames like the video thread, with an encoder that is ready at once, until the condition is true.
    @discardableResult
    private func frames(
        of switcher: CameraSwitcher, within timeout: Duration = .seconds(30), until condition: ([CapturedFrame]) -> Bool
    ) throws -> [CapturedFrame] {
        let end = MonotonicClock.now() + timeout
        var frames: [CapturedFrame] = []
        while !condition(frames) {
            try #require(MonotonicClock.now() < end, "\(frames.count) frames")
            frames.append(try #require(try switcher.nextFrame()))
            if let next = switcher.next { switcher.handOver(at: next.layouts.full.size) }
        }
        return frames
    }

    private func longestGap(_ frames: [CapturedFrame]) -> Duration {
        zip(frames, frames.dropFirst()).map { $1.captureTime - $0.captureTime }.max() ?? .zero
    }

    private func widths(_ frames: [CapturedFrame]) -> [Int] {
        frames.map(\.layout.size.width).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    private func isOpen(_ script: FakeCamera.Script) -> Bool { script.content.withLock { $0.openCount } > 0 }

    private func openCount(_ script: FakeCamera.Script) -> Int { script.content.withLock { $0.openCount } }

    // MARK: Both cameras can be open

    @Test func nextCameraFollowsWithoutAGap() throws {
        try time.run {
            let switcher = try switcher()
            var all = try frames(of: switcher) { $0.count == 10 }
            requests.selectCamera("back")
            all += try frames(of: switcher) { $0.last?.layout.size.width == 80 }
            all += try frames(of: switcher) { $0.count == 10 }
            #expect(widths(all) == [64, 80] && switcher.frames.camera == "back")
            #expect(zip(all, all.dropFirst()).allSatisfy { $0.captureTime < $1.captureTime })
            #expect(longestGap(all) <= .milliseconds(70))
            #expect(switcher.statistics.repeatedFrames == 0)
            try frames(of: switcher) { _ in !isOpen(front) }
            #expect(failures.takeAll() == [] && reported.takeAll() == [])
        }
    }

    /// While the encoder opens for the next camera, the present camera's frames continue.
    @Test func presentCameraContinuesUntilTheEncoderIsReady() throws {
        try time.run {
            let switcher = try switcher()
            var all = try frames(of: switcher) { $0.count == 5 }
            requests.selectCamera("back")
            while all.count < 60 {
                all.append(try #require(try switcher.nextFrame()))
                if all.count == 40 { switcher.handOver(at: FrameSize(width: 80, height: 48)) }
            }
            let last = all.lastIndex { $0.layout.size.width == 64 } ?? 0
            #expect((39...43).contains(last) && longestGap(all) <= .milliseconds(70))
            // Frames that it delivered before do not count as lost.
            #expect(switcher.statistics.startupFrames > 5 && switcher.statistics.droppedFrames == 0)
        }
    }

    @Test func countsOfAllCamerasAddUp() throws {
        try time.run {
            let switcher = try switcher()
            var given = try frames(of: switcher) { $0.count == 10 }.count
            for name in ["back", "side", "front"] {
                requests.selectCamera(name)
                given += try frames(of: switcher) { _ in switcher.frames.camera == name }.count
                given += try frames(of: switcher) { $0.count == 10 }.count
            }
            let statistics = switcher.statistics
            #expect(statistics.capturedFrames == given && statistics.repeatedFrames == 0)
        }
    }

    // MARK: Several requests

    @Test func lastRequestCounts() throws {
        try time.run {
            let switcher = try switcher()
            try frames(of: switcher) { $0.count == 3 }
            requests.selectCamera("back")
            _ = try switcher.nextFrame()
            requests.selectCamera("side")
            let all = try frames(of: switcher) { $0.last?.layout.size.width == 96 }
            #expect(widths(all) == [64, 96])
            try frames(of: switcher) { _ in !isOpen(back) && !isOpen(front) }
        }
    }

    @Test func requestForThePresentCameraCancelsTheSwitch() throws {
        try time.run {
            let switcher = try switcher()
            requests.selectCamera("back")
            _ = try switcher.nextFrame()
            requests.selectCamera("front")
            let all = try frames(of: switcher) { $0.count == 60 }
            #expect(widths(all) == [64] && switcher.next == nil && !isOpen(back))
        }
    }

    // MARK: One camera at a time

    @Test func lastFrameIsRepeatedIfBothCamerasCannotBeOpen() throws {
        try time.run {
            let shared = FakeCamera.SharedDevice()
            for script in [front, back] { script.content.withLock { $0.device = shared } }
            let switcher = try switcher()
            var all = try frames(of: switcher) { $0.count == 10 }
            requests.selectCamera("back")
            all += try frames(of: switcher) { $0.last?.layout.size.width == 80 }
            all += try frames(of: switcher) { $0.count == 10 }
            #expect(widths(all) == [64, 80] && shared.mostAtOnce == 1)
            #expect(zip(all, all.dropFirst()).allSatisfy { $0.captureTime < $1.captureTime })
            #expect(longestGap(all) <= .milliseconds(140))
            #expect(failures.takeAll() == [] && reported.takeAll() == [])
        }
    }

    @Test func firstCameraReturnsIfTheNextOneFailsAlone() throws {
        try time.run {
            let shared = FakeCamera.SharedDevice()
            for script in [front, back] { script.content.withLock { $0.device = shared } }
            let switcher = try switcher()
            try frames(of: switcher) { $0.count == 10 }
            back.content.withLock { $0.isSilent = true }
            requests.selectCamera("back")
            try frames(of: switcher) { _ in failures.wakeup.drain() }
            let before = front.content.withLock { $0.frames }
            let all = try frames(of: switcher) { _ in front.content.withLock { $0.frames } > before + 10 }
            #expect(widths(all) == [64] && switcher.frames.camera == "front" && !isOpen(back))
            #expect(longestGap(all) <= .milliseconds(600))
            #expect(failures.takeAll() == ["back: it delivered no frame within 5.0 seconds"])
        }
    }

    // MARK: A camera that fails

    @Test(arguments: ["unplugged", "silent", "not starting"])
    func failingCameraLeavesTheFirstOneLive(how: String) throws {
        try time.run {
            let switcher = try switcher()
            back.content.withLock { content in
                content.isPluggedIn = how != "unplugged"
                content.isSilent = how == "silent"
                content.failsToStart = how == "not starting"
            }
            requests.selectCamera("back")
            let all = try frames(of: switcher) { _ in failures.wakeup.drain() }
            #expect(widths(all) == [64] && longestGap(all) <= .milliseconds(40))
            let reason = how == "silent" ? "it delivered no frame within 5.0 seconds" : "it was unplugged"
            #expect(failures.takeAll() == ["back: \(reason)"])
            try frames(of: switcher) { _ in !isOpen(back) }
            #expect(reported.takeAll() == [] && isOpen(front))
        }
    }

    /// A driver that hangs in `open` is left behind.
    @Test func hangingCameraLeavesTheFirstOneLive() throws {
        try time.run {
            let switcher = try switcher()
            back.content.withLock { $0.openingTime = .seconds(30) }
            requests.selectCamera("back")
            let all = try frames(of: switcher) { _ in failures.wakeup.drain() }
            #expect(longestGap(all) <= .milliseconds(40))
            #expect(failures.takeAll() == ["back: it did not open within 10.0 seconds"])
            // A second thread must not call the driver while the first one is inside.
            requests.selectCamera("back")
            try frames(of: switcher) { _ in failures.wakeup.drain() }
            #expect(failures.takeAll() == ["back: its driver has not released it for 3.0 seconds"])
            // Nor a third thread after the second has given up, nor a fifth while the fourth waits.
            for wishes in [["back"], ["back", "front", "back"]] {
                for wish in wishes {
                    requests.selectCamera(wish)
                    _ = try switcher.nextFrame()
                }
                try frames(of: switcher) { _ in failures.wakeup.drain() }
                #expect(failures.takeAll() == ["back: its driver has not released it for 3.0 seconds"])
            }
            #expect(isOpen(back))
            try frames(of: switcher) { _ in !isOpen(back) }
            #expect(back.content.withLock { $0.openings } == 1)
        }
    }

    /// It stalls while the encoder is opening for it. The present camera may have been closed for it.
    @Test(arguments: [false, true])
    func cameraThatStallsAfterItsFirstFrameLeavesTheFirstOneLive(oneAtATime: Bool) throws {
        try time.run {
            let shared = oneAtATime ? FakeCamera.SharedDevice() : nil
            for script in [front, back] { script.content.withLock { $0.device = shared } }
            let switcher = try switcher()
            try frames(of: switcher) { $0.count == 10 }
            requests.selectCamera("back")
            for _ in 0..<300 where switcher.next == nil { _ = try switcher.nextFrame() }
            try #require(switcher.next != nil)
            back.content.withLock { $0.isSilent = true }
            // Frames that were on their way have arrived.
            for _ in 0..<5 { _ = try switcher.nextFrame() }
            let start = MonotonicClock.now()
            let all = try frames(of: switcher) { _ in failures.wakeup.drain() }
            let limit = CameraSwitcher.frameTimeout + .milliseconds(300)
            #expect(MonotonicClock.now() - start <= limit && longestGap(all) <= .milliseconds(140))
            #expect(failures.takeAll() == ["back: it delivered no frame within 5.0 seconds"])
            let before = front.content.withLock { $0.frames }
            let next = try frames(of: switcher) { _ in front.content.withLock { $0.frames } > before + 10 }
            #expect(widths(all + next) == [64] && switcher.frames.camera == "front" && switcher.next == nil)
            try frames(of: switcher) { _ in !isOpen(back) }
        }
    }

    // MARK: A camera that is lost

    @Test func activeCameraIsReopened() throws {
        try time.run {
            let switcher = try switcher()
            requests.selectCamera("back")
            try frames(of: switcher) { _ in switcher.frames.camera == "back" }
            try frames(of: switcher) { $0.count == 5 }
            let openings = front.content.withLock { $0.openings }
            back.content.withLock { $0.isPluggedIn = false }
            try frames(of: switcher) { _ in back.content.withLock { $0.openings } >= 4 }
            back.content.withLock { $0.isPluggedIn = true }
            let before = back.content.withLock { $0.frames }
            let all = try frames(of: switcher) { _ in back.content.withLock { $0.frames } > before + 10 }
            #expect(widths(all) == [80] && switcher.statistics.interruptions == 1)
            #expect(front.content.withLock { $0.openings } == openings)
        }
    }

    @Test func switchingLeavesADeadCamera() throws {
        try time.run {
            let switcher = try switcher()
            try frames(of: switcher) { $0.count == 5 }
            front.content.withLock { $0.isPluggedIn = false }
            try frames(of: switcher) { _ in switcher.statistics.interruptions == 1 }
            requests.selectCamera("side")
            let start = MonotonicClock.now()
            let all = try frames(of: switcher) { $0.last?.layout.size.width == 96 }
            #expect(MonotonicClock.now() - start < .seconds(1))
            #expect(zip(all, all.dropFirst()).allSatisfy { $0.captureTime < $1.captureTime })
        }
    }

    /// Its last frame repeats, even while several threads in turn wait for the driver.
    @Test func hangingActiveCameraIsCalledOnlyOnce() throws {
        try time.run {
            let switcher = try switcher()
            try frames(of: switcher) { $0.count == 5 }
            let end = MonotonicClock.now() + .seconds(20)
            hang.end.withLock { $0 = end }
            let all = try frames(of: switcher) { _ in MonotonicClock.now() >= end - .seconds(1) }
            #expect(widths(all) == [64] && longestGap(all) <= .milliseconds(600))
            #expect(front.content.withLock { $0.openings } == 1 && switcher.statistics.interruptions == 1)
            let before = front.content.withLock { $0.frames }
            let next = try frames(of: switcher) { _ in front.content.withLock { $0.frames } > before + 10 }
            #expect(MonotonicClock.now() >= end && longestGap(next) <= .milliseconds(600))
            #expect(front.content.withLock { $0.openings } == 2)
        }
    }

    /// The driver takes a while to reopen it.
    @Test func lastFrameRepeatsWhileTheCameraReopens() throws {
        try time.run {
            let switcher = try switcher()
            try frames(of: switcher) { $0.count == 5 }
            front.content.withLock { content in
                content.isPluggedIn = false
                content.openingTime = .seconds(4)
            }
            try frames(of: switcher) { _ in switcher.statistics.interruptions == 1 }
            front.content.withLock { $0.isPluggedIn = true }
            let before = front.content.withLock { $0.frames }
            let all = try frames(of: switcher) { _ in front.content.withLock { $0.frames } > before + 10 }
            #expect(widths(all) == [64] && longestGap(all) <= .milliseconds(600))
            #expect(front.content.withLock { $0.openings } == 2)
        }
    }

    @Test func switchingLeavesAHangingCamera() throws {
        try time.run {
            let switcher = try switcher()
            try frames(of: switcher) { $0.count == 5 }
            let end = MonotonicClock.now() + .seconds(15)
            hang.end.withLock { $0 = end }
            // It is being reopened.
            try frames(of: switcher) { _ in MonotonicClock.now() >= end - .seconds(10) }
            requests.selectCamera("side")
            let start = MonotonicClock.now()
            let all = try frames(of: switcher) { $0.last?.layout.size.width == 96 }
            #expect(MonotonicClock.now() - start < .seconds(1) && longestGap(all) <= .milliseconds(140))
            // The camera is no longer wanted, so the thread that waits for its driver does not open it.
            try frames(of: switcher) { _ in MonotonicClock.now() >= end + .seconds(1) }
            #expect(!isOpen(front) && front.content.withLock { $0.openings } == 1)
        }
    }

    /// Nothing is being encoded, so there is no encoder to become ready.
    @Test func switchingLeavesACameraThatNeverDeliveredAFrame() throws {
        try time.run {
            front.content.withLock { $0.isSilent = true }
            let switcher = try switcher()
            requests.selectCamera("side")
            #expect(try switcher.nextFrame()?.layout.size.width == 96)
        }
    }

    // MARK: The end

    @Test func stopEndsTheSourceAndClosesEveryCamera() throws {
        try time.run {
            var switcher: CameraSwitcher? = try switcher()
            requests.selectCamera("back")
            _ = try switcher?.nextFrame()
            stop.signal()
            while try switcher?.nextFrame() != nil {}
            switcher = nil
            #expect(!isOpen(front) && !isOpen(back))
        }
    }

    @Test func twoHundredSwitchesLeakNothing() throws {
        try time.run {
            let switcher = try switcher()
            var all = try frames(of: switcher) { $0.count == 5 }
            for number in 1...200 {
                let (name, width) = [("back", 80), ("side", 96), ("front", 64)][(number - 1) % 3]
                requests.selectCamera(name)
                all = all.suffix(1) + (try frames(of: switcher) { $0.last?.layout.size.width == width })
                #expect(zip(all, all.dropFirst()).allSatisfy { $0.captureTime < $1.captureTime })
                #expect(longestGap(all) <= .milliseconds(140))
            }
            try frames(of: switcher) { _ in openCount(front) + openCount(back) + openCount(side) == 1 }
            // The last frame, which may be repeated, and the test's own frame.
            let leases = [front, back, side].map { $0.content.withLock { $0.leases } }.reduce(0, +)
            #expect(leases <= all.count + 1)
            #expect([front, back, side].map { $0.content.withLock { $0.openings } } == [67, 67, 67])
            #expect(failures.takeAll() == [])
        }
    }
}

/// Until when the driver hangs.
private final class Hang: Sendable {
    let end = Mutex(MediaTimestamp.zero)
}

/// A camera whose driver may hang while it is active.
private final class HangingCamera: Camera {
    private let camera: FakeCamera
    private let hang: Hang

    init(_ camera: FakeCamera, _ hang: Hang) {
        self.camera = camera
        self.hang = hang
    }

    var name: String { camera.name }
    var model: String { camera.model }
    var layout: FrameLayout { camera.layout }
    var memoryKind: FrameMemoryKind { camera.memoryKind }
    var frameRate: FrameRate { camera.frameRate }
    var colors: VideoColors? { camera.colors }
    var statistics: VideoSourceStatistics { camera.statistics }

    func nextFrame(until deadline: MediaTimestamp) throws -> CameraFrame {
        MonotonicClock.sleep(until: hang.end.withLock { $0 })
        return try camera.nextFrame(until: deadline)
    }
}
