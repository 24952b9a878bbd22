import Controls
import DevicePorts
import LinuxIO
import Media
import MediaTestSupport
import PipelineSupport
import SoftwareEncoding
import StreamLogic
import Synchronization
import SyntheticSources
import Testing

@testable import MediaPipeline

/// A camera that is open for a screen without a stream.
@Suite struct IdleFramesTests {
    private static let layout = FrameLayout(packed: .i420, size: FrameSize(width: 640, height: 480))
    private let time = VirtualTime()
    private let script: FakeCamera.Script
    private let stop: EventFD
    private let events: Mailbox<IdleFramesEvent>
    private let changes: Mailbox<[ControlChange]>
    private let screen = Screen()

    init() throws {
        stop = try EventFD()
        events = try Mailbox()
        changes = try Mailbox()
        script = FakeCamera.Script(layout: Self.layout, memory: .dmabuf, stop: stop)
    }

    /// Holds the newest frame until frames end, like a display.
    private final class Screen: PreviewSink {
        var wantsFrames: Bool { true }
        struct Content {
            var frame: CapturedFrame?
            var shown = 0
            var widths: Set<Int> = []
        }

        let content = Mutex(Content())

        func offer(_ frame: CapturedFrame, colors: VideoColors?) {
            content.withLock { content in
                content.frame = frame
                content.shown += 1
                content.widths.insert(frame.layout.size.width)
            }
        }

        func framesEnded() { content.withLock { $0.frame = nil } }
        func show(_ page: ScreenPage) {}
        var statistics: PreviewStatistics { PreviewStatistics() }
        var shown: Int { content.withLock { $0.shown } }
        var showsFrame: Bool { content.withLock { $0.frame != nil } }
    }

    private func settings() -> MediaSettings {
        MediaSettings(
            video: FakeCameraChoice { [script] _ in script }, audio: AudioSourceDescription.none, quality: .standard,
            audioQuality: .standard, dimension: .standard,
            encoder: FakeEncoderChoice(mayUseSoftware: true) { _, _ in
                throw StreamFailure(.videoEncodingFailed, "nobody encodes a preview")
            })
    }

    /// Runs in virtual time, which `body` advances, until `body` returns.
    private func whileShown(_ settings: MediaSettings? = nil, _ body: () throws -> Void) throws {
        let settings = settings ?? self.settings()
        try time.run {
            let idle = IdleFrames(for: [screen], changes: changes) { (settings, FilterStatus()) }
            let (stop, events) = (stop, events)
            let thread = JoinableThread(
                try NamedThread("idle-frames") { idle.run(stop: stop) { events.send($0) } })
            try body()
            let start = MonotonicClock.now()
            stop.signal()
            thread.join()
            #expect(MonotonicClock.now() - start < .milliseconds(50))
        }
        #expect(script.content.withLock { $0.openCount } == 0 && script.content.withLock { $0.leases } == 0)
        #expect(!screen.showsFrame)
    }

    /// The events, except for reports of controls.
    private func news() -> [IdleFramesEvent] {
        events.takeAll().filter { if case .controls = $0 { false } else { true } }
    }

    private func sleep(_ duration: Duration) { MonotonicClock.sleep(until: MonotonicClock.now() + duration) }

    @Test func framesAreShownUntilTheStop() throws {
        try whileShown {
            sleep(.seconds(2))
            #expect((55...62).contains(screen.shown) && screen.showsFrame)
        }
        #expect(news() == [] && script.content.withLock { $0.openings } == 1)
    }

    @Test func missingCameraIsReportedOnceAndRetried() throws {
        script.content.withLock { $0.isPluggedIn = false }
        try whileShown {
            sleep(.seconds(30))
            #expect(news() == [.away(reason: "it was unplugged")])
            #expect((29...31).contains(script.content.withLock { $0.openings }))
            script.content.withLock { $0.isPluggedIn = true }
            sleep(.seconds(2))
            #expect(news() == [.returned] && screen.showsFrame)
        }
    }

    @Test func textStaysAloneWhileTheCameraIsMissing() throws {
        try whileShown {
            sleep(.seconds(1))
            script.content.withLock { $0.isPluggedIn = false }
            sleep(.seconds(1))
            #expect(!screen.showsFrame)
            sleep(.seconds(5))
            #expect(news() == [.away(reason: "it was unplugged")])
            let shown = screen.shown
            script.content.withLock { $0.isPluggedIn = true }
            sleep(.seconds(2))
            #expect(news() == [.returned] && screen.shown > shown)
        }
    }

    /// The previous user is still closing the camera.
    @Test func brieflyBusyCameraIsNotReported() throws {
        let device = FakeCamera.SharedDevice()
        script.content.withLock { $0.device = device }
        var before: FakeCamera? = try time.run { try FakeCamera(script) }
        try whileShown {
            sleep(.milliseconds(500))
            #expect(before != nil && screen.shown == 0)
            before = nil
            sleep(.seconds(2))
            #expect(screen.shown > 0)
        }
        #expect(news() == [])
    }

    /// The values of these controls in each report since the last call.
    private func values(of names: ControlName...) -> [[ControlValue?]] {
        events.takeAll().compactMap { event in
            guard case .controls(let statuses) = event else { return nil }
            return names.map { name in statuses.first { $0.offer.name == name }?.value }
        }
    }

    @Test func controlsAreRestoredOnAReturningCamera() throws {
        var settings = settings()
        settings.controls = [ControlChange(.flip, .flag(true))]
        try whileShown(settings) {
            sleep(.seconds(1))
            changes.send([ControlChange(.mirror, .flag(true)), ControlChange(.flip, .flag(false))])
            sleep(.milliseconds(200))
            #expect(values(of: .mirror, .flip).last == [.flag(true), .flag(false)])
            script.content.withLock { $0.isPluggedIn = false }
            sleep(.seconds(3))
            // Also restores later changes.
            changes.send([ControlChange(.mirror, .flag(false)), ControlChange(.mirror, .flag(true))])
            script.content.withLock { $0.isPluggedIn = true }
            sleep(.seconds(2))
            #expect(values(of: .mirror, .flip) == [[.flag(true), .flag(false)]], "from its first frame on")
        }
    }

    @Test func stopWorksWhileTheCameraIsMissing() throws {
        script.content.withLock { $0.isPluggedIn = false }
        try whileShown { sleep(.milliseconds(100)) }
        #expect(news() == [])
    }

    @Test func framesLookAsInAStream() throws {
        var settings = settings()
        settings.rotation = FrameRotation(.clockwise90)
        try whileShown(settings) { sleep(.seconds(1)) }
        #expect(screen.content.withLock { $0.widths } == [480])
    }
}
