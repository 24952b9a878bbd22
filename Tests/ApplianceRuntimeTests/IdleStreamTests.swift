import ApplianceLogic
import Encoding
import LinuxIO
import Media
import MediaTestSupport
import StreamLogic
import StreamQuality
import Testing

@testable import ApplianceRuntime
@testable import DeviceStreams

/// The page's place at a hub.
private final class NoSink: PacketSink {
    func append(_ packets: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] { [] }
    func restart(headers: [EncodedPacket], now: MediaTimestamp) -> [SendBufferEvent] { [] }
    func epochStarted() {}
    func mediaEnded() {}
    func wake(_ events: [SendBufferEvent]) {}
}

/// Streams without servers, which run while the page has viewers.
@Suite(.serialized) struct IdleStreamTests {
    private let time = VirtualTime()
    private let camera: Camera
    private let viewer = NoSink()

    init() throws { camera = try Camera(board: #"{"name": "Bench", "button": {"line": "button"}}"#) }

    /// A device on this thread.
    private func onDevice(
        _ json: String = #"{"camera": "synthetic", "audio": {"source": "none"}}"#,
        _ body: (ApplianceDevice, StreamSupervisor) throws -> Void
    ) throws {
        try camera.write("device", json)
        try time.run {
            let device = try camera.makeDevice()
            device.supervisor.viewer = viewer
            try body(device, device.supervisor)
            device.end()
        }
    }

    /// The device's turns, until something has happened.
    private func turn(
        _ device: ApplianceDevice, until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for _ in 0..<2000 {
            let now = MonotonicClock.now()
            for report in device.stream.reports.takeAll() { device.supervisor.reported(report) }
            device.timersFired(now: now)
            device.supervisor.feedWhileIdle(now: now)
            if condition() { return }
            MonotonicClock.sleep(until: now + .milliseconds(20))
        }
        Issue.record("it never happens", sourceLocation: sourceLocation)
    }

    private var runs: [ScriptedStreams.Run] { camera.streams.runs }

    @Test func streamRunsOnlyForViewers() throws {
        try onDevice { device, supervisor in
            let start = MonotonicClock.now()
            turn(device) { MonotonicClock.now() - start > .seconds(1) }
            #expect(runs.isEmpty)
            supervisor.isViewerWanted = true
            turn(device) { runs.count == 1 }
            let receivers = runs[0].request.receivers
            #expect(runs[0].request.description == nil && receivers.isLowRate && receivers.startsAtOnce)
            #expect(receivers.viewer === viewer)
            #expect(device.appliance.state != .live && !device.stream.isPublishing)
            supervisor.isViewerWanted = false
            turn(device) { runs[0].isStopped && !device.stream.isRunning }
            #expect(runs.count == 1)
        }
    }

    @Test func startInFrontOfViewersGoesLive() throws {
        try onDevice { device, supervisor in
            supervisor.isViewerWanted = true
            turn(device) { runs.count == 1 }
            _ = device.appliance.startRequested(now: MonotonicClock.now())
            supervisor.start(now: MonotonicClock.now())
            turn(device) { runs.count == 2 }
            #expect(runs[0].isStopped)
            let live = try #require(runs.last).request
            #expect(live.description != nil && !live.receivers.isLowRate && live.receivers.startsAtOnce)
            #expect(live.receivers.viewer === viewer)
            // Afterwards, the page has its own stream again.
            _ = device.appliance.stopRequested(now: MonotonicClock.now())
            supervisor.stop(now: MonotonicClock.now())
            turn(device) { runs.count == 3 }
            #expect(try #require(runs.last).request.receivers.isLowRate)
        }
    }

    @Test func streamThatWaitsForItsServerIsShownAtOnce() throws {
        try onDevice { device, supervisor in
            supervisor.start(now: MonotonicClock.now())
            turn(device) { runs.count == 1 }
            #expect(!runs[0].request.receivers.startsAtOnce && runs[0].mediaStarts == 0)
            supervisor.isViewerWanted = true
            turn(device) { runs[0].mediaStarts == 1 }
        }
    }

    @Test func recordingNeedsAStreamAtItsFullRate() throws {
        let recorded = #"{"camera": "synthetic", "audio": {"source": "none"}, "record": "command"}"#
        try onDevice(recorded) { device, supervisor in
            supervisor.isViewerWanted = true
            turn(device) { runs.count == 1 }
            #expect(runs[0].request.receivers.archive == nil)
            #expect(device.recording.order(true))
            turn(device) { runs.count == 2 }
            let receivers = runs[1].request.receivers
            #expect(runs[0].isStopped && !receivers.isLowRate && receivers.archive != nil)
            // Viewers come and go.
            supervisor.isViewerWanted = false
            supervisor.isViewerWanted = true
            turn(device) { true }
            #expect(!runs[1].isStopped)
        }
    }

    @Test func screenKeepsTheFullRate() throws {
        let screen =
            #"{"camera": "synthetic", "audio": {"source": "none"}, "preview": {"display": "hdmi", "camera": "always"}}"#
        try onDevice(screen) { device, supervisor in
            supervisor.isViewerWanted = true
            turn(device) { runs.count == 1 }
            let receivers = runs[0].request.receivers
            #expect(!receivers.isLowRate && receivers.preview != nil)
        }
    }

    @Test func missingCameraIsToldToViewersOnly() throws {
        try onDevice { device, supervisor in
            supervisor.isViewerWanted = true
            turn(device) { runs.count == 1 }
            runs[0].end(StreamFailure(.media, code: .cameraUnavailable, "no camera"))
            turn(device) { supervisor.viewerProblem == "no camera" }
            #expect(device.appliance.faultBook.lines.isEmpty)
            // Tried again after a while.
            let failure = MonotonicClock.now()
            turn(device) { runs.count == 2 }
            #expect(MonotonicClock.now() - failure >= .seconds(14))
            runs[1].say(
                .source(.started(.camera("Webcam", FrameSize(width: 640, height: 480), FrameRate(framesPerSecond: 30))))
            )
            turn(device) { supervisor.viewerProblem == nil }
        }
    }

    @Test func wishWithoutAPageStartsNothing() throws {
        try onDevice { device, supervisor in
            supervisor.viewer = nil
            supervisor.isViewerWanted = true
            let start = MonotonicClock.now()
            turn(device) { MonotonicClock.now() - start > .seconds(1) }
            #expect(runs.isEmpty)
        }
    }
}
