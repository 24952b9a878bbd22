import DevicePorts
import LinuxIO
import Media
import Synchronization
import Testing

@testable import DisplayOutput

/// A preview holds no frame for long, whatever the display does.
@Suite struct FrameLeasesTests {
    /// Counts the frames that are still held.
    private final class Held: Sendable {
        private let number = Mutex(0)
        var count: Int { number.withLock { $0 } }
        func change(by difference: Int) { number.withLock { $0 += difference } }
    }

    private final class Memory: FrameMemory {
        private let held: Held
        init(_ held: Held) {
            self.held = held
            held.change(by: 1)
        }
        deinit { held.change(by: -1) }
        func withBytes<Value, Failure: Error>(
            _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
        ) throws(Failure) -> Value { try [UInt8](repeating: 128, count: 96).withBytes(body) }
    }

    private static let layout = FrameLayout(packed: .i420, size: FrameSize(width: 8, height: 8))
    private let held = Held()

    private func frame(_ milliseconds: Int64 = 0) -> CapturedFrame {
        CapturedFrame(
            layout: Self.layout, captureTime: MediaTimestamp(milliseconds: milliseconds), memory: Memory(held))
    }

    private func time(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(milliseconds: milliseconds) }

    @Test func atMostThreeFramesAreHeld() {
        var leases = FrameLeases()
        for index in 0..<20 {
            let now = time(Int64(index) * 33)
            _ = leases.offered(frame(), .bt709, now: now)
            #expect(leases.take(isHeld: true, now: now) != nil)
            _ = leases.offered(frame(), .bt709, now: now)
            #expect(held.count <= 3)
            _ = leases.flipped(now: now)
            #expect(held.count == 2)
        }
    }

    @Test func newerFrameReplacesTheNextOne() {
        var leases = FrameLeases()
        #expect(leases.offered(frame(1), .bt709, now: time(0)) == nil)
        #expect(leases.offered(frame(2), .bt709, now: time(10))?.frame.captureTime == time(1))
        #expect(leases.take(isHeld: false, now: time(20))?.frame.captureTime == time(2))
        #expect(leases.take(isHeld: false, now: time(20)) == nil)
        #expect(held.count == 0)
    }

    @Test func frameReadByTheCPUIsHeldOnlyByItsReader() {
        var leases = FrameLeases()
        _ = leases.offered(frame(), .bt709, now: time(0))
        let taken = leases.take(isHeld: false, now: time(0))
        #expect(taken != nil && leases.deadline == nil)
    }

    @Test func stalledCameraGetsItsBuffersBack() {
        var leases = FrameLeases()
        _ = leases.offered(frame(), .bt709, now: time(0))
        _ = leases.take(isHeld: true, now: time(0))
        _ = leases.flipped(now: time(16))
        #expect(leases.deadline == time(100))
        #expect(leases.expire(now: time(99)).released.isEmpty)
        #expect(leases.expire(now: time(100)).released.count == 1)
        #expect(leases.deadline == nil && held.count == 0)
    }

    @Test func stalledDriverHoldsNothing() {
        var leases = FrameLeases()
        _ = leases.offered(frame(), .bt709, now: time(0))
        _ = leases.take(isHeld: true, now: time(0))
        _ = leases.offered(frame(), .bt709, now: time(5))
        let old = leases.expire(now: time(105))
        #expect(old.released.count == 2 && old.hasNext)
        #expect(leases.deadline == nil)
    }

    @Test func refusedFrameIsReleased() {
        var leases = FrameLeases()
        _ = leases.offered(frame(), .bt709, now: time(0))
        _ = leases.take(isHeld: true, now: time(0))
        #expect(leases.refused() != nil)
        #expect(held.count == 0)
    }

    // MARK: From the stream's threads to the display

    @Test func darkDisplayHoldsNothing() throws {
        let state = try PreviewState()
        state.offer(frame(), .bt709, now: time(0))
        #expect(held.count == 0 && state.statistics == PreviewStatistics())
    }

    @Test func framesLostByABusyDisplayAreCounted() throws {
        let state = try PreviewState()
        state.lit()
        for index in 0..<5 { state.offer(frame(), .bt709, now: time(Int64(index) * 10)) }
        #expect(held.count == 1)
        #expect(state.statistics.lostFrames == 4)
        let work = state.take(asBuffer: true, now: time(50))
        #expect(work.frame != nil && work.hasFrames)
        state.flipped(withFrame: true, isConverted: true, now: time(50))
        #expect(state.statistics.shownFrames == 1 && state.statistics.convertedFrames == 1)
        state.framesEnded()
        #expect(!state.take(asBuffer: true, now: time(60)).hasFrames)
    }

    @Test func hangingDisplayDoesNotHoldTheCamerasBuffers() throws {
        let state = try PreviewState()
        state.lit()
        state.offer(frame(), .bt709, now: time(0))
        // The thread has the frame and never returns.
        _ = state.take(asBuffer: true, now: time(0))
        for index in 1...20 { state.offer(frame(), .bt709, now: time(Int64(index) * 33)) }
        #expect(held.count == 1)
    }

    @Test func pageIsShownOnceAndAgainAfterALoss() throws {
        let state = try PreviewState()
        state.show(ScreenPage(.idle, "ready"))
        #expect(state.take(asBuffer: true, now: time(0)).page == ScreenPage(.idle, "ready"))
        state.show(ScreenPage(.idle, "ready"))
        #expect(state.take(asBuffer: true, now: time(1)).page == nil)
        state.pageLost()
        #expect(state.take(asBuffer: true, now: time(2)).page != nil)
        // A newly lit display has not shown it yet.
        state.lit()
        #expect(state.take(asBuffer: true, now: time(3)).page != nil)
    }

    // MARK: Reports

    @Test func darknessIsReportedOnce() {
        var news = PreviewNews()
        #expect(news.failed(.nothingConnected(["HDMI-A-1"])) == .dark(reason: "no display is connected (HDMI-A-1)"))
        #expect(news.failed(.noCard) == nil)
        #expect(news.lit("HDMI-A-1", isConverted: false) == .lit(display: "HDMI-A-1", isConverted: false))
        #expect(news.lit("HDMI-A-1", isConverted: false) == nil)
        #expect(news.failed(.unplugged(connector: "HDMI-A-1")) != nil)
        #expect(news.lit("HDMI-A-1", isConverted: false) != nil)
    }
}
